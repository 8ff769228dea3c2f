// A route is data: method, path, permission, schemas and a one-line `run`. Areas export lists of
// routes. daemon/http runs them, and derives OpenAPI from the same schemas. A route without a
// permission does not compile, so a forgotten check fails closed.
import type { z } from 'zod';
import type { App } from '../app.ts';
import type { Noun } from './noun.ts';
import type { Permission, PermissionMap } from './permission.ts';

/**
 * Limits of a key: networks that may use it, mailboxes that it reaches, and senders of its mail.
 * Absent fields limit nothing. src/access/keys/constraints.ts interprets them.
 */
export interface KeyConstraints {
  /** Allowed From addresses, in the normal form of src/platform/net/address.ts. */
  senders?: readonly string[] | undefined;
  /** Allowed From domains, in A-labels. */
  domains?: readonly string[] | undefined;
  /** Client networks in CIDR, such as `203.0.113.0/24`. */
  ipRanges?: readonly string[] | undefined;
  /** Limits the key to these mailboxes. */
  mailboxIds?: readonly string[] | undefined;
  /** Limits the key to the mailboxes of this namespace. */
  namespaceId?: string | undefined;
}

export const sendModes = ['none', 'approval', 'send'] as const;

/**
 * `send` sends mail of a key at once, `approval` holds it for a person, `none` refuses it. Only
 * installations of extensions have `none`.
 */
export type SendMode = (typeof sendModes)[number];

/** An installation of an extension, as the caller of an operation. */
export interface CallingInstallation {
  id: string;
  /** Kinds of events that the installation may read. */
  events: readonly string[];
}

/**
 * Kinds of callers: the operator, who can read the store; a key; an installation of an extension,
 * by the key of the installation; or a member of the organization, by a session of the console.
 */
export type By =
  | { kind: 'operator' }
  | { kind: 'key'; keyId: string }
  | { kind: 'installation'; keyId: string }
  | { kind: 'member'; memberId: string; personId: string; email: string };

/** Returns the id of a caller, `key_…` or `mem_…`; null for the operator. */
export function callerId({ by }: Pick<Caller, 'by'>): string | null {
  if (by.kind === 'operator') return null;
  return by.kind === 'member' ? by.memberId : by.keyId;
}

/** Caller of an operation. */
export interface Caller {
  organizationId: string;
  /** Kind of the caller. Rules test this, and not whether `keyId` is null. */
  by: By;
  /** Id of the key; null for the operator and for a member. */
  keyId: string | null;
  /** Id of the first key in the chain of rotations, or of the member; null for the operator. */
  lineage: string | null;
  /** Name of the key, up to half a second old, or of the member. */
  keyName: string | null;
  permissions: PermissionMap;
  roleName: string;
  /** Owner of the key, for rules that allow only a person. */
  owner: 'person' | 'service';
  /** Whether the key is a test key, which reaches only simulator addresses and local mailboxes. */
  isTest: boolean;
  /** Constraints of the key; null for a key without them, and for the operator. */
  constraints: KeyConstraints | null;
  sendMode: SendMode;
  /** Set for the key of an installation of an extension; `keyName` is the name of the extension. */
  installation: CallingInstallation | null;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Request body in chunks, read on demand. */
export interface StreamedBody {
  /** Media type of the body, accepted by the route. */
  type: string;
  chunks: AsyncIterable<Buffer>;
}

/** Response in chunks. Each chunk is made once the previous chunk was sent. */
export interface StreamedAnswer {
  /** Media type of the answer, declared by the route. */
  type: string;
  texts: AsyncIterable<string | Buffer>;
}

/** Request body of a route that is not JSON. */
export interface Takes {
  /** Media types in lower case, the usual type first. */
  types: readonly string[];
  mostBytes: number;
}

/** Argument of `run`, parsed by the route's own schemas. */
export interface RouteRequest<Params, Query, Headers, Body> {
  caller: Caller;
  params: Params;
  query: Query;
  headers: Headers;
  body: Body;
  /** Unparsed request body; only set on routes with `takes`. */
  stream?: StreamedBody | undefined;
  /** Aborts if the client disconnects or the request must yield; only for routes with `waits`. */
  signal?: AbortSignal | undefined;
}

/** Path in OpenAPI's form: `/v1/messages/{id}`. */
export type RoutePath = `/v1/${string}`;

/**
 * Deprecation of an operation (specification 9.3): in the reference and in headers of each
 * response.
 */
export interface Deprecation {
  /** Replacement, as named in the reference. */
  replacement: string;
  /** Start of the deprecation, ISO 8601 (RFC 9745). */
  since: string;
  /** Time of the removal, ISO 8601 (RFC 8594). */
  sunset?: string;
}

/** Response that is a file. */
export interface FileAnswer {
  /** Declared type. daemon/http sends it as a type that no browser runs. */
  contentType: string;
  filename: string | null;
  bytes: Buffer;
  /** Marks a whole mail, sent as a `message/rfc822` download. */
  isMail?: true;
}

/**
 * Answer to a request with `dryRun: true`, status 200: shows the result of the route, and changes
 * nothing.
 */
export interface DryRun<Body = unknown> {
  output: z.ZodType;
  run(
    app: App,
    request: Pick<RouteRequest<unknown, unknown, unknown, Body>, 'caller' | 'body'>,
  ): Promise<unknown>;
}

/** Returns the mailbox of a resource of the organization; null without a mailbox. */
export type MailboxOf = (
  app: App,
  caller: Pick<Caller, 'organizationId'>,
  id: string,
) => Promise<string | null>;

/** Declaration of a route, independent of the area. */
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
  /** Longer text for the reference, where the summary is not enough. */
  description?: string;
  deprecated?: Deprecation;
  params?: Params;
  query?: Query;
  /** Request headers in lower case, e.g. `idempotency-key`. */
  headers?: Headers;
  body?: Body;
  /** The body may be left out altogether. */
  bodyOptional?: boolean;
  /** Accepts a stream instead of a JSON `body`. */
  takes?: Takes;
  /** Media types of a streamed answer: `run` then returns a StreamedAnswer. */
  streams?: readonly string[];
  /**
   * Use of the send rate limit (specification 8.1). True: each request draws on it. `batch`: the
   * first entry of a batch draws on it here, and the rest when the batch runs.
   */
  drawsOnSendRate?: boolean | 'batch';
  /**
   * Whether `run` waits for events with a timer. Such requests have a separate limit of
   * concurrency, and models get no tool for them.
   */
  waits?: boolean;
  /** Whether `run` returns a FileAnswer; `output` is then only a placeholder. */
  sendsFile?: boolean;
  /** Whether the route records a decision of a person. Models get no tool for it. */
  decides?: boolean;
  /**
   * Returns the mailbox of the resource in the path; null without a mailbox. A caller with
   * `mailboxes:send` for that mailbox may then call the route too.
   */
  mailboxOf?: MailboxOf;
  dryRun?: DryRun<z.output<Body>>;
  /** Dotted paths of secrets in the answer, which no later answer shows. */
  shownOnce?: readonly string[];
  output: Output;
  /** Returns the answer as CSV, for requests over HTTP with `format=csv`. */
  writesCsv?(answer: z.input<Output>): string;
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
  /** Description of the area for the reference. */
  about?: string;
  noun?: Noun;
  permission: Permission;
  status: 200 | 201;
  /**
   * Error statuses beyond the statuses that every route may answer (401, 403, 404, 422, 429, 5xx).
   */
  errors?: readonly number[];
}

/** A route with types erased, as the dispatcher mounts it. */
export interface Route {
  readonly method: Method;
  readonly path: RoutePath;
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: Deprecation;
  readonly area: string;
  readonly about?: string;
  readonly noun?: Noun;
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
  readonly waits?: boolean;
  readonly decides?: boolean;
  readonly mailboxOf?: MailboxOf;
  readonly dryRun?: DryRun;
  readonly shownOnce?: readonly string[];
  readonly output: z.ZodType;
  readonly writesCsv?: (answer: unknown) => string;
  readonly errors?: readonly number[];
  run(app: App, request: RouteRequest<unknown, unknown, unknown, unknown>): Promise<unknown>;
}

/** A mounted route with the type of the answer. */
export interface Answering<Answer> extends Route {
  run(app: App, request: RouteRequest<unknown, unknown, unknown, unknown>): Promise<Answer>;
}

/**
 * Right that an operation needs: a permission of the key, or the rights of the operator. `any`
 * lets in every caller: the route shows only resources that the caller may read.
 */
export type Right = Permission | 'operator' | 'any';

/** Part of a route that the door (src/service/door/door.ts) needs. */
export interface Doorway<Answer = unknown>
  extends Pick<
    Route,
    | 'method'
    | 'name'
    | 'params'
    | 'query'
    | 'headers'
    | 'body'
    | 'bodyOptional'
    | 'takes'
    | 'drawsOnSendRate'
    | 'mailboxOf'
    | 'dryRun'
    | 'shownOnce'
  > {
  readonly path: string;
  readonly permission: Right;
  run(app: App, request: RouteRequest<unknown, unknown, unknown, unknown>): Promise<Answer>;
}

/**
 * Declares a route for commands and the console in this process: it has no path over HTTP, and no
 * entry in the reference. A key that is bound to mailboxes reaches the route only by the right
 * `any`, or with `ofMailbox`: the parameter `id` is then a mailbox.
 */
export function internalRoute<
  Answer,
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
>(definition: {
  name: string;
  permission: Right;
  ofMailbox?: true;
  params?: Params;
  query?: Query;
  body?: Body;
  takes?: Takes;
  run(
    app: App,
    request: RouteRequest<z.output<Params>, z.output<Query>, unknown, z.output<Body>>,
  ): Promise<Answer>;
}): Doorway<Answer> {
  const { name, body, takes, ofMailbox } = definition;
  const method = body || takes ? 'POST' : 'GET';
  const path = `${ofMailbox ? '/v1/mailboxes/{id}' : ''}/internal/${name}`;
  return { ...definition, method, path } as unknown as Doorway<Answer>;
}

/** Declares a route; the dispatcher calls `run` only with input accepted by the schemas. */
export function route<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Output extends z.ZodType,
>(definition: RouteDefinition<Params, Query, Headers, Body, Output>): Answering<z.input<Output>> {
  return definition as unknown as Answering<z.input<Output>>;
}
