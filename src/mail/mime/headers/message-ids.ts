// Reads message ids of received mail: msg-id and the obsolete form (RFC 5322 3.6.4 and 4.5.4).
// Skips placeholders and all further text: an equal placeholder would join unrelated mails to a
// thread. Pure, linear and bounded.
import { parseLimits } from '../parsed-mail.ts';
import { decodeWords } from './header-values.ts';

const bracketed = /<([^<>]{1,2000})>/g;
const maxCharacters = 996;

/**
 * Returns the id without comments and white space, which the obsolete syntax allows inside; null
 * for any further text.
 */
function idOf(text: string): string | null {
  const id = text.replace(/\([^()]{0,998}\)/g, '').replace(/\s+/g, '');
  const at = id.lastIndexOf('@');
  if (at < 1 || at === id.length - 1 || id.length > maxCharacters) return null;
  const left = id.slice(0, at).toLowerCase();
  if (placeholderWords.has(left)) return null;
  return placeholderPatterns.some((pattern) => pattern.test(left)) ? null : `<${id}>`;
}

/** Returns the words of a value without brackets as ids, if each word is an id. */
function bareIds(value: string): string[] {
  const words = value
    .trim()
    .split(/\s+/)
    .slice(0, parseLimits.references + 1);
  const ids = words.flatMap((word) => (/[<>]/.test(word) ? [] : (idOf(word) ?? [])));
  return ids.length === words.length ? ids : [];
}

/**
 * Returns all ids of a Message-ID, In-Reply-To or References value, in angle brackets. Some
 * programs leave the brackets out, and some write the whole value as encoded words: both are read.
 */
export function readMessageIds(value: string | null): string[] {
  if (value === null) return [];
  const text = decodeWords(value);
  const found = [...text.matchAll(bracketed)].flatMap(([, inner = '']) => idOf(inner) ?? []);
  return found.length > 0 || text.includes('<') ? found : bareIds(text);
}

/**
 * Returns at most `parseLimits.references` ids: the first, as the root of the thread, and the
 * newest.
 */
export function boundReferences(ids: readonly string[]): string[] {
  const distinct = [...new Set(ids)];
  const excess = distinct.length - parseLimits.references;
  return excess > 0 ? [...distinct.slice(0, 1), ...distinct.slice(excess + 1)] : distinct;
}

// Texts that programs write in place of a missing message id: names of empty values, and unfilled
// templates.

/** Texts before the `@` that identify no message, in lower case. */
const placeholderWords: ReadonlySet<string> = new Set([
  'undefined',
  'null',
  '(null)',
  'nil',
  'none',
  'nan',
  'void',
  'empty',
  'unknown',
  'false',
  'true',
  'n/a',
  'message-id',
  'message_id',
  'messageid',
  'msg-id',
  'msg_id',
  'msgid',
  'in-reply-to',
  'in_reply_to',
  'inreplyto',
  'placeholder',
  'systemguid',
  'object',
]);

/**
 * Unfilled templates before the `@`. A GUID in braces does not match, because some mail systems
 * write it.
 */
const placeholderPatterns: readonly RegExp[] = [
  // {{id}}, ${id}, #{id}, {%id%}
  /\{\{[^{}]{0,200}\}\}|[$#]\{[^{}]{0,200}\}|\{%[^{}%]{0,200}%\}/,
  // {id}, {message.id}, {0}
  /\{(?:[a-z_][a-z_.:-]{0,60}\d?|\d?)\}/i,
  // [[id]], %%id%%
  /\[\[[^[\]]{0,200}\]\]|%%[\w.-]{1,60}%%/,
  // [id], %id%, __id__, $ID, :id
  /^(?:\[[a-z_][\w.-]{0,60}\]|%[a-z_][\w.-]{0,60}%|__[a-z][\w.-]{0,60}__|[$:][a-z_]{1,60})$/i,
  // %s, %d.%s, %1$s
  /^(?:%(?:\d\$)?[sdux][._-]?){1,20}$/,
];
