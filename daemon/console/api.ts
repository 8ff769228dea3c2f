// The console asks the API as its own client, within the process: each page shows what the route answers to the
// caller of the session, and no more. So permissions, limits and errors are those of the API.
import type { FastifyInstance } from 'fastify';
import type { Caller, Method } from '../../src/core/api/route.ts';
import { ServiceError } from '../../src/platform/errors.ts';

interface ErrorBody {
  _tag?: string;
  message?: string;
  /** Kind and id of a missing resource. */
  resource?: string;
  id?: string;
}

/** An error object of the API (specification 7). */
export class Refusal extends Error {
  readonly status: number;
  readonly tag: string;
  readonly requestId: string;

  constructor(status: number, { _tag, message, resource, id }: ErrorBody, requestId: string) {
    const missing = resource && id && `There is no ${resource} ${id}`;
    super(message ?? (missing || `The API answered with status ${status}`));
    this.status = status;
    this.tag = _tag ?? 'Error';
    this.requestId = requestId;
  }
}

/** Returns the answer of the API for an error. @throws any other error */
export function refusalOf(error: unknown, requestId = ''): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof ServiceError)) throw error;
  const { status, _tag, message } = error;
  return new Refusal(status, { _tag, message }, requestId);
}

/** A file that the browser saves. */
export interface Download {
  contentType: string;
  /** Value of `Content-Disposition`. */
  disposition: string;
  bytes: Buffer | string;
}

const json = 'application/json';

/** Asks routes as one caller. @throws Refusal for an answer of 400 or more */
export interface Api {
  get<T>(path: string, query?: Record<string, unknown>): Promise<T>;
  send<T>(method: Exclude<Method, 'GET'>, path: string, body?: object): Promise<T>;
  /** Sends a text of a media type, such as `text/csv`. */
  upload<T>(path: string, type: string, text: string): Promise<T>;
  /** Asks for a file. */
  file(path: string): Promise<Download>;
  /** Asks a function of src/ where the API has no route, or its answer is too large. */
  call<T>(work: () => Promise<T>): Promise<T>;
}

/** Callers of questions under way, by a secret that stands in for their key. */
export interface Passes {
  /** Returns the caller of a secret; null for any other text. */
  callerOf(secret: string): Caller | null;
  /** Holds a secret for a caller while `ask` runs. */
  during<T>(caller: Caller, ask: (secret: string) => Promise<T>): Promise<T>;
}

/** Creates the passes of one process; `newSecret` makes a text that nobody can guess. */
export function createPasses(newSecret: () => string): Passes {
  const callers = new Map<string, Caller>();
  return {
    callerOf: (secret) => callers.get(secret) ?? null,
    async during(caller, ask) {
      const secret = newSecret();
      callers.set(secret, caller);
      try {
        return await ask(secret);
      } finally {
        callers.delete(secret);
      }
    },
  };
}

/** Returns the API for a caller at an address. */
export function apiFor(
  inject: FastifyInstance['inject'],
  passes: Passes,
  { caller, address }: { caller: Caller; address: string },
): Api {
  const ask = async (method: Method, url: string, payload?: string, type = json) =>
    passes.during(caller, async (secret) => {
      const answer = await inject({
        method,
        url,
        remoteAddress: address,
        headers: { 'x-api-key': secret, ...(payload !== undefined && { 'content-type': type }) },
        ...(payload !== undefined && { payload }),
      });
      if (answer.statusCode < 400) return answer;
      const parsed: object = answer.body === '' ? {} : JSON.parse(answer.body);
      throw new Refusal(answer.statusCode, parsed, String(answer.headers['x-request-id']));
    });
  const read = async (...asked: Parameters<typeof ask>) => {
    const answer = await ask(...asked);
    return answer.body === '' ? {} : JSON.parse(answer.body);
  };
  return {
    get: (path, query = {}) => read('GET', withQuery(path, query)),
    send: (method, path, body) => read(method, path, body && JSON.stringify(body)),
    upload: (path, type, text) => read('POST', path, text, type),
    call: (work) => work(),
    async file(path) {
      const { headers, rawPayload } = await ask('GET', path);
      return {
        contentType: String(headers['content-type']),
        disposition: String(headers['content-disposition']),
        bytes: rawPayload,
      };
    },
  };
}

/** Adds the given values to a path, a list by each of its values; empty values are left out. */
export function withQuery(path: string, query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(
    given.flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, String(one)]),
    ),
  ).toString();
  return text === '' ? path : `${path}?${text}`;
}
