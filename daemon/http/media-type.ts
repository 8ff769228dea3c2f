// The Content-Type of a request (RFC 9110 8.3), as far as this service needs it. Parses in linear
// time: a single regular expression for the header took 0.15 s for 16 KB of blanks.

export interface MediaType {
  /** `type/subtype`, lower case. */
  type: string;
  /** Charset in lower case; `utf-8` if the header names no charset. */
  charset: string;
}

const charsetParameter = /^charset\s*=\s*(?:([\w-]+)|"([\w-]+)")$/i;

/** Parses a Content-Type; null if it has a parameter besides `charset`. */
export function readMediaType(header = ''): MediaType | null {
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim());
  let charset = 'utf-8';
  for (const parameter of parameters.filter((part) => part !== '')) {
    const found = charsetParameter.exec(parameter);
    if (!found) return null;
    charset = (found[1] ?? found[2] ?? '').toLowerCase();
  }
  return { type: type.toLowerCase(), charset };
}
