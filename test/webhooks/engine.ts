// Endpoints, events and deliveries as the rest of the service would make them, and a receiver on
// loopback that a test writes line by line.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { App } from '../../src/core/app.ts';
import { insertResourceEvents } from '../../src/history/events/queries.ts';
import { moveCounts } from '../../src/webhooks/deliveries/counters.ts';
import { knownEndpoints } from '../../src/webhooks/endpoints/known-endpoints.ts';
import { sealHeaders, sealSecret } from '../../src/webhooks/endpoints/secrets.ts';
import { secretFrom } from '../../src/webhooks/posting/signature.ts';
import type { AttemptRow, DeliveryRow, EndpointRow } from '../../src/webhooks/rows.ts';
import { webhookNoun } from '../../src/webhooks/schema.ts';
import type { TestApp } from '../support/test-app.ts';

export const loopbackConfig = { webhooks: { allowPrivateAddresses: true } };

export interface Received {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Sends the next answers; 204 by default. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

export function status(code: number, headers: Record<string, string> = {}, text = '') {
  return (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(code, headers).end(text);
  };
}

export async function receiver(): Promise<Receiver> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      const body = Buffer.concat(chunks).toString('utf8');
      one.received.push({ url: request.url ?? '', headers, body });
      one.answer(request, response);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const one: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    received: [],
    answer: status(204),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return one;
}

/** A receiver below HTTP: the test handles each connection. */
export async function rawReceiver(take: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    take(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    sockets,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

export const secret = secretFrom('a secret of tests');

export async function makeEndpoint(
  { app, caller }: TestApp,
  url: string,
  more: Partial<EndpointRow> & { plainSecret?: string; plainHeaders?: Record<string, string> } = {},
): Promise<string> {
  const id = app.newId(webhookNoun);
  const { plainSecret = secret, plainHeaders, ...columns } = more;
  const now = app.clock.now();
  const row: EndpointRow = {
    id,
    organization_id: caller.organizationId,
    name: null,
    url,
    events: '["*"]',
    channels: '["email"]',
    headers: sealHeaders(app, id, plainHeaders ?? null),
    status: 'active',
    disabled_reason: null,
    secret: sealSecret(app, id, plainSecret),
    previous_secret: null,
    previous_until: null,
    failing_since: null,
    cancel_before: null,
    installation_id: null,
    reach: null,
    permissions: null,
    created_at: now,
    updated_at: now,
    ...columns,
  };
  await insertRow(app, 'webhook_endpoints', row);
  knownEndpoints(app).forget();
  return id;
}

async function insertRow(app: App, table: string, row: object): Promise<void> {
  const names = Object.keys(row).map((name) => sql.ref(name));
  const values = Object.values(row).map((value) => sql`${value}`);
  await app.store.write((trx) =>
    sql`insert into ${sql.table(table)} (${sql.join(names)}) values (${sql.join(values)})`.execute(
      trx,
    ),
  );
}

/** Makes `count` events of a domain with a delivery each, and their bodies. */
export async function makeDeliveries(
  { app, caller }: TestApp,
  endpointId: string,
  count: number,
  more: Partial<DeliveryRow> & { data?: object } = {},
): Promise<string[]> {
  const { data = { id: 'dom_1', name: 'a' }, ...columns } = more;
  const now = app.clock.now();
  const ids: string[] = [];
  await app.store.write(async (trx) => {
    for (let i = 0; i < count; i++) {
      const event = {
        organization_id: caller.organizationId,
        id: app.newId('event'),
        event_type: 'domain.verified',
        subject: 'dom_1',
        timestamp: now,
        data: JSON.stringify(data),
        facts: null,
      };
      await insertResourceEvents(trx, [event]);
      const row: DeliveryRow = {
        id: app.newId('webhookDelivery'),
        organization_id: caller.organizationId,
        endpoint_id: endpointId,
        event_id: event.id,
        event_type: event.event_type,
        message_id: null,
        status: 'pending',
        attempt_count: 0,
        due_at: now,
        claimed_by: null,
        is_replay: 0,
        last_attempt_at: null,
        created_at: now,
        updated_at: now,
        ...columns,
      };
      const names = Object.keys(row).map((name) => sql.ref(name));
      const values = Object.values(row).map((value) => sql`${value}`);
      await sql`insert into webhook_deliveries (${sql.join(names)}) values (${sql.join(values)})`.execute(
        trx,
      );
      const madeAt = row.created_at;
      await moveCounts(trx, [{ endpointId, madeAt, from: null, to: row.status }]);
      ids.push(row.id);
    }
  });
  return ids;
}

export async function deliveryRow({ store }: App, id: string): Promise<DeliveryRow> {
  const { rows } =
    await sql<DeliveryRow>`select * from webhook_deliveries where id = ${id}`.execute(store.db);
  if (!rows[0]) throw new Error(`no delivery ${id}`);
  return rows[0];
}

export async function endpointRow({ store }: App, id: string): Promise<EndpointRow> {
  const { rows } = await sql<EndpointRow>`select * from webhook_endpoints where id = ${id}`.execute(
    store.db,
  );
  if (!rows[0]) throw new Error(`no endpoint ${id}`);
  return rows[0];
}

export async function attemptRows({ store }: App, id: string): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select * from webhook_attempts where delivery_id = ${id} order by id`.execute(store.db);
  return rows;
}

/** Returns the counters of the statistics, and the counts of the rows. */
export async function countsOf({ store }: App, endpointId: string) {
  const { rows: counted } = await sql<Record<string, number>>`
    select cast(coalesce(sum(pending), 0) as integer) as pending,
      cast(coalesce(sum(delivered), 0) as integer) as delivered,
      cast(coalesce(sum(exhausted), 0) as integer) as exhausted,
      cast(coalesce(sum(cancelled), 0) as integer) as cancelled
    from webhook_counters where endpoint_id = ${endpointId}`.execute(store.db);
  const { rows } = await sql<{ status: string; n: number }>`
    select status, cast(count(*) as integer) as n from webhook_deliveries
    where endpoint_id = ${endpointId} group by status`.execute(store.db);
  const zero = { pending: 0, delivered: 0, exhausted: 0, cancelled: 0 };
  const byRows = { ...zero, ...Object.fromEntries(rows.map(({ status, n }) => [status, n])) };
  return { counted: { ...counted[0] }, byRows };
}

/** Real time: a suite beside this one can make a wait ten times as long. */
const longestWaitMs = 45_000;

/** Waits for real input and output with the virtual clock standing. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < longestWaitMs) {
    if (await holds()) return;
    await nextTurn();
  }
  throw new Error('the condition did not come true');
}
