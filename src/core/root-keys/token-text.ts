// Text of tokens (base32 of payload and MAC), and their times.

const macBytes = 16;
/** Offset of each twin in the digest. A known half does not reveal the unknown half. */
const halves = { first: 0, second: macBytes } as const;
export const macCharacters = 26;
const longestPayload = 512;
/**
 * Alphabet of ids (specification 2.1): safe in URLs, and in mail addresses, where other systems
 * may change the case.
 */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export type Twin = keyof typeof halves;

export function encodeBase32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += alphabet.charAt((held >> (bits - 5)) & 31);
  }
  return bits > 0 ? text + alphabet.charAt((held << (5 - bits)) & 31) : text;
}

/** Decodes base32; returns undefined for text that `encodeBase32` does not produce. */
function decodeBase32(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const character of text) {
    held = ((held << 5) | alphabet.indexOf(character)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
  }
  const decoded = Buffer.from(bytes);
  return encodeBase32(decoded) === text ? decoded : undefined;
}

export function macOf(digest: Buffer, twin: Twin): string {
  const start = halves[twin];
  return encodeBase32(digest.subarray(start, start + macBytes));
}

const plainPayload = /^[0-9a-z_]+$/;
const encodedMark = 'x-';

export function writePayload(payload: string): string {
  const bytes = Buffer.byteLength(payload);
  if (bytes === 0 || bytes > longestPayload) throw new RangeError(`payload of ${bytes} bytes`);
  if (plainPayload.test(payload)) return payload;
  return encodedMark + encodeBase32(Buffer.from(payload, 'utf8'));
}

export function readPayload(text: string): string | undefined {
  if (plainPayload.test(text)) return text;
  if (!text.startsWith(encodedMark)) return undefined;
  return decodeBase32(text.slice(encodedMark.length))?.toString('utf8');
}

/** Time of a token, ms since 1970: exact, or a range within which the token was made. */
export interface TokenTime {
  from: number;
  until: number;
}

/** Returns the time that a token's payload contains. */
export type TimeOfPayload = (payload: string) => TokenTime;

/** Returns a `TokenTime` without duration. */
export function exactly(at: number): TokenTime {
  return { from: at, until: at };
}
