// The codes and links of a mail, for programs that wait for a code or a link.
import { type FoundCode, findCodes, type MailText } from './find-code.ts';
import { type FoundLink, findLinks } from './find-link.ts';

export interface Extracts {
  /** The likeliest first. */
  codes: FoundCode[];
  /** In the order of the mail. */
  links: FoundLink[];
}

/**
 * Characters of the text that are searched, and of the HTML with markup: pictures within it are
 * long.
 */
const mostText = 256 * 1024;
const mostHtml = 1024 * 1024;

/** Cuts a mail to the part that is searched. */
export function searchedPart({ subject, text, html }: MailText): MailText {
  return {
    subject,
    text: text?.slice(0, mostText) ?? null,
    html: html?.slice(0, mostHtml) ?? null,
  };
}

/** Returns the codes and links of a mail. Takes linear time, for workers. */
export function extractsOf(mail: MailText): Extracts {
  return { codes: findCodes(mail), links: findLinks(mail) };
}
