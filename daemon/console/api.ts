// The console asks routes through the door (src/service/door/door.ts) as the caller of its session: each page shows what
// the route answers to that caller, and no more. So permissions, limits and errors are those of the API.
import type { Doorway, FileAnswer, Method } from '../../src/core/api/route.ts';
import { ServiceError } from '../../src/platform/errors.ts';
import type { Input } from '../../src/service/door/door.ts';
import { dispositionOf, servedType } from '../http/files.ts';
import { routes } from '../http/routes.ts';

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
  return new Refusal(error.status, error.toJSON(), requestId);
}

/** A file that the browser saves. */
export interface Download {
  contentType: string;
  /** Value of `Content-Disposition`. */
  disposition: string;
  bytes: Buffer | string;
}

/** Asks a route as the caller of the session. Empty values of the query are left out. @throws ServiceError */
export type AskRoute = <Answer>(way: Doorway<Answer>, input?: Input) => Promise<Answer>;

/** Returns a query as a URL would carry it: texts, without empty ones. */
export function queryOf(query: object): object {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(
    given.map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)]),
  );
}

/** Returns a file of a route for the browser. */
export function downloadOf(file: FileAnswer): Download {
  const { contentType, filename, bytes } = file;
  return {
    contentType: servedType(file),
    disposition: dispositionOf(contentType, filename),
    bytes,
  };
}

/** Asks routes by their paths. @throws ServiceError */
export interface Api {
  get<T>(path: string, query?: Record<string, unknown>): Promise<T>;
  send<T>(method: Exclude<Method, 'GET'>, path: string, body?: object): Promise<T>;
  /** Sends a text of a media type, such as `text/csv`. */
  upload<T>(path: string, type: string, text: string): Promise<T>;
}

export function apiFor(ask: AskRoute): Api {
  const find = (method: Method, url: string) => {
    const [path = '', search = ''] = url.split('?');
    const parts = path.split('/').map(decodeURIComponent);
    const score = (way: Doorway) =>
      way.path.split('/').filter((part) => part.startsWith('{')).length;
    const [way] = routes
      .filter((one) => {
        const wanted = one.path.split('/');
        return (
          one.method === method &&
          wanted.length === parts.length &&
          wanted.every((part, at) => part.startsWith('{') || part === parts[at])
        );
      })
      .sort((a, b) => score(a) - score(b));
    if (!way) throw new Error(`no route ${method} ${path}`);
    const params = Object.fromEntries(
      way.path
        .split('/')
        .flatMap((part, at) => (part.startsWith('{') ? [[part.slice(1, -1), parts[at]]] : [])),
    );
    const query: Record<string, unknown> = {};
    for (const [name, value] of new URLSearchParams(search)) {
      query[name] = name in query ? [query[name], value].flat() : value;
    }
    return { way, params, query };
  };
  return {
    async get<T>(path: string, more = {}) {
      const { way, params, query } = find('GET', path);
      return (await ask(way, { params, query: { ...query, ...more } })) as T;
    },
    async send<T>(method: Method, path: string, body?: object) {
      const { way, params, query } = find(method, path);
      return (await ask(way, { params, query, ...(body && { body }) })) as T;
    },
    async upload<T>(path: string, type: string, text: string) {
      const { way, params, query } = find('POST', path);
      const chunks = (async function* () {
        yield Buffer.from(text);
      })();
      return (await ask(way, { params, query, stream: { type, chunks } })) as T;
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
