// Bodies that are read as they come, and answers that leave as they are made, for the routes that say so
// (`takes`, `streams` of src/api/route.ts): millions of rows in the memory of a few. Bounded in number, in
// bytes and in time. The order of checks is dispatch.ts.
//
//   body       by                                              then
//   coming     20 s without a byte                             400, the rest is passed over
//   coming     more bytes than the route takes                 413, the rest is passed over
//   coming     the connection ends, or 300 s of the request    what the route has done by then stays
//   answer     10 minutes are over                             cut, so that no reader takes it for whole
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Route, StreamedAnswer, StreamedBody } from '../../src/api/route.ts';
import { CapacityError, MalformedRequestError } from '../../src/errors.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { readMediaType } from './media-type.ts';

/** Of bodies and answers together; a route that streams both ways is one. */
const mostStreams = 4;
const retryAfterSeconds = 5;
/** Without a byte of a body. Whoever sends one now and then is ended by the time of the whole request. */
const mostQuietMs = 20_000;
const longestAnswerMs = 600_000;

export interface Streams {
  /** Runs what streams. @throws CapacityError where as many run as may. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** @throws MalformedRequestError 415 for another media type or a compressed body, 413 where it says that it is too long. */
  bodyOf(route: Route, request: IncomingMessage, response: ServerResponse): StreamedBody;
  /** The answer as it is sent; holds its place among the streams until it has ended. */
  send(answer: StreamedAnswer): Readable;
}

export function createStreams(clock: Clock): Streams {
  let open = 0;
  const enter = () => {
    if (open < mostStreams) open++;
    else throw crowded();
  };
  return {
    async run(work) {
      enter();
      try {
        return await work();
      } finally {
        open--;
      }
    },
    bodyOf: (route, request, response) => streamedBody(route, request, response, clock),
    send({ texts }) {
      enter();
      const leave = () => {
        open--;
      };
      // One piece ahead: each is a page of rows.
      const stream = Readable.from(untilOver(texts, clock), { highWaterMark: 1 });
      void once(stream, 'close').then(leave, leave);
      return stream;
    },
  };
}

function crowded(): CapacityError {
  return new CapacityError(`${mostStreams} imports and exports are under way`, retryAfterSeconds, {
    reason: 'capacity-streams',
  });
}

async function* untilOver(texts: AsyncIterable<string>, clock: Clock): AsyncGenerator<Buffer> {
  const end = clock.now() + longestAnswerMs;
  for await (const text of texts) {
    if (clock.now() > end) throw new Error('The answer was not taken within its time');
    yield Buffer.from(text);
  }
}

function streamedBody(
  { takes }: Route,
  request: IncomingMessage,
  response: ServerResponse,
  clock: Clock,
): StreamedBody {
  if (!takes) throw new Error('The route takes no stream');
  const { headers } = request;
  const { types, mostBytes } = takes;
  if (Number(headers['content-length']) > mostBytes) throw tooLarge(mostBytes);
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new MalformedRequestError('A compressed body is not accepted', 415);
  }
  const media = readMediaType(headers['content-type']);
  const type = types.find((one) => one === media?.type);
  if (type === undefined || media?.charset !== 'utf-8') {
    throw new MalformedRequestError(`The body must be sent as ${types.join(' or ')} in UTF-8`, 415);
  }
  return { type, chunks: chunksOf(request, response, mostBytes, clock) };
}

function tooLarge(mostBytes: number): MalformedRequestError {
  return new MalformedRequestError(`The body is larger than ${mostBytes} bytes: split it`, 413);
}

/** The bytes of the body, each piece when it is asked for. @throws MalformedRequestError */
async function* chunksOf(
  request: IncomingMessage,
  response: ServerResponse,
  mostBytes: number,
  clock: Clock,
): AsyncGenerator<Buffer> {
  // The body was not asked for until now: a refused request never costs its upload.
  if (request.headers.expect !== undefined) response.writeContinue();
  const chunks = request.iterator({ destroyOnReturn: false });
  let received = 0;
  for (;;) {
    const { value, done } = await inTime(chunks.next(), clock);
    if (done) return;
    received += (value as Buffer).length;
    if (received > mostBytes) throw tooLarge(mostBytes);
    yield value as Buffer;
  }
}

/** What comes next, if it comes within the time. */
function inTime<T>(coming: Promise<T>, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(mostQuietMs, () =>
      reject(new MalformedRequestError('The body arrives too slowly', 400, 'slow')),
    );
    const lost = () => reject(new MalformedRequestError('The body did not arrive whole'));
    void coming.then(resolve, lost).finally(cancel);
  });
}

/** After an answer that came before the body's end: nothing can follow on this connection. */
export function passOverRest(request: IncomingMessage, response: ServerResponse): void {
  if (request.readableEnded) return;
  if (!response.headersSent) response.setHeader('connection', 'close');
  // Discarded, not left unread: an unread rest would reset the connection under the answer.
  request.resume();
}
