// Defaults for the routes of an area, derived from its name, their method and their path. A route declares
// only its differences.
import type { z } from 'zod';
import type { Permission, Resource } from './permission.ts';
import { type Answering, type Method, type RouteParts, type RoutePath, route } from './route.ts';

/** An error class with an HTTP status. */
interface ErrorClass {
  readonly status: number;
}

interface AreaRoute<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Output extends z.ZodType,
> extends RouteParts<Params, Query, Headers, Body, Output> {
  /** `read` for GET, `delete` for DELETE, else `write`, on the area's resource. */
  permission?: Permission;
  /** 201 for a POST to a path without parameters, as that makes something; else 200. */
  status?: 200 | 201;
  /** Errors beyond those of every route (401, 403, 404, 422, 429, 5xx). */
  throws?: readonly ErrorClass[];
}

const actions = {
  GET: 'read',
  DELETE: 'delete',
  POST: 'write',
  PUT: 'write',
  PATCH: 'write',
} as const;

function declare(name: string, about: string | undefined, resource: Resource, method: Method) {
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
      permission: `${resource}:${actions[method]}`,
      status: method === 'POST' && !path.includes('{') ? 201 : 200,
      ...rest,
      method,
      path,
      area: name,
      ...(about !== undefined && { about }),
      errors: throws.map(({ status }) => status),
    });
}

/**
 * Declares routes of an area: `at.get('/v1/email/senders', {…})`.
 * @param about description of the area for the reference; only one file of an area needs it
 * @param resource resource of the permissions; an unknown one is refused when the route is mounted
 */
export function area(name: string, about?: string, resource: Resource = name as Resource) {
  return {
    get: declare(name, about, resource, 'GET'),
    post: declare(name, about, resource, 'POST'),
    put: declare(name, about, resource, 'PUT'),
    patch: declare(name, about, resource, 'PATCH'),
    delete: declare(name, about, resource, 'DELETE'),
  };
}
