// Lines of git's protocol: four hexadecimal digits of length, then the data; `0000` ends a section
// (gitprotocol-common(5)).
import { MalformedRequestError } from '../../platform/errors.ts';

export const flush = Buffer.from('0000');
const mostData = 65_515;

export function pktLine(data: string | Buffer): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}

/**
 * Returns data as lines of a band: band 1 is the pack or the report, band 2 has texts for the user.
 */
export function bandLines(band: 1 | 2, data: Buffer): Buffer {
  const lines: Buffer[] = [];
  for (let at = 0; at < data.length; at += mostData) {
    lines.push(pktLine(Buffer.concat([Buffer.of(band), data.subarray(at, at + mostData)])));
  }
  return Buffer.concat(lines);
}

/** Lines of a section. `end` is the offset after the flush line, or the end of the body. */
interface Section {
  lines: string[];
  end: number;
  /** Whether a flush line ended the section, and not the end of the body. */
  isFlushed: boolean;
}

/**
 * Reads lines up to a flush line. @throws MalformedRequestError for a broken line, or more than
 * `most` lines
 */
export function readLines(body: Buffer, from: number, most: number): Section {
  const lines: string[] = [];
  for (let at = from; at < body.length; ) {
    const digits = body.toString('latin1', at, at + 4);
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1;
    if (length === 0) return { lines, end: at + 4, isFlushed: true };
    if (length < 4 || at + length > body.length) {
      throw new MalformedRequestError(`The git request has a broken line at byte ${at}`);
    }
    if (lines.length === most) {
      throw new MalformedRequestError(`The git request has more than ${most} lines`);
    }
    lines.push(body.toString('utf8', at + 4, at + length).replace(/\n$/, ''));
    at += length;
  }
  return { lines, end: body.length, isFlushed: false };
}
