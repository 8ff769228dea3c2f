// Server-sent events (HTML Living Standard, 9.2): a parser for chunks of any size, and a stream
// that reconnects.
import { pause, SvcError } from './http.js';

const longestEvent = 1_000_000;
const firstPauseMs = 500;

/** Splits the text of a stream into events, however the text is cut into pieces. */
export class EventParser {
  #text = '';
  #data = [];
  #id = null;

  /** Adds a piece of the stream. Returns the events that end in it, as `{ id, data }`. */
  push(piece) {
    this.#text += piece;
    const events = [];
    for (;;) {
      // A CR at the end may be half of a CRLF.
      const end = this.#text.search(/\r\n|\n|\r(?!$)/);
      if (end < 0) break;
      const line = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + (this.#text.startsWith('\r\n', end) ? 2 : 1));
      const event = this.#line(line);
      if (event) events.push(event);
    }
    if (this.#text.length > longestEvent) throw new RangeError('a line of the stream is too long');
    return events;
  }

  #line(line) {
    if (line === '') {
      const event = this.#data.length > 0 ? { id: this.#id, data: this.#data.join('\n') } : null;
      this.#data = [];
      return event;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    if (field === 'id' && !value.includes('\0')) this.#id = value;
    return null;
  }
}

/**
 * Yields the events of a path. After a cut it reconnects and continues after the last event, so
 * that no event is lost or repeated. Aborting the signal of the options ends it.
 * @throws SvcError for a refusal, such as 401
 */
export async function* follow(
  http,
  { path, query },
  { lastEventId = null, signal, ...options } = {},
) {
  let last = lastEventId;
  const longest = options.maxDelayMs ?? http.options.maxDelayMs;
  let waitMs = Math.min(firstPauseMs, longest);
  while (!signal?.aborted) {
    try {
      const headers = {
        accept: 'text/event-stream',
        ...(last !== null && { 'last-event-id': last }),
      };
      const request = { method: 'GET', path, query, headers, isSafe: true };
      const answer = await http.ask(request, { ...options, signal });
      const type = answer.headers.get('content-type') ?? '';
      if (!type.startsWith('text/event-stream')) {
        const message = `The server answered ${type}, not a stream of events`;
        throw new SvcError({ _tag: 'UnexpectedAnswerError', message }, { status: answer.status });
      }
      for await (const event of eventsOf(answer, signal)) {
        // A piece may contain many events: events after an abort are not yielded.
        if (signal?.aborted) return;
        waitMs = Math.min(firstPauseMs, longest);
        if (event.id !== null) last = event.id;
        yield JSON.parse(event.data);
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!isCut(error)) throw error;
    }
    if (signal?.aborted) return;
    await pause(waitMs, signal);
    waitMs = Math.min(longest, waitMs * 2);
  }
}

/**
 * Tells whether an error is a cut connection, and not a refusal or an error of the caller's own
 * loop.
 */
function isCut(error) {
  return error instanceof SvcError && ['ConnectionError', 'TimeoutError'].includes(error._tag);
}

async function* eventsOf(answer, signal) {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
  const stop = () => void reader.cancel().catch(() => {});
  signal?.addEventListener('abort', stop);
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw new SvcError({ _tag: 'ConnectionError', message: 'The stream was cut' }, { cause });
      });
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}
