// `GET /v1/events/stream` and `GET /v1/mailboxes/{id}/events/stream`: the events of an organization
// or a mailbox as they happen, as server-sent events. src/history/events/follow.ts selects and
// orders them. Not routes, because their answers have no end. A key bound to mailboxes sees the
// events of these mailboxes alone.
//
//   stream   by                                                        then
//   open     an event                                                  sent; id is the event's
//   open     an event that the installation may not read, or not here  skipped
//   open     1 s                                                       the key is checked again
//   open     15 s                                                      a comment
//   open     the key is revoked, lost the right or reaches other       ended
//            mailboxes; the daemon stops
//   open     1 MB waits for a reader that does not take it             cut
//   open     a new stream while all are in use: the largest holder's,  ended
//            or that of a reader that takes nothing
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isBound } from '../../../src/access/keys/constraints.ts';
import { allows, type Permission } from '../../../src/core/api/permission.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { parseParts } from '../../../src/core/api/validate.ts';
import type { App } from '../../../src/core/app.ts';
import { followLog } from '../../../src/history/events/follow.ts';
import { type LogEntry, presentEntry } from '../../../src/history/events/log.ts';
import {
  mailboxStreamQuery,
  type StreamHeaders,
  type StreamLog,
  streamHeaders,
  streamQuery,
} from '../../../src/history/events/schema.ts';
import { eventReachOf } from '../../../src/identity/mailboxes/bound-keys.ts';
import { getMailboxRow } from '../../../src/identity/mailboxes/mailbox-rows.ts';
import { mailboxPath } from '../../../src/identity/mailboxes/schema.ts';
import { CapacityError, ForbiddenError } from '../../../src/platform/errors.ts';
import { sleep } from '../../../src/platform/runtime/clock.ts';
import { SharedPool } from '../../../src/platform/runtime/fairness/shared-pool.ts';
import { boundsOf } from '../../../src/platform/store/rows/time-range.ts';
import { authorize, type Dispatcher, routerPath } from '../dispatch.ts';
import { beginServerSent } from './server-sent.ts';

const mostStreams = 100;
const retryAfterSeconds = 30;
const heartbeatMs = 15_000;
/**
 * Interval at which a key is checked again. A revoked key or a disabled installation then ends the
 * streams.
 */
const checkMs = 1_000;
const mostBacklog = 1_048_576;
/** Longest wait for a slow reader; after it, events are written without a wait. */
const patienceMs = 5_000;

/** Path of a stream, with the permission that the key needs. */
interface StreamPath {
  path: string;
  permission: (caller: Caller) => Permission;
  readFilter: (request: FastifyRequest) => StreamFilter;
}

/** Parsed filters of a stream; `mailboxId` is the mailbox of the path. */
type StreamFilter = StreamLog & { lastEventId?: string | undefined; mailboxId?: string };

const streamPaths: readonly StreamPath[] = [
  {
    path: '/v1/events/stream',
    // A key bound to mailboxes may read by this path what `GET /v1/mailboxes/{id}/events` lists.
    permission: ({ constraints, permissions }) =>
      isBound(constraints) && allows(permissions, 'mailboxes:read')
        ? 'mailboxes:read'
        : 'webhooks:read',
    readFilter: (request) => readFilter(request, streamQuery),
  },
  {
    path: '/v1/mailboxes/{id}/events/stream',
    permission: () => 'mailboxes:read',
    readFilter: (request) => {
      const path = { schema: mailboxPath, value: request.params };
      const { id } = parseParts({ path }).path as { id: string };
      return { ...readFilter(request, mailboxStreamQuery), subject: id, mailboxId: id };
    },
  },
];

/** Mounts the streams, at most 100 open at once. Open streams end when the server closes. */
export function mountEventStreams(server: FastifyInstance, dispatcher: Dispatcher): void {
  const open = new Set<AbortController>();
  const pool = new SharedPool(mostStreams);
  server.addHook('preClose', async () => {
    for (const ending of open) ending.abort();
  });
  for (const stream of streamPaths) mountStream(server, dispatcher, stream, open, pool);
}

function mountStream(
  server: FastifyInstance,
  { app, authenticate, workload }: Dispatcher,
  { path, permission, readFilter }: StreamPath,
  open: Set<AbortController>,
  pool: SharedPool,
): void {
  server.route({
    method: 'GET',
    url: routerPath(path),
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const way = { method: 'GET', path, permission } as const;
      const letIn = () => authorize({ app, authenticate }, way, request);
      const ending = new AbortController();
      const { log, caller, leave } = await workload.begin(async () => {
        const caller = await letIn();
        const filter = readFilter(request);
        if (filter.mailboxId !== undefined) {
          await getMailboxRow(app.store.db, caller.organizationId, filter.mailboxId);
        }
        const place = pool.enter({
          holder: caller.organizationId,
          pace: () => (reply.raw.writableLength > 0 ? 0 : Number.POSITIVE_INFINITY),
          evict: () => ending.abort(),
        });
        if (!place) throw crowded();
        open.add(ending);
        const leave = () => {
          open.delete(ending);
          place.leave();
        };
        const log = await follow(app, caller, filter, ending.signal).catch((error: unknown) => {
          leave();
          throw error;
        });
        return { log, caller, leave };
      });
      const raw = beginServerSent(reply);
      raw.on('close', () => ending.abort());
      const readsOn = async () => {
        const now = await letIn();
        if (!hasSameReach(now, caller)) throw new ForbiddenError('The mailboxes have changed');
        return now;
      };
      const stopBeating = keepAlive(app, raw, ending, readsOn);
      try {
        await streamEvents(
          app,
          raw,
          log,
          ending,
          caller.installation ? readsOn : async () => caller,
        );
      } catch (error) {
        app.log.error(
          { err: error, requestId: request.id },
          'the stream of events ended with an error',
        );
      } finally {
        stopBeating();
        leave();
        raw.end();
      }
    },
  });
}

function crowded(): CapacityError {
  const text = 'Your organization has too many open event streams: close one';
  return new CapacityError(text, retryAfterSeconds, { reason: 'capacity-streams' });
}

/** Returns whether a key still reads the same events as when the stream began. */
function hasSameReach(now: Caller, before: Caller): boolean {
  return (
    now.organizationId === before.organizationId &&
    JSON.stringify(now.constraints) === JSON.stringify(before.constraints)
  );
}

function readFilter(
  { query, headers }: FastifyRequest,
  schema: typeof streamQuery | typeof mailboxStreamQuery,
) {
  // A client without an event id may send an empty header.
  const value = pickId(headers['last-event-id']);
  const parsed = parseParts({
    query: { schema, value: query },
    headers: { schema: streamHeaders, value },
  });
  const filter = parsed.query as StreamLog;
  const { 'last-event-id': lastEventId } = parsed.headers as StreamHeaders;
  return { ...filter, lastEventId };
}

function pickId(id: unknown): object {
  return id === undefined || id === '' ? {} : { 'last-event-id': id };
}

function follow(
  app: App,
  caller: Caller,
  { type, subject, lastEventId: after, ...range }: StreamFilter,
  signal: AbortSignal,
): Promise<AsyncGenerator<LogEntry>> {
  const { from } = boundsOf(range);
  const following = { types: type, subject, after, since: from, reach: eventReachOf(app, caller) };
  return followLog(app, caller.organizationId, following, signal);
}

/** Sends a comment at intervals and checks the key again. Returns a function that ends both. */
function keepAlive(
  app: App,
  raw: ServerResponse,
  ending: AbortController,
  readsOn: () => Promise<Caller>,
): () => void {
  let cancel = () => {};
  let quietMs = 0;
  const beat = async () => {
    const isLetIn = await readsOn().then(
      () => true,
      () => false,
    );
    if (!isLetIn) return ending.abort();
    quietMs += checkMs;
    if (quietMs >= heartbeatMs) {
      quietMs = 0;
      if (raw.writableLength <= mostBacklog) raw.write(':\n\n');
    }
    if (!ending.signal.aborted) cancel = app.clock.after(checkMs, () => void beat());
  };
  cancel = app.clock.after(checkMs, () => void beat());
  return () => cancel();
}

/** Returns whether a caller may read events of this kind in a stream. */
function isReadBy({ installation }: Caller, { type }: LogEntry): boolean {
  return installation === null || installation.events.includes(type);
}

async function streamEvents(
  app: App,
  raw: ServerResponse,
  log: AsyncGenerator<LogEntry>,
  ending: AbortController,
  readerNow: () => Promise<Caller>,
): Promise<void> {
  const { signal } = ending;
  /** Set after a reader accepted nothing for `patienceMs`, until it accepts bytes again. */
  let isSlow = false;
  raw.on('drain', () => {
    isSlow = false;
  });
  for await (const entry of log) {
    const reader = await readerNow().catch(() => null);
    if (reader === null) return ending.abort();
    if (!isReadBy(reader, entry)) continue;
    const item = await presentEntry(app, reader, entry);
    if (signal.aborted) return;
    const isTaken = raw.write(
      `id: ${item.id}\nevent: ${item.type}\ndata: ${JSON.stringify(item)}\n\n`,
    );
    if (raw.writableLength > mostBacklog) {
      raw.destroy();
      return;
    }
    if (!(isTaken || isSlow)) isSlow = !(await drained(app, raw, signal));
  }
}

/**
 * Waits until the reader has accepted the backlog. Returns false if this takes longer than
 * `patienceMs`.
 */
async function drained(app: App, raw: ServerResponse, signal: AbortSignal): Promise<boolean> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const drain = once(raw, 'drain', { signal: either }).then(
    () => true,
    () => false,
  );
  const patience = sleep(app.clock, patienceMs, either).then(() => false);
  const isDrained = await Promise.race([drain, patience]);
  done.abort();
  return isDrained;
}
