// Collects the bytes of an incoming message: size limited, with CRLF line ends, in few large blocks
// even if the pieces are small. (A message of dots arrives byte by byte, and each Buffer costs 100
// bytes.)
//
// state     | bytes                  | at the end of data
// accepted  | stored                 | the message
// refused   | counted, then dropped  | the refusal; memory is released at once
import type { InboundRefusal } from '../../src/inbox/receiving/refusal.ts';
import type { Clock } from '../../src/platform/runtime/clock.ts';
import { ClientSpeed } from '../../src/platform/runtime/fairness/client-speed.ts';
import {
  type Occupant,
  type Place,
  SharedPool,
} from '../../src/platform/runtime/fairness/shared-pool.ts';
import { replies } from './errors.ts';

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const firstBlockBytes = 16_384;
const largestBlockBytes = 1_048_576;
/**
 * After a refusal, bytes are read up to this multiple of the size limit. So the client can finish
 * the message and read the reason, but cannot send for ever.
 */
const drainedFactor = 2;

/** Bytes of the pool that are guaranteed to each holder; less in a pool below 256 MB. */
const firstBytes = 4_000_000;
const leastHolders = 64;
/**
 * Least size of the pool, in messages of the largest size. In a smaller pool a single message would
 * exceed the share of a holder.
 */
const largestMessages = 2;

/** Returns the memory for incoming messages, shared by the clients of a listener. */
export function createMailMemory(bytes: number, largestMessage: number): SharedPool {
  const size = Math.max(bytes, largestMessages * largestMessage);
  return new SharedPool(size, Math.min(firstBytes, Math.floor(size / leastHolders)));
}

/** Options of a collector for a single message. */
export interface CollectorOptions {
  clock: Clock;
  memory: SharedPool;
  /** Holder of the memory that the message uses: an organization, or the site of the client. */
  holder: string;
  maxBytes: number;
}

/** Most CR before an LF that count as a single line end: converters of line ends double CRs. */
const mostReturns = 8;

/** Matches a lone CR or LF; also at the end of a piece, where the LF may still follow. */
const bareLineEnd = /\r(?!\n)|(?<!\r)\n/;

export class MailCollector implements Occupant {
  readonly holder: string;
  readonly #memory: SharedPool;
  readonly #maxBytes: number;
  readonly #speed: ClientSpeed;
  #place: Place | null = null;
  #onCut: (refusal: InboundRefusal) => void = () => {};
  #full: Buffer[] = [];
  #block: Buffer = Buffer.alloc(0);
  #used = 0;
  #keptBytes = 0;
  #seenBytes = 0;
  /** Number of CR at the end of the bytes so far. They are not stored yet, as an LF may follow. */
  #openReturns = 0;
  #hasBareLineEnds: boolean = false;
  #isWhole: boolean = false;
  #refusal: InboundRefusal | null = null;

  constructor({ clock, memory, holder, maxBytes }: CollectorOptions) {
    this.holder = holder;
    this.#memory = memory;
    this.#maxBytes = maxBytes;
    this.#speed = new ClientSpeed(clock, () => this.#cut(replies.slowData));
  }

  /** Starts to measure the client's speed. Calls `onCut` with the refusal if the message is cut. */
  begin(onCut: (refusal: InboundRefusal) => void): void {
    this.#onCut = onCut;
    this.#speed.wait();
  }

  pace(): number | null {
    return this.#isWhole ? null : this.#speed.bytesPerSecond;
  }

  evict(): void {
    this.#cut(replies.yieldsMemory);
  }

  /** The refusal of the message; null as long as it is acceptable. */
  get refusal(): InboundRefusal | null {
    return this.#refusal;
  }

  /** Bytes of the message so far. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  /** Whether a line ended in anything but CRLF. */
  get hasBareLineEnds(): boolean {
    return this.#hasBareLineEnds;
  }

  /** Whether the client sent so much after the refusal that we stop reading. */
  get isEndless(): boolean {
    return this.#seenBytes > drainedFactor * this.#maxBytes + largestBlockBytes;
  }

  /**
   * Adds the next bytes, from which smtp-server has already removed the dot-stuffing. Converts a
   * lone CR or LF, and CR CR LF, to CRLF. Unchanged, such line ends could make a later server see
   * an end of data where this server saw text ("SMTP smuggling").
   */
  add(chunk: Buffer): void {
    this.#seenBytes += chunk.length;
    this.#speed.moved(chunk.length);
    if (this.#refusal || !this.#makeRoom(2 * (chunk.length + mostReturns))) return;
    const start = this.#used;
    // Most mail has only CRLF. The regular expression checks this ten times as fast as a loop over
    // the bytes.
    if (this.#openReturns === 0 && !bareLineEnd.test(chunk.toString('latin1'))) {
      this.#block.set(chunk, start);
      this.#used = start + chunk.length;
    } else this.#mend(chunk);
    this.#keptBytes += this.#used - start;
    if (this.#keptBytes > this.#maxBytes) this.#refuse(replies.tooLarge);
  }

  #mend(chunk: Buffer): void {
    const block = this.#block;
    let used = this.#used;
    let returns = this.#openReturns;
    let bare = this.#hasBareLineEnds;
    const endLine = () => {
      block[used++] = carriageReturn;
      block[used++] = lineFeed;
    };
    for (const byte of chunk) {
      if (byte === carriageReturn && returns < mostReturns) returns += 1;
      else if (byte === carriageReturn) endLine();
      else if (byte === lineFeed) {
        bare ||= returns !== 1;
        returns = 0;
        endLine();
      } else {
        bare ||= returns > 0;
        for (; returns > 0; returns -= 1) endLine();
        block[used++] = byte;
      }
    }
    this.#openReturns = returns;
    this.#hasBareLineEnds = bare;
    this.#used = used;
  }

  /**
   * Returns the complete message, up to the CRLF before the final dot. The memory is counted until
   * `release`.
   */
  finish(): Buffer {
    this.#isWhole = true;
    this.#speed.stop();
    const last = this.#block.subarray(0, this.#used);
    return this.#full.length === 0 ? last : Buffer.concat([...this.#full, last]);
  }

  /** Releases the memory. Do not add bytes after this. */
  release(): void {
    this.#full = [];
    this.#block = Buffer.alloc(0);
    this.#speed.stop();
    this.#place?.leave();
    this.#place = null;
  }

  #cut(refusal: InboundRefusal): void {
    this.#refuse(refusal);
    this.#onCut(refusal);
  }

  #refuse(refusal: InboundRefusal): void {
    this.#refusal = refusal;
    this.release();
  }

  #makeRoom(bytes: number): boolean {
    if (this.#block.length - this.#used >= bytes) return true;
    const next = Math.min(Math.max(2 * this.#block.length, firstBlockBytes), largestBlockBytes);
    const size = Math.max(bytes, next);
    if (!this.#take(size)) {
      this.#refuse(replies.noMemory);
      return false;
    }
    if (this.#used > 0) this.#full.push(this.#block.subarray(0, this.#used));
    this.#block = Buffer.allocUnsafe(size);
    this.#used = 0;
    return true;
  }

  #take(bytes: number): boolean {
    if (this.#place) return this.#place.grow(bytes);
    this.#place = this.#memory.enter(this, bytes);
    return this.#place !== null;
  }
}
