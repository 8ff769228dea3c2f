// The single door to the service: HTTP, console, MCP and commands ask routes through it. In
// this order:
//
//   check                                | refuses with     | for the operator
//   -------------------------------------+------------------+------------------------
//   networks of the key, place, mailbox  | ForbiddenError   | nothing is limited
//   permission, send mode                | ForbiddenError   | has all
//   send rate                            | RateLimitedError | of commands: no bucket
//   fields, all at once                  | ValidationError  | as for all
//   the route itself: existence, state   | errors of route  | as for all
import { outsideRanges, refusedAtDoor } from '../../access/keys/constraints.ts';
import { mailboxRight } from '../../access/keys/send-checks.ts';
import type { Caller, Doorway, StreamedBody } from '../../core/api/route.ts';
import { parseParts, requestSchemas } from '../../core/api/validate.ts';
import type { App } from '../../core/app.ts';
import { requireMailboxOfNamespace } from '../../identity/mailboxes/bound-keys.ts';
import { ForbiddenError } from '../../platform/errors.ts';

/** Counts a request against the rate limits. @throws RateLimitedError */
export type Admit = (
  caller: Caller,
  way: Pick<Doorway, 'name' | 'drawsOnSendRate'>,
) => Promise<void>;

export interface Door {
  app: App;
  /** Missing for commands, because no rate limit applies to the operator. */
  admit?: Admit | undefined;
}

/** Unparsed parts of a request. Names of headers are in lower case. */
export interface Input {
  params?: object;
  query?: object;
  headers?: object;
  body?: unknown;
  stream?: StreamedBody;
  /** Aborts once the caller is gone or must yield. */
  signal?: AbortSignal;
  /** Whether the texts of the body are known to have no forbidden characters. */
  hasPlainBody?: boolean;
  /** Runs a changing operation, after the check of the fields; for idempotency keys (claims.ts). */
  around?: Around | undefined;
}

/** Validated parts of a request, from which the fingerprint of an idempotency key is made. */
export interface Checked {
  params: unknown;
  query: unknown;
  body: unknown;
}

export type Around = <Answer>(run: () => Promise<Answer>, checked: Checked) => Promise<Answer>;

/** Fields of a route for the checks that run before the fields of a request are read. */
export type Entrance = Pick<Doorway, 'permission' | 'method' | 'path' | 'mailboxOf'>;

/** Origin of a request: the remote address of the connection, and the `{id}` in the path. */
export interface From {
  peer?: string | undefined;
  id?: string | undefined;
}

/**
 * Checks network, permission and mailboxes of a caller, before any field is read. @throws
 * ForbiddenError
 */
export async function letIn(app: App, caller: Caller, way: Entrance, from: From): Promise<void> {
  const { permission, method, path } = way;
  const { peer, id } = from;
  if (permission === 'operator') {
    if (caller.by.kind === 'operator') return;
    throw new ForbiddenError('Only the operator may do this: "svc open" signs in as one');
  }
  const refusal =
    permission === 'any'
      ? outsideRanges(caller, peer)
      : refusedAtDoor(caller, peer, permission, { method, path, id });
  if (refusal) {
    const mailboxId = id === undefined ? null : ((await way.mailboxOf?.(app, caller, id)) ?? null);
    if (mailboxId === null) throw refusal;
    const { place, ...needed } = mailboxRight(mailboxId);
    return letIn(app, caller, { ...needed, ...place }, { peer, id: mailboxId });
  }
  if (permission === 'any') return;
  if (caller.constraints?.namespaceId !== undefined)
    await requireMailboxOfNamespace(app, caller, id);
}

/**
 * Checks a caller as `letIn` does, and draws on the send rate. @throws ForbiddenError,
 * RateLimitedError
 */
export async function enter(
  { app, admit }: Door,
  caller: Caller,
  way: Doorway,
  from: From,
): Promise<void> {
  await letIn(app, caller, way, from);
  if (way.drawsOnSendRate) await admit?.(caller, way);
}

/**
 * Checks the fields of the request of an admitted caller, and runs the route.
 * @throws ValidationError with the problems of all fields; errors of the route
 */
export async function answer<Answer>(
  app: App,
  caller: Caller,
  way: Doorway<Answer>,
  { params = {}, query = {}, headers = {}, body, hasPlainBody = false, around, ...beside }: Input,
): Promise<Answer> {
  const schemas = requestSchemas(way);
  const readsBody = way.method !== 'GET' && !way.takes;
  const isLeftOut = body === undefined && way.bodyOptional === true;
  const isEmpty = isLeftOut && !schemas.body.safeParse(undefined).success;
  const { path, ...parsed } = parseParts({
    path: { schema: schemas.path, value: params },
    query: { schema: schemas.query, value: query },
    headers: { schema: way.headers, value: headers },
    body: {
      schema: readsBody ? schemas.body : undefined,
      value: isEmpty ? {} : body,
      isPlain: hasPlainBody,
    },
  });
  const isDry = isDryRun(parsed.body) || isDryRun(parsed.query);
  const { run } = (isDry && way.dryRun) || way;
  const input = { caller, ...parsed, params: path, ...beside };
  const answering = () => run(app, input) as Promise<Answer>;
  if (!around || isDry) return answering();
  return around(answering, { params: path, query: parsed.query, body: parsed.body });
}

/** Tells whether a body or a query asks for a dry run. */
export function isDryRun(part: unknown): boolean {
  return (part as { dryRun?: boolean } | undefined)?.dryRun === true;
}

/**
 * Runs a route for a caller: checks the caller, checks the fields, runs the route. @throws the
 * errors of `enter`, `answer` and the route
 */
export async function ask<Answer>(
  door: Door,
  caller: Caller,
  way: Doorway<Answer>,
  input: Input = {},
  peer?: string,
): Promise<Answer> {
  const { id } = (input.params ?? {}) as { id?: string };
  await enter(door, caller, way, { peer, id });
  return answer(door.app, caller, way, input);
}
