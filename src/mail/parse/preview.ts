// Returns the first words of a mail, which lists show beside the subject.
import { cleanLine } from '../mime/headers/header-fields.ts';
import type { ParsedMail } from '../mime/parsed-mail.ts';

const previewCharacters = 200;
/**
 * Most characters searched for words, so that long white space costs little. `nearlyAlwaysEnough`
 * characters suffice for most mails.
 */
const maxCharacters = 10_000;
const nearlyAlwaysEnough = 300;
/** Marks of direction and zero-width characters, which newsletters use to fill their preview. */
const invisible = /\u034f|[\u00ad\u061c\u115f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

const plain = /^[\x20-\x7e\r\n\t]*$/;

function lineOf(text: string, characters: number): string {
  const first = text.slice(0, characters);
  const shown = plain.test(first) ? first : cleanLine(first).replace(invisible, '');
  return shown.replace(/\s+/g, ' ').trim();
}

/**
 * Returns at most 200 characters of the sender's own text, else of the quoted text; null for a mail
 * without words. For a mail with only HTML, the reply split made the text.
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
