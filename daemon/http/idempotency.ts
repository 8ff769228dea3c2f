// The header `Idempotency-Key` of requests. src/core/api/idempotency.ts declares the use by each
// operation, src/service/door/claims.ts claims keys.
import { createHash, type Hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  idempotencyHeader,
  type KeyUse,
  keyHeader,
  noticeReplay,
  watchReplays,
} from '../../src/core/api/idempotency.ts';
import type { Caller, Route, StreamedBody } from '../../src/core/api/route.ts';
import { parseWith } from '../../src/core/api/validate.ts';
import type { App } from '../../src/core/app.ts';
import { fingerprint } from '../../src/outbound/sending/fingerprint.ts';
import { ValidationError } from '../../src/platform/errors.ts';
import { runOnce } from '../../src/service/door/claims.ts';
import type { Around } from '../../src/service/door/door.ts';

/** Header of an answer that repeats an earlier answer. */
const replayedHeader = 'idempotency-replayed';

/**
 * Returns the key of a request; undefined without a key, or if the operation reads the header
 * itself. @throws ValidationError for a key of invalid length, and for a POST that changes nothing
 */
export function keyOf(use: KeyUse, { headers }: FastifyRequest): string | undefined {
  if (use === 'none' || use === 'own' || headers[keyHeader] === undefined) return undefined;
  if (use === 'refused') {
    throw ValidationError.of('Idempotency-Key', 'this operation changes nothing: leave it out');
  }
  const { [keyHeader]: key } = parseWith(
    idempotencyHeader,
    { [keyHeader]: headers[keyHeader] },
    'headers',
  );
  return key;
}

/**
 * Returns the body with the key of the header as `idempotencyKey`. @throws ValidationError if the
 * key in the body differs
 */
export function withKey(body: unknown, key: string): unknown {
  if (body !== undefined && !isObject(body)) return body;
  const { idempotencyKey: given = null, ...rest } = body ?? {};
  if (given === null) return { ...rest, idempotencyKey: key };
  if (given === key) return body;
  throw ValidationError.of('idempotencyKey', 'differs from the header Idempotency-Key');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Runs the work of a request, and marks the answer if it repeats an earlier answer. */
export async function markingReplays<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  use: KeyUse,
  work: () => Promise<T>,
): Promise<T> {
  const hasKey = use === 'body' || request.headers[keyHeader] !== undefined;
  if (!hasKey) return work();
  const { value, isReplayed } = await watchReplays(work);
  if (isReplayed) reply.header(replayedHeader, 'true');
  return value;
}

/** Returns a wrapper in which the door runs an operation once for each key. */
export function onceFor(
  app: App,
  caller: Caller,
  route: Route,
  key: string,
  stream?: HashedBody,
): Around {
  return async (run, checked) => {
    const digest = fingerprint('POST', route.path, { ...checked });
    const asked = {
      key,
      fingerprint: stream ? null : digest,
      digest: async () => (stream ? stream.digest(digest) : digest),
    };
    const { value, isReplayed } = await runOnce(app, caller, route, asked, run);
    if (isReplayed) noticeReplay();
    return value;
  };
}

/** A streamed body whose bytes are hashed as the operation reads them. */
export interface HashedBody extends StreamedBody {
  /** Reads the body to its end. Returns the SHA-256 of its bytes, type and `prefix`. */
  digest(prefix: string): Promise<string>;
}

export function hashedBody({ type, chunks }: StreamedBody): HashedBody {
  const source = chunks[Symbol.asyncIterator]();
  const hash: Hash = createHash('sha256');
  const next = async () => {
    const result = await source.next();
    if (!result.done) hash.update(result.value);
    return result;
  };
  async function* passed(): AsyncGenerator<Buffer> {
    for (let result = await next(); !result.done; result = await next()) yield result.value;
  }
  return {
    type,
    chunks: passed(),
    async digest(prefix) {
      while (!(await next()).done);
      return hash.update(`\n${type}\n${prefix}`).digest('hex');
    },
  };
}
