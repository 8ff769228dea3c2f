// Reads a request body and parses it as JSON, with bounds on bytes, pace, depth, count and
// encoding. The route's schema checks the fields. Malformed bodies get 400, 413 or 415.
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CapacityError, MalformedRequestError } from '../../src/platform/errors.ts';
import type { Clock } from '../../src/platform/runtime/clock.ts';
import { ClientSpeed } from '../../src/platform/runtime/fairness/client-speed.ts';
import { type Place, SharedPool } from '../../src/platform/runtime/fairness/shared-pool.ts';
import { readMediaType } from './media-type.ts';

const deepestNesting = 64;
/**
 * Most values in a body: parsing and checking them takes less than a time slice of the event loop.
 */
const mostValues = 100_000;
/**
 * Size up to which bodies are never refused for lack of memory; `maxConnections` bounds their
 * number.
 */
const freeBytes = 65_536;
/** Memory for larger bodies, as a number of bodies of the largest size. Organizations share it. */
const largestBodiesAtOnce = 4;
/** Bytes of the reserve guaranteed to each organization. */
const firstBytes = 1_048_576;

export interface BodyReader {
  /**
   * Returns the whole body, in memory counted for the holder; empty without a body. @throws
   * MalformedRequestError: 413 beyond the limit, 415 for a wrong media type or a compressed body,
   * 400 if the body is too slow or incomplete; CapacityError beyond the holder's share.
   */
  read(
    holder: string,
    request: IncomingMessage,
    response: ServerResponse,
    taken?: TakenBody,
  ): Promise<Buffer>;
}

/** Bodies of further types that a path accepts besides JSON. */
export interface TakenBody {
  /** Media types in lower case. */
  types: readonly string[];
  mostBytes: number;
  /** Accepted content codings besides `identity`. The body is returned as sent, still encoded. */
  codings?: readonly string[];
}

/** Creates a reader for bodies of at most `maxBytes`. All bodies share a pool of memory. */
export function createBodyReader(maxBytes: number, clock: Clock): BodyReader {
  const memory = new SharedPool(largestBodiesAtOnce * maxBytes, firstBytes);
  return {
    async read(holder, request, response, taken) {
      const { headers } = request;
      const {
        types,
        codings = [],
        mostBytes,
      } = taken ?? { types: ['application/json'], mostBytes: maxBytes };
      if (headers['content-length'] === '0') return Buffer.alloc(0);
      if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
        return Buffer.alloc(0);
      }
      if (Number(headers['content-length']) > mostBytes) throw tooLarge(mostBytes);
      const coding = headers['content-encoding'] ?? 'identity';
      if (coding !== 'identity' && !codings.includes(coding)) {
        throw new MalformedRequestError(
          'A compressed body is not accepted: send it without Content-Encoding',
          415,
        );
      }
      const media = readMediaType(headers['content-type']);
      if (media?.charset !== 'utf-8' || !types.includes(media.type)) {
        const text = `The body must be sent as ${types.join(' or ')} in UTF-8`;
        throw new MalformedRequestError(text, 415);
      }
      // Sends 100 Continue only after the checks, so that a refused client does not upload the
      // body.
      if (headers.expect !== undefined) response.writeContinue();
      return await collect(request, response, { holder, maxBytes: mostBytes, memory, clock });
    },
  };
}

function tooLarge(maxBytes: number): MalformedRequestError {
  return new MalformedRequestError(`The body is larger than ${maxBytes} bytes`, 413);
}

function crowded(message: string): CapacityError {
  return new CapacityError(message, 1, { reason: 'capacity-bodies' });
}

interface Reading {
  holder: string;
  maxBytes: number;
  memory: SharedPool;
  clock: Clock;
}

function collect(
  request: IncomingMessage,
  response: ServerResponse,
  { holder, maxBytes, memory, clock }: Reading,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    let place: Place | null = null;
    const pace = new ClientSpeed(clock, () =>
      refuse(new MalformedRequestError('The body arrives too slowly', 400, 'slow')),
    );
    pace.wait();
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('error', onLost);
    request.on('close', onLost);

    function onData(chunk: Buffer): void {
      received += chunk.length;
      chunks.push(chunk);
      pace.moved(chunk.length);
      if (received > maxBytes) refuse(tooLarge(maxBytes));
      else if (received > freeBytes && !charge(chunk.length)) {
        refuse(crowded('Too many large bodies of your organization are being received'));
      }
    }
    function charge(bytes: number): boolean {
      if (place) return place.grow(bytes);
      place = memory.enter({ holder, pace: () => pace.bytesPerSecond, evict }, bytes);
      return place !== null;
    }
    function evict(): void {
      refuse(
        crowded('The body was the slowest of the large ones while another organization waited'),
      );
    }
    function onEnd(): void {
      finish();
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, received));
    }
    function onLost(): void {
      refuse(new MalformedRequestError('The body ended early: part of it did not arrive'));
    }
    function refuse(error: Error): void {
      finish();
      reject(error);
      // A client that has seen the answer may never send the rest, so no request can follow on this
      // connection.
      if (!response.headersSent) response.setHeader('connection', 'close');
      // Discards the rest: unread bytes would reset the connection before the client reads the
      // answer.
      request.resume();
    }
    function finish(): void {
      pace.stop();
      place?.leave();
      request.off('data', onData).off('end', onEnd).off('close', onLost);
    }
  });
}

const byteOrderMark = Buffer.from('\uFEFF');

/**
 * Parses a body; undefined if it is empty. Ignores a byte order mark (RFC 8259 section 8.1). The
 * last of duplicate keys counts (RFC 8259 section 4). @throws MalformedRequestError
 */
export function parseJson(body: Buffer, mostOfValues = mostValues): unknown {
  const isMarked = body.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  const bytes = isMarked ? body.subarray(byteOrderMark.length) : body;
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new MalformedRequestError('The body is not valid UTF-8');
  checkStructure(bytes, mostOfValues);
  const value = parseText(bytes.toString('utf8'));
  if (poisonMarks.some((mark) => bytes.includes(mark))) refusePoison(value);
  return value;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be parsed';
    throw new MalformedRequestError(`The body is not valid JSON: ${reason}`);
  }
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openList, closeList, openMap, closeMap] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Counts nesting and values before any allocation; skips strings at the speed of memchr. */
function checkStructure(bytes: Buffer, mostOfValues: number): void {
  let depth = 0;
  let values = 1;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === quote) {
      i = endOfString(bytes, i);
    } else if (byte === comma) {
      values++;
    } else if (byte === openList || byte === openMap) {
      values++;
      if (++depth > deepestNesting) {
        throw new MalformedRequestError(`The body is nested deeper than ${deepestNesting} levels`);
      }
    } else if (byte === closeList || byte === closeMap) {
      depth--;
    }
  }
  if (values > mostOfValues) {
    throw new MalformedRequestError(`The body has more than ${mostOfValues} values`);
  }
}

/** Returns the index of the quote that ends the string at `start`, or the end of the text. */
function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(quote, start + 1); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return bytes.length;
}

/** Texts that occur in every forbidden key: the names, and the escape that can spell any name. */
const poisonMarks = ['__proto__', 'constructor', '\\u'];

/**
 * Refuses keys by which a careless merge could change a prototype. `checkStructure` has bounded the
 * size.
 */
function refusePoison(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const entry of value) refusePoison(entry);
    return;
  }
  // `Object.entries` of 100,000 entries takes longer. Values of JSON.parse inherit no key.
  for (const key in value) {
    const entry = (value as Record<string, unknown>)[key];
    const isPoison =
      key === '__proto__' ||
      (key === 'constructor' && Object.hasOwn(Object(entry) as object, 'prototype'));
    if (isPoison) throw new MalformedRequestError(`The body has the forbidden key "${key}"`);
    refusePoison(entry);
  }
}
