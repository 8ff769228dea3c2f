// Request bodies that are processed as they arrive, and answers that are sent as they are made, for
// routes that declare it (`takes`, `streams` of src/core/api/route.ts): millions of rows need
// little memory. Bounded in number, bytes and time. dispatch.ts has the order of checks.
//
//   stream     event                                           result
//   body       less than 1 KB/s over 10 s of waiting for it    400, the rest is discarded
//   body       a new stream needs space, this is the slowest   503, the rest is discarded
//   body       more bytes than the route accepts               413, the rest is discarded
//   body       the connection ends, or 300 s of the request    finished work of the route stays
//   answer     10 minutes, or a new stream as above            cut, so that it looks incomplete
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Route, StreamedAnswer, StreamedBody } from '../../src/core/api/route.ts';
import { CapacityError, MalformedRequestError } from '../../src/platform/errors.ts';
import type { Clock } from '../../src/platform/runtime/clock.ts';
import { ClientSpeed } from '../../src/platform/runtime/fairness/client-speed.ts';
import { type Occupant, SharedPool } from '../../src/platform/runtime/fairness/shared-pool.ts';
import { readMediaType } from './media-type.ts';

/**
 * Most streamed bodies and answers together. A route that streams in both directions counts once.
 */
const mostStreams = 4;
const retryAfterSeconds = 5;
const longestAnswerMs = 600_000;

export interface Streams {
  /**
   * Runs a route on the body of the request, if the share of `holder`, an organization, allows a
   * further stream.
   * @throws CapacityError beyond the share of the holder; MalformedRequestError 415 for a wrong
   * media type or a compressed body, 413 for a Content-Length beyond the limit.
   */
  take<T>(holder: string, request: StreamedRequest, run: Run<T>): Promise<T>;
  /** Returns the answer as a stream, which holds a place until the end. @throws CapacityError */
  send(holder: string, answer: StreamedAnswer): Readable;
}

type Run<T> = (body: StreamedBody) => Promise<T>;

interface StreamedRequest {
  route: Route;
  request: IncomingMessage;
  response: ServerResponse;
}

export function createStreams(clock: Clock): Streams {
  const pool = new SharedPool(mostStreams);
  return {
    async take(holder, streamed, run) {
      const body = new ComingBody(clock, holder);
      const place = pool.enter(body);
      if (!place) throw crowded();
      try {
        return await run(streamedBody(streamed, body));
      } finally {
        body.speed.stop();
        place.leave();
      }
    },
    send(holder, { texts }) {
      const pace = new ClientSpeed(clock);
      const place = pool.enter({
        holder,
        pace: () => pace.bytesPerSecond,
        evict: () => stream.destroy(),
      });
      if (!place) throw crowded();
      // Only a single piece is made in advance, as each is a page of rows.
      const stream = Readable.from(untilOver(texts, clock, pace), { highWaterMark: 1 });
      stream.once('close', () => {
        pace.stop();
        place.leave();
      });
      // Ignores the error of a cut answer: the client sees the cut at the socket.
      stream.on('error', () => {});
      return stream;
    },
  };
}

function crowded(): CapacityError {
  const text = 'Every place for imports and exports is in use: try again when one has ended';
  return new CapacityError(text, retryAfterSeconds, { reason: 'capacity-streams' });
}

/** An incoming body. It may be evicted for a new stream. */
class ComingBody implements Occupant {
  readonly holder: string;
  readonly speed: ClientSpeed;
  #failure: Error | null = null;
  #fail: (error: Error) => void = () => {};

  constructor(clock: Clock, holder: string) {
    this.holder = holder;
    this.speed = new ClientSpeed(clock, () => this.#end(tooSlow()));
  }

  pace(): number {
    return this.speed.bytesPerSecond;
  }

  evict(): void {
    this.#end(yielded());
  }

  /**
   * Waits for the client's next piece. @throws MalformedRequestError; CapacityError after the body
   * was evicted
   */
  next<T>(coming: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#failure) reject(this.#failure);
      this.#fail = reject;
      this.speed.wait();
      const lost = () =>
        reject(new MalformedRequestError('The body ended early: part of it did not arrive'));
      void coming.then(resolve, lost).finally(() => this.speed.rest());
    });
  }

  #end(error: Error): void {
    this.#failure = error;
    this.#fail(error);
  }
}

function tooSlow(): MalformedRequestError {
  return new MalformedRequestError('The body arrives too slowly', 400, 'slow');
}

function yielded(): CapacityError {
  const text = 'The body was the slowest while another organization waited';
  return new CapacityError(text, retryAfterSeconds, { reason: 'capacity-streams' });
}

async function* untilOver(
  texts: AsyncIterable<string | Buffer>,
  clock: Clock,
  pace: ClientSpeed,
): AsyncGenerator<Buffer> {
  const end = clock.now() + longestAnswerMs;
  for await (const text of texts) {
    if (clock.now() > end) throw new Error('The answer was not taken within its time');
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    pace.wait();
    yield bytes;
    pace.rest();
    pace.moved(bytes.length);
  }
}

function streamedBody(
  { route: { takes }, request, response }: StreamedRequest,
  body: ComingBody,
): StreamedBody {
  if (!takes) throw new Error('The route takes no stream');
  const { headers } = request;
  const { types, mostBytes } = takes;
  if (Number(headers['content-length']) > mostBytes) throw tooLarge(mostBytes);
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new MalformedRequestError(
      'A compressed body is not accepted: send it without Content-Encoding',
      415,
    );
  }
  const media = readMediaType(headers['content-type']);
  const type = types.find((one) => one === media?.type);
  if (type === undefined || media?.charset !== 'utf-8') {
    throw new MalformedRequestError(`The body must be sent as ${types.join(' or ')} in UTF-8`, 415);
  }
  return { type, chunks: chunksOf(request, response, mostBytes, body) };
}

function tooLarge(mostBytes: number): MalformedRequestError {
  return new MalformedRequestError(`The body is larger than ${mostBytes} bytes: split it`, 413);
}

/**
 * Yields the bytes of the body, each piece on demand.
 * @throws MalformedRequestError 413 above `mostBytes`, and the errors of `ComingBody.next`
 */
async function* chunksOf(
  request: IncomingMessage,
  response: ServerResponse,
  mostBytes: number,
  body: ComingBody,
): AsyncGenerator<Buffer> {
  // Sends 100 Continue only now, so that a refused client does not upload the body.
  if (request.headers.expect !== undefined) response.writeContinue();
  const chunks = request.iterator({ destroyOnReturn: false });
  let received = 0;
  for (;;) {
    const { value, done } = await body.next(chunks.next());
    if (done) return;
    const { length } = value as Buffer;
    body.speed.moved(length);
    received += length;
    if (received > mostBytes) throw tooLarge(mostBytes);
    yield value as Buffer;
  }
}

/** Discards the rest of a body after an early answer, so the connection must be closed. */
export function passOverRest(request: IncomingMessage, response: ServerResponse): void {
  if (request.readableEnded) return;
  if (!response.headersSent) response.setHeader('connection', 'close');
  // Reads the rest: unread bytes would reset the connection before the client reads the answer.
  request.resume();
}
