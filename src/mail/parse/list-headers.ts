// Reads the header fields of mailing lists (RFC 2369, RFC 2919, RFC 8058) in received mail. Bounded
// and for display only: never follows a link.
import type { HeaderBlock } from '../mime/headers/header-fields.ts';
import { decodeWords } from '../mime/headers/header-values.ts';
import type { HeaderField } from '../mime/parsed-mail.ts';

const listFields = new Set([
  'list-id',
  'list-archive',
  'list-help',
  'list-owner',
  'list-post',
  'list-subscribe',
  'list-unsubscribe',
  'list-unsubscribe-post',
]);
const maxFields = 20;
const maxValueCharacters = 2000;
/** Longest id (RFC 2919 3). */
const maxIdCharacters = 255;

export interface ListHeaders {
  /** Text between the angle brackets of List-Id, lower case: the permanent name of the list. */
  listId: string | null;
  /** At most 20 fields with 2,000 characters each. */
  listHeaders: HeaderField[];
}

/** Reads the id. A phrase may precede it (RFC 2919 3), and some lists omit the brackets. */
function readListId(value: string | null): string | null {
  if (value === null) return null;
  const text = decodeWords(value);
  const id = /<([^<>\s]+)>\s*$/.exec(text)?.[1] ?? /^[^<>\s]+$/.exec(text)?.[0];
  return id === undefined || id.length > maxIdCharacters ? null : id.toLowerCase();
}

/** Reads the id of the mailing list and all List-* fields of a mail. */
export function readListHeaders(block: HeaderBlock): ListHeaders {
  const listHeaders = block.fields
    .filter(({ name }) => listFields.has(name.toLowerCase()))
    .slice(0, maxFields)
    .map(({ name, value }) => ({ name, value: value.slice(0, maxValueCharacters).toWellFormed() }));
  const first = block.first('list-id')?.slice(0, maxValueCharacters) ?? null;
  return { listId: readListId(first), listHeaders };
}
