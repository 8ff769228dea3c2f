// Extracts the codes and links of a mail, for programs that wait for a code or a link.
import { type FoundCode, findCodes, type MailText } from './find-code.ts';
import { type FoundLink, findLinks } from './find-link.ts';

export interface Extracts {
  /** Codes, the likeliest first. */
  codes: FoundCode[];
  /** Links in the order of the mail. */
  links: FoundLink[];
}

/** Most characters of text and of HTML that are searched. The HTML includes inline pictures. */
const mostText = 256 * 1024;
const mostHtml = 1024 * 1024;

/** Cuts text and HTML of a mail to the limits of the search. */
export function searchedPart({ subject, text, html }: MailText): MailText {
  return {
    subject,
    text: text?.slice(0, mostText) ?? null,
    html: html?.slice(0, mostHtml) ?? null,
  };
}

/** Returns the codes and links of a mail, in linear time. Parse workers call this. */
export function extractsOf(mail: MailText): Extracts {
  return { codes: findCodes(mail), links: findLinks(mail) };
}
