// Defaults for the routes of an area, derived from the name of the area, their method and their
// path. A route states only differences.
import type { z } from 'zod';
import type { Noun } from './noun.ts';
import type { Permission, Resource } from './permission.ts';
import { type Answering, type Method, type RouteParts, type RoutePath, route } from './route.ts';

/** An error class with an HTTP status. */
interface ErrorClass {
  readonly status: number;
}

/** Declaration of a route of an area. */
export interface AreaRoute<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Output extends z.ZodType,
> extends RouteParts<Params, Query, Headers, Body, Output> {
  /** Default: `read` for GET, `delete` for DELETE, else `write`, on the area's resource. */
  permission?: Permission;
  /**
   * Status of success. Default: 201 for a POST to a path without parameters, which creates
   * something; else 200.
   */
  status?: 200 | 201;
  /** Error classes besides the errors of every route (401, 403, 404, 422, 429, 5xx). */
  throws?: readonly ErrorClass[];
}

const actions = {
  GET: 'read',
  DELETE: 'delete',
  POST: 'write',
  PUT: 'write',
  PATCH: 'write',
} as const;

interface AreaParts {
  /** Description of the area for the reference; only a single file of an area needs it. */
  about?: string;
  /** Resource of the permissions, the name of the area by default. */
  resource?: Resource;
  /** Noun of these routes. The audit lists changes of the noun. */
  noun?: Noun;
}

function declare(name: string, parts: AreaParts, method: Method) {
  const { about, resource = name, noun } = parts;
  return <
    Params extends z.ZodType,
    Query extends z.ZodType,
    Headers extends z.ZodType,
    Body extends z.ZodType,
    Output extends z.ZodType,
  >(
    path: RoutePath,
    { throws = [], ...rest }: AreaRoute<Params, Query, Headers, Body, Output>,
  ): Answering<z.input<Output>> =>
    route({
      permission: `${resource as Resource}:${actions[method]}`,
      status: method === 'POST' && !path.includes('{') ? 201 : 200,
      ...rest,
      method,
      path,
      area: name,
      ...(about !== undefined && { about }),
      ...(noun && { noun }),
      errors: throws.map(({ status }) => status),
    });
}

/**
 * Declares routes of an area: `at.get('/v1/email/senders', {…})`. The compiler requires `resource`
 * unless the area has the name of a resource.
 */
export function area<Parts extends AreaParts>(
  name: Parts extends { resource: Resource } ? string : Resource,
  parts?: Parts,
) {
  const given: AreaParts = parts ?? {};
  return {
    noun: parts?.noun as Parts['noun'],
    get: declare(name, given, 'GET'),
    post: declare(name, given, 'POST'),
    put: declare(name, given, 'PUT'),
    patch: declare(name, given, 'PATCH'),
    delete: declare(name, given, 'DELETE'),
  };
}

export type Area = ReturnType<typeof area>;
