// Limits the memory of answers that clients have not read yet, for all HTTP listeners together. The
// networks of the clients (sites) share this pool. connections.ts decides when a request runs.
//
//   the connection           | by                            | then
//   -------------------------+-------------------------------+----------------------------------
//   holds unread bytes       | the client reads all of them  | releases the memory
//   exceeds the site's share | any answer                    | cuts the slowest of the site
//   needs more, pool is full | a site that holds less        | cuts the slowest of a larger site
//   asks for a file          | site at the share, no client  | 503
//                            | is slow                       |
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { App } from '../../src/core/app.ts';
import { CapacityError } from '../../src/platform/errors.ts';
import { siteOf } from '../../src/platform/net/network-address.ts';
import { ClientSpeed } from '../../src/platform/runtime/fairness/client-speed.ts';
import {
  type Occupant,
  type Place,
  SharedPool,
} from '../../src/platform/runtime/fairness/shared-pool.ts';
import { perApp } from '../../src/platform/runtime/per-app.ts';

const poolBytes = 64_000_000;
/** Bytes of the reserve guaranteed to each site. */
const firstBytes = 1_000_000;
/**
 * Most bytes that are counted for an answer. A mail of 50 MB would exceed the share of a site, but
 * must be served: four such answers fill the pool.
 */
const mostCounted = 16_000_000;
/** Memory of a parsed request that waits for a turn: 1.7 KB measured, and the headers. */
const queuedBytes = 4_096;
/** Bytes per second. A slower client may be cut if a file for the same site needs the memory. */
const slowBytesPerSecond = 10_000;
const retryAfterSeconds = 5;

/** Returns the pool of a process. */
export const answerPoolOf = perApp((_app: App) => new SharedPool(poolBytes, firstBytes));

type WriteDone = (error: Error | null | undefined) => void;
type EndDone = () => void;
/** The second argument of Node's overloads. */
type Encoding<Done> = BufferEncoding | Done;

/** An answer that reports each write to the account of the connection. */
export class CountedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Null while the request waits for a turn. */
  account: AnswerAccount | null = null;

  override write(chunk: unknown, encoding?: Encoding<WriteDone>, done?: WriteDone): boolean {
    const isTaken = super.write(chunk, encoding as BufferEncoding, done);
    this.account?.update();
    return isTaken;
  }

  override end(chunk?: unknown, encoding?: Encoding<EndDone>, done?: EndDone): this {
    super.end(chunk, encoding as BufferEncoding, done);
    this.account?.update();
    return this;
  }
}

/** Counts the bytes that wait on a connection. */
export class AnswerAccount implements Occupant {
  readonly holder: string;
  readonly #pool: SharedPool;
  readonly #socket: Socket;
  readonly #pace: ClientSpeed;
  readonly #onCut: () => void;
  /** Bytes reserved for each answer in work. */
  readonly #answers = new Map<CountedResponse, number>();
  #queued = 0;
  #place: Place | null = null;
  #takenBytes = 0;

  /** `onCut` is called when the connection is cut for the memory it holds. */
  constructor(app: App, socket: Socket, onCut: () => void) {
    this.holder = siteOf(socket.remoteAddress ?? '');
    this.#pool = answerPoolOf(app);
    this.#socket = socket;
    this.#pace = new ClientSpeed(app.clock);
    this.#onCut = onCut;
  }

  begin(answer: CountedResponse): void {
    this.#answers.set(answer, 0);
    answer.account = this;
  }

  /** Stops counting an answer. `queued` parsed requests wait for their turn. */
  end(answer: CountedResponse, queued: number): void {
    this.#answers.delete(answer);
    this.setQueued(queued);
  }

  /** Sets the number of parsed requests that wait for their turn. */
  setQueued(queued: number): void {
    this.#queued = queued;
    this.update();
  }

  /** Counts the bytes again, and cuts the slowest client of the site if they are too many. */
  update(): void {
    const bytes = this.#countBytes();
    if (bytes === 0 && !this.#place) return;
    while (!this.#hold(bytes)) {
      if (this.#socket.destroyed) return;
      if (!this.#pool.evictSlowestOf(this.holder)) this.evict();
    }
  }

  /** Counts `bytes` for an answer before they are read. @throws CapacityError */
  reserve(answer: CountedResponse, bytes: number): void {
    // The memory of an ended connection was released, so nothing may be reserved for it.
    if (this.#socket.destroyed) return;
    const before = this.#answers.get(answer) ?? 0;
    this.#answers.set(answer, Math.min(bytes, mostCounted));
    while (!this.#hold(this.#countBytes())) {
      if (this.#pool.evictSlowestOf(this.holder, slowBytesPerSecond)) continue;
      this.#answers.set(answer, before);
      const text = 'Answers that are not taken yet fill the memory for them';
      throw new CapacityError(text, retryAfterSeconds, { reason: 'capacity-answers' });
    }
  }

  /** Releases the memory after the connection has ended. */
  close(): void {
    this.#answers.clear();
    this.#queued = 0;
    this.#leave();
  }

  pace(): number {
    this.#countTaken();
    return this.#socket.writableLength === 0 ? Number.POSITIVE_INFINITY : this.#pace.bytesPerSecond;
  }

  evict(): void {
    this.#onCut();
    this.#socket.destroy();
  }

  #countBytes(): number {
    let bytes = this.#queued * queuedBytes;
    for (const [answer, reserved] of this.#answers) {
      bytes += Math.max(reserved, Math.min(answer.writableLength, mostCounted));
    }
    return bytes;
  }

  /** Holds exactly this many bytes. Beyond the share it returns false and changes nothing. */
  #hold(bytes: number): boolean {
    if (bytes === 0) {
      this.#leave();
      return true;
    }
    this.#countTaken();
    if (this.#socket.writableLength > 0) this.#pace.wait();
    else this.#pace.rest();
    if (!this.#place) {
      this.#place = this.#pool.enter(this, bytes);
      return this.#place !== null;
    }
    const more = bytes - this.#place.amount;
    if (more > 0) return this.#place.grow(more);
    this.#place.shrink(-more);
    return true;
  }

  #leave(): void {
    this.#place?.leave();
    this.#place = null;
    this.#pace.stop();
  }

  #countTaken(): void {
    const taken = takenBytes(this.#socket);
    this.#pace.moved(taken - this.#takenBytes);
    this.#takenBytes = taken;
  }
}

/**
 * Returns the bytes that the system has accepted for the client. `writableLength` of a socket falls
 * only at the end of a whole write; libuv counts the bytes of a write under way.
 */
function takenBytes(socket: Socket): number {
  type Handle = { bytesWritten: number; writeQueueSize: number };
  const { _handle: handle } = socket as { _handle?: Handle | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

/**
 * Reserves `bytes` for an answer before it is read. An answer within this process, such as for a
 * page of the console, is counted only as part of that page. @throws CapacityError if the memory is
 * used up
 */
export function reserveAnswer(answer: ServerResponse, bytes: number): void {
  if (answer instanceof CountedResponse) answer.account?.reserve(answer, bytes);
}
