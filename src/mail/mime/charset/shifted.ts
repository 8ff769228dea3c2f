// Seven-bit charsets that switch between ASCII and two bytes for each character: HZ (RFC 1843) and
// ISO-2022-KR (RFC 1557). Converts both to the eight-bit form of the same characters. Linear.
const lineFeed = 0x0a;
const tilde = 0x7e;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const escapeByte = 0x1b;
const shiftOut = 0x0e;
const shiftIn = 0x0f;
/** Bytes of `ESC $ ) C`, which announces the Korean characters. */
const announcementBytes = 4;

/** Collects bytes, and sets the eighth bit in the bytes of two-byte characters. */
class Shifted {
  readonly #out: Buffer;
  #used = 0;
  isWide = false;

  constructor(length: number) {
    this.#out = Buffer.allocUnsafe(length);
  }

  add(byte: number): void {
    // Each line begins in ASCII (RFC 1843 2, RFC 1557 2).
    if (byte === lineFeed) this.isWide = false;
    this.#out[this.#used++] = this.isWide && byte > 0x20 ? byte | 0x80 : byte;
  }

  get bytes(): Buffer {
    return this.#out.subarray(0, this.#used);
  }
}

/** Converts HZ-GB-2312 to GBK. */
export function gbkOfHz(bytes: Buffer): Buffer {
  const out = new Shifted(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    const next = bytes[at + 1];
    if (byte !== tilde) out.add(byte);
    else if (next === openBrace || next === closeBrace) {
      out.isWide = next === openBrace;
      at += 1;
    } else if (next === tilde && !out.isWide) {
      out.add(tilde);
      at += 1;
    } else if (next === lineFeed) at += 1;
    else out.add(byte);
  }
  return out.bytes;
}

/** Converts ISO-2022-KR to EUC-KR. */
export function eucOfIso2022Kr(bytes: Buffer): Buffer {
  const out = new Shifted(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === shiftOut || byte === shiftIn) out.isWide = byte === shiftOut;
    else if (
      byte === escapeByte &&
      bytes.toString('latin1', at + 1, at + announcementBytes) === '$)C'
    ) {
      at += announcementBytes - 1;
    } else out.add(byte);
  }
  return out.bytes;
}
