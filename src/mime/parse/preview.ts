// The first words of a mail, as lists show them beside its subject.
import { cleanLine } from './header-fields.ts';
import type { ParsedMail } from './parsed-mail.ts';

const previewCharacters = 200;
/** Looked at, so that white space of any length costs nothing: of most mails the first of them do. */
const maxCharacters = 10_000;
const nearlyAlwaysEnough = 300;
/** Marks of direction, and characters of no width: newsletters fill their preview with these. */
const invisible = /\u034f|[\u00ad\u061c\u115f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

const plain = /^[\x20-\x7e\r\n\t]*$/;

function lineOf(text: string, characters: number): string {
  const first = text.slice(0, characters);
  const shown = plain.test(first) ? first : cleanLine(first).replace(invisible, '');
  return shown.replace(/\s+/g, ' ').trim();
}

/**
 * One line of what the sender wrote, else of what is quoted; null where the mail has no words. HTML is
 * read where it is all that there is, and then by the reply split, which made text of it.
 */
export function previewOf(mail: Pick<ParsedMail, 'newContent' | 'quotedContent' | 'text'>) {
  for (const source of [mail.newContent, mail.quotedContent, mail.text]) {
    const first = lineOf(source ?? '', nearlyAlwaysEnough);
    const isEnough = first.length > previewCharacters;
    const line = isEnough ? first : lineOf(source ?? '', maxCharacters);
    if (line !== '') return line.slice(0, previewCharacters).trimEnd().toWellFormed();
  }
  return null;
}
