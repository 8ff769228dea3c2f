// Collects a message of the SMTP sink as it arrives. Finds the end of DATA however the reads are
// cut (RFC 5321 4.1.1.4), and removes dot-stuffing.

const crlf = Buffer.from('\r\n');
const endMark = '\r\n.\r\n';

export class SinkBody {
  /** Octets received so far, stored or not. */
  byteCount = 0;
  readonly #keptBytes: number;
  #pieces: Buffer[] = [];
  /**
   * The last bytes so far, because the end mark may be split. At the start, as if a line had ended.
   */
  #tail: Buffer = crlf;

  /** Stores the first `keptBytes` of a message, and only counts the rest. */
  constructor(keptBytes: number) {
    this.#keptBytes = keptBytes;
  }

  /** Adds the octets of a chunk unchanged. */
  take(read: Buffer): void {
    this.byteCount += read.length;
    if (this.byteCount <= this.#keptBytes) this.#pieces.push(read);
  }

  /** Reads octets of DATA up to the end mark. Returns their count once the mark has arrived. */
  takeData(read: Buffer): number | undefined {
    const probe = Buffer.concat([this.#tail, read]);
    const end = probe.indexOf(endMark);
    if (end < 0) {
      this.take(read);
      this.#tail = probe.subarray(-4);
      return undefined;
    }
    const used = end + endMark.length - this.#tail.length;
    this.take(read.subarray(0, used));
    return used;
  }

  /** Returns the bytes of the chunks. */
  chunks(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  /** Returns the message of an ended DATA. */
  data(): Buffer {
    const text = this.chunks().subarray(0, -3);
    if (text[0] !== 0x2e && !text.includes('\r\n.')) return text;
    return Buffer.from(text.toString('latin1').replace(/(^|\r\n)\./g, '$1'), 'latin1');
  }
}
