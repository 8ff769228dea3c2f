// Requests of the console to routes, through the door (src/service/door/door.ts) as the caller of a
// session. A page shows no more than the answers of routes, with permissions, limits and errors of
// the API.
import type { FileAnswer } from '../../src/core/api/route.ts';
import { ServiceError } from '../../src/platform/errors.ts';
import { dispositionOf, servedType } from '../http/paths/files.ts';

interface ErrorBody {
  _tag?: string;
  message?: string;
  /** Kind and id of a missing resource. */
  resource?: string;
  id?: string;
  /** Faults by the dotted path of a field. */
  fields?: Readonly<Record<string, readonly string[]>>;
}

/** An error object of the API (specification 7). */
export class Refusal extends Error {
  readonly status: number;
  readonly tag: string;
  readonly requestId: string;
  /** Faults by the dotted path of a field. */
  readonly fields: NonNullable<ErrorBody['fields']>;

  constructor(
    status: number,
    { _tag, message, resource, id, fields = {} }: ErrorBody,
    requestId: string,
  ) {
    const missing = resource && id && `There is no ${resource} ${id}`;
    super(message ?? (missing || `The API answered with status ${status}`));
    this.status = status;
    this.tag = _tag ?? 'Error';
    this.requestId = requestId;
    this.fields = fields;
  }
}

/** Returns the error object of the API for a ServiceError. @throws a different error unchanged */
export function refusalOf(error: unknown, requestId = ''): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof ServiceError)) throw error;
  return new Refusal(error.status, error.toJSON(), requestId);
}

/**
 * Returns the answer of a route; null if `isAllowed` is false, or for a refusal below status 500.
 */
export async function orNone<Value>(
  isAllowed: boolean,
  ask: () => Promise<Value>,
): Promise<Value | null> {
  if (!isAllowed) return null;
  return ask().catch((error: unknown) => {
    if (refusalOf(error).status < 500) return null;
    throw error;
  });
}

/** A file that the browser saves. */
export interface Download {
  contentType: string;
  /** Value of `Content-Disposition`. */
  disposition: string;
  bytes: Buffer | string;
}

/** Returns a query in the form of a URL: values as texts, without empty texts. */
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

/** Adds the given values to a path. Lists repeat the name. Leaves out empty values. */
export function withQuery(path: string, query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(
    given.flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, String(one)]),
    ),
  ).toString();
  return text === '' ? path : `${path}?${text}`;
}
