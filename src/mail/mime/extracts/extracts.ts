// The codes and links of a mail, for programs that wait for one.
import { type FoundCode, findCodes, type MailText } from './find-code.ts';
import { type FoundLink, findLinks } from './find-link.ts';

export interface Extracts {
  /** The likeliest first. */
  codes: FoundCode[];
  /** In the order of the mail. */
  links: FoundLink[];
}

/** Characters of each part that are searched. */
const mostCharacters = 256 * 1024;

/** Cuts a mail to the part that is searched. */
export function searchedPart({ subject, text, html }: MailText): MailText {
  const cut = (part: string | null) => part?.slice(0, mostCharacters) ?? null;
  return { subject, text: cut(text), html: cut(html) };
}

/** Returns the codes and links of a mail. Takes linear time, for workers. */
export function extractsOf(mail: MailText): Extracts {
  return { codes: findCodes(mail), links: findLinks(mail) };
}
