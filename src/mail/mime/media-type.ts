// Media types of attachments (RFC 2045 5.1): as callers give them, and as a header has them.
// mailparser reads the types of received mail.

const token = "[!#$%&'*+\\-.^_`{|}~0-9A-Za-z]+";
/** The asterisk of RFC 2231 is not allowed: MailComposer would change the value. */
const attribute = token.replace('*', '');
const wholeType = new RegExp(`${token}/${token}`, 'y');
/** A separator with a parameter; the value is a token or a quoted string of printable ASCII. */
const parameter = new RegExp(
  `[ \\t]*;[ \\t]*(${attribute})[ \\t]*=[ \\t]*(${token}|"(?:[\\x20!#-\\[\\]-~]|\\\\[\\x20-~])*")`,
  'y',
);
/** Semicolons without a parameter, at the end. */
const emptyEnd = /[ \t;]*$/y;

const longest = 255;

/**
 * Returns a media type as `type/subtype; name=value`, without empty parameters at the end; null for
 * other texts. A repeated parameter is ambiguous, so the type is refused.
 */
export function readMediaType(text: string): string | null {
  if (text.length > longest) return null;
  wholeType.lastIndex = 0;
  const parts = wholeType.exec(text);
  if (!parts) return null;
  const names = new Set<string>();
  let read = parts[0];
  let end = wholeType.lastIndex;
  for (;;) {
    parameter.lastIndex = end;
    const [, name, value] = parameter.exec(text) ?? [];
    if (name === undefined) break;
    end = parameter.lastIndex;
    if (names.has(name.toLowerCase())) return null;
    names.add(name.toLowerCase());
    read += `; ${name}=${value}`;
  }
  emptyEnd.lastIndex = end;
  return emptyEnd.test(text) ? read : null;
}

/** Returns true for a media type that can be written into a header unchanged. */
export function isMediaType(text: string): boolean {
  return readMediaType(text) !== null && !/[ \t;]$/.test(text);
}
