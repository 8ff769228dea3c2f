// Detects the encoding of an imported file and converts it to UTF-8, in constant memory.
// Spreadsheets on Windows save CSV in Windows-1252, of which Latin-1 is a part, and "Unicode text"
// in UTF-16, which begins with a byte order mark. The bytes before the first accent are ASCII in
// UTF-8 and in Windows-1252, so a sample from the first accent on decides.
import { isAscii, isUtf8 } from 'node:buffer';
import { ValidationError } from '../errors.ts';

/** Encodings that imports read. */
export const encodings = ['utf-8', 'windows-1252', 'utf-16'] as const;

export type Encoding = (typeof encodings)[number];

/** Size of the sample that decides about the encoding. It begins with the first non-ASCII piece. */
const sampleBytes = 65_536;

const windows1252 = new TextDecoder('windows-1252');
/** Bytes without a character in Windows-1252. */
const unassigned = /[\x81\x8d\x8f\x90\x9d]/g;
/**
 * Matches a word of a different alphabet that was decoded as accented letters: "Ивано" in
 * Windows-1251 becomes "Èâàíî".
 */
const foreignWord = /[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff]{5}|[^\0-\x7f]{7}/;

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/**
 * Returns UTF-8, unless more bytes are invalid in UTF-8 than characters are valid and not ASCII.
 */
function encodingOf(sample: Buffer): Encoding {
  if (isUtf8(sample)) return 'utf-8';
  const text = sample.toString('utf8');
  const invalid = countOf(text, /\uFFFD/g);
  return countOf(text, /[^\0-\x7f]/gu) - invalid >= invalid ? 'utf-8' : 'windows-1252';
}

function fromWindows1252(bytes: Buffer): Buffer {
  const text = windows1252.decode(bytes);
  if (foreignWord.test(text)) {
    throw new ValidationError(
      'The file is neither in UTF-8 nor in Windows-1252 (Latin-1): save it as CSV in UTF-8',
    );
  }
  return Buffer.from(text.replace(unassigned, '\uFFFD'));
}

/** Returns a UTF-16 decoder if the file begins with a byte order mark of UTF-16; else null. */
function utf16Decoder(start: Buffer): InstanceType<typeof TextDecoder> | null {
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder('utf-16le');
  return start[0] === 0xfe && start[1] === 0xff ? new TextDecoder('utf-16be') : null;
}

/** An imported file. `encoding` is final once `utf8` has ended. */
export class EncodedFile {
  encoding: Encoding = 'utf-8';

  /**
   * Yields the file in UTF-8. Invalid bytes become U+FFFD here or at the reader.
   * @throws ValidationError for NUL bytes, and for text in a different encoding
   */
  async *utf8(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let sample: Buffer[] | null = [];
    let sampled = 0;
    for await (const piece of this.#withoutUtf16(source)) {
      if (piece.includes(0)) {
        throw new ValidationError(
          'The file is not UTF-8 text: it has NUL bytes. Save it as CSV in UTF-8 (it may be a ' +
            'spreadsheet)',
        );
      }
      if (sample === null) yield this.#inUtf8(piece);
      else if (sampled === 0 && isAscii(piece)) yield piece;
      else {
        sample.push(piece);
        sampled += piece.length;
        if (sampled < sampleBytes) continue;
        yield this.#decided(sample);
        sample = null;
      }
    }
    if (sample !== null && sampled > 0) yield this.#decided(sample);
  }

  /** Yields UTF-16 as UTF-8, and bytes in a different encoding unchanged. */
  async *#withoutUtf16(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let start: Buffer | null = Buffer.alloc(0);
    let decoder: ReturnType<typeof utf16Decoder> = null;
    for await (const piece of source) {
      const bytes: Buffer = start === null ? piece : Buffer.concat([start, piece]);
      if (start !== null) {
        // The mark has two bytes, which can arrive apart.
        start = bytes.length < 2 ? bytes : null;
        if (start !== null) continue;
        decoder = utf16Decoder(bytes);
        if (decoder) this.encoding = 'utf-16';
      }
      yield decoder ? Buffer.from(decoder.decode(bytes, { stream: true })) : bytes;
    }
    if (start !== null) yield start;
    if (decoder) yield Buffer.from(decoder.decode());
  }

  #decided(sample: readonly Buffer[]): Buffer {
    const bytes = Buffer.concat(sample);
    if (this.encoding !== 'utf-16') this.encoding = encodingOf(bytes);
    return this.#inUtf8(bytes);
  }

  #inUtf8(bytes: Buffer): Buffer {
    return this.encoding === 'windows-1252' ? fromWindows1252(bytes) : bytes;
  }
}
