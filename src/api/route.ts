// A route is data: method, path, permission, schemas and a one-line `run`.
// Areas export lists of them; daemon/http supplies the mechanics and derives OpenAPI from the same
// schemas. A route cannot be declared without a permission, so the table fails closed.
import type { z } from 'zod';
import type { App } from '../app.ts';
import type { Permission, PermissionMap } from './permission.ts';

/**
 * Where a key may be used from, what it reaches, and whom its mail may come from; what is absent limits
 * nothing.
 * How each is read: src/keys/constraints.ts.
 */
export interface KeyConstraints {
  /** From addresses, in the normal form of src/net/address.ts. */
  senders?: readonly string[] | undefined;
  /** From domains, in A-labels. */
  domains?: readonly string[] | undefined;
  /** CIDR, such as `203.0.113.0/24`. */
  ipRanges?: readonly string[] | undefined;
  /** It reaches these mailboxes alone. */
  mailboxIds?: readonly string[] | undefined;
  /** It reaches the mailboxes of this namespace alone. */
  namespaceId?: string | undefined;
}

/** Whether what a key sends goes at once, or waits for the approval of a person. */
export type SendMode = 'send' | 'approval';

/** Who asks: a key over HTTP, or the operator at the command line (`keyId` null). */
export interface Caller {
  organizationId: string;
  keyId: string | null;
  /** The name of the key; may lag a rename by half a second. */
  keyName: string | null;
  permissions: PermissionMap;
  roleName: string;
  /** Held by a person or by a service; "only a person" rules look here. */
  owner: 'person' | 'service';
  /** A test key reaches only simulator addresses and local mailboxes. */
  isTest: boolean;
  /** Null for a key without, and for the operator. */
  constraints: KeyConstraints | null;
  sendMode: SendMode;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A body that comes in pieces, read as they are asked for. */
export interface StreamedBody {
  /** One of the media types that the route takes. */
  type: string;
  chunks: AsyncIterable<Buffer>;
}

/** An answer that leaves in pieces, each made when the one before was taken. */
export interface StreamedAnswer {
  /** One of the media types that the route streams. */
  type: string;
  texts: AsyncIterable<string>;
}

/** What a route takes in the place of JSON. */
export interface Takes {
  /** Media types in lower case, the usual one first. */
  types: readonly string[];
  mostBytes: number;
}

/** What `run` gets: everything parsed by the route's own schemas. */
export interface RouteRequest<Params, Query, Headers, Body> {
  caller: Caller;
  params: Params;
  query: Query;
  headers: Headers;
  body: Body;
  /** Of a route that takes one. */
  stream?: StreamedBody | undefined;
}

/** In OpenAPI's form: `/v1/messages/{id}`. */
export type RoutePath = `/v1/${string}`;

/** An operation that will go (specification 9.3): flagged in the reference, told with each answer. */
export interface Deprecation {
  /** What to use in its place, in the reference's words. */
  replacement: string;
  /** ISO 8601: since when nobody should begin to use it (RFC 9745). */
  since: string;
  /** ISO 8601: when it goes, once that is scheduled (RFC 8594). */
  sunset?: string;
}

/** An answer that is a file. */
export interface FileAnswer {
  /** As it is said to be; it is sent as what no browser runs. */
  contentType: string;
  filename: string | null;
  bytes: Buffer;
  /** A whole mail: it is named as such (`message/rfc822`), and saved. */
  isMail?: true;
}

/** What a route says of itself, wherever it is. */
export interface RouteParts<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Output extends z.ZodType,
> {
  /** OpenAPI operationId, camelCase. */
  name: string;
  summary: string;
  /** Longer prose for the reference, where the summary is not enough. */
  description?: string;
  deprecated?: Deprecation;
  params?: Params;
  query?: Query;
  /** Request headers in lower case, e.g. `idempotency-key`. */
  headers?: Headers;
  body?: Body;
  /** The body may be left out altogether. */
  bodyOptional?: boolean;
  /** Its body is no JSON but a stream; it declares no `body`. */
  takes?: Takes;
  /** Media types of an answer that is a stream: `run` gives a StreamedAnswer. */
  streams?: readonly string[];
  /** Draws one on the send rate limit (specification 8.1); a batch draws the rest when it runs. */
  drawsOnSendRate?: boolean | 'batch';
  /** `run` gives a FileAnswer, which `output` only stands for. */
  sendsFile?: boolean;
  output: Output;
  run(
    app: App,
    request: RouteRequest<z.output<Params>, z.output<Query>, z.output<Headers>, z.output<Body>>,
  ): Promise<z.input<Output>>;
}

interface RouteDefinition<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Output extends z.ZodType,
> extends RouteParts<Params, Query, Headers, Body, Output> {
  method: Method;
  path: RoutePath;
  area: string;
  /** What the area is about, in the reference. */
  about?: string;
  permission: Permission;
  status: 200 | 201;
  /** Error statuses beyond those that every route may answer (401, 403, 404, 422, 429, 5xx). */
  errors?: readonly number[];
}

/** A route with its types erased, as the dispatcher mounts it. */
export interface Route {
  readonly method: Method;
  readonly path: RoutePath;
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: Deprecation;
  readonly area: string;
  readonly about?: string;
  readonly permission: Permission;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly headers?: z.ZodType;
  readonly body?: z.ZodType;
  readonly bodyOptional?: boolean;
  readonly takes?: Takes;
  readonly streams?: readonly string[];
  readonly drawsOnSendRate?: boolean | 'batch';
  readonly status: 200 | 201;
  readonly sendsFile?: boolean;
  readonly output: z.ZodType;
  readonly errors?: readonly number[];
  run(app: App, request: RouteRequest<unknown, unknown, unknown, unknown>): Promise<unknown>;
}

/** A route that tells what it answers. */
export interface Answering<Answer> extends Route {
  run(app: App, request: RouteRequest<unknown, unknown, unknown, unknown>): Promise<Answer>;
}

/** Declares a route; the dispatcher only ever calls `run` with what the schemas let through. */
export function route<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Output extends z.ZodType,
>(definition: RouteDefinition<Params, Query, Headers, Body, Output>): Answering<z.input<Output>> {
  return definition as unknown as Answering<z.input<Output>>;
}
