// Two daemons on one PostgreSQL that lock the same rows do so in one order, so that neither is the
// victim of a deadlock. A third transaction holds the row that one daemon asks for first: if the
// other held on to its own first row meanwhile, they would deadlock when that row is free.
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { beat, deleteDaemons } from '../../src/access/admission/queries.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { createKey } from '../../src/access/keys/keys.ts';
import { updateLastUsed } from '../../src/access/keys/queries.ts';
import type { App } from '../../src/core/app.ts';
import {
  type DeliveryRow,
  findDeliveries,
  lockDeliveries,
} from '../../src/outbound/deliveries/queries.ts';
import { keepContents } from '../../src/outbound/messages/contents/content-queries.ts';
import { deleteMessage } from '../../src/outbound/messages/messages.ts';
import { findMessageRows } from '../../src/outbound/messages/queries.ts';
import {
  deleteLaneStatesBefore,
  upsertLaneStates,
} from '../../src/outbound/queue/lanes/lane-queries.ts';
import { cancelMessage } from '../../src/outbound/queue/schedule/cancel.ts';
import {
  applyLateOutcomes,
  type LateOutcome,
} from '../../src/outbound/queue/settling/late-outcome.ts';
import { sendBatch } from '../../src/outbound/sending/batch.ts';
import type { Db, Store } from '../../src/platform/store/db.ts';
import { disableEndpoint } from '../../src/webhooks/endpoints/disable.ts';
import { lockEndpoints } from '../../src/webhooks/endpoints/queries.ts';
import { heldWrite } from '../outbound/messages/fixtures.ts';
import { payloadFor, send } from '../support/delivery.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { endpointRow, makeEndpoint } from '../webhooks/engine.ts';

let service: TestApp;
let app: App;
let other: App;
/** Number of transactions of either daemon that were run again. */
let reruns: number;

beforeEach(async () => {
  service = await testApp({ store: 'postgres' });
  app = service.app;
  other = await service.another();
  reruns = 0;
  for (const { store } of [app, other]) countReruns(store);
});
afterEach(() => service.close());

function countReruns(store: Store): void {
  const { write } = store;
  const counting: Store['write'] = (work, durability) => {
    let runs = 0;
    return write((trx) => {
      if (runs++ > 0) reruns += 1;
      return work(trx);
    }, durability);
  };
  Object.assign(store, { write: counting });
}

const byText = (a: string, b: string) => (a < b ? -1 : 1);

/** Resolves when `wanted` transactions wait for others with a lock on this table. */
async function waiting(table: string, wanted: number): Promise<void> {
  const query = sql<{ n: number }>`select count(distinct pid) as n from pg_locks where not granted
    and pid in (select pid from pg_locks where relation = ${table}::regclass)`;
  while (Number((await query.execute(app.store.db)).rows[0]?.n) < wanted);
}

/**
 * Starts both, in this order, while a transaction holds the rows that `hold` locks; then releases
 * them.
 */
async function meetAt(
  table: string,
  hold: (trx: Db) => Promise<unknown>,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<void> {
  const held = await heldWrite(app, hold);
  const firstDone = first();
  await waiting(table, 1);
  const secondDone = second();
  await waiting(table, 2);
  await held.commit();
  await Promise.all([firstDone, secondDone]);
  expect(reruns).toBe(0);
}

/** Runs the first part of both, then the second part of both. */
async function crosswise(
  parts: (trx: Db, own: string, others: string) => [() => Promise<unknown>, () => Promise<unknown>],
): Promise<void> {
  const met = Promise.withResolvers<void>();
  let came = 0;
  const run = (daemon: App, own: string, others: string) =>
    daemon.store.write(async (trx) => {
      const [before, after] = parts(trx, own, others);
      await before();
      if (++came === 2) met.resolve();
      await met.promise;
      await after();
    });
  await Promise.all([run(app, 'a', 'b'), run(other, 'b', 'a')]);
  expect(reruns).toBe(0);
}

const batchOf = (daemon: App, bodies: readonly string[]) =>
  sendBatch(
    daemon,
    service.caller,
    bodies.map((text) => payloadFor('ada@example.com', { email: { text } })),
    null,
  );

it('sends lock recurring bodies in one order', async () => {
  const made = await batchOf(app, ['one', 'two']);
  const ids = made.flatMap((result) => ('message' in result ? result.message.id : []));
  const rows = await findMessageRows(app.store.db, ids);
  const [first = '', second = ''] = rows.map(({ content_id }) => content_id ?? '').sort(byText);
  expect(first).not.toBe(second);
  await meetAt(
    'contents',
    (trx) => keepContents(trx, [first]),
    () => batchOf(app, ['one', 'two']),
    () => batchOf(app, ['two', 'one']),
  );
  expect(await usesOf([first, second])).toEqual([3, 3]);
});

async function usesOf(ids: readonly string[]): Promise<number[]> {
  const { rows } = await sql<{ uses: number }>`select uses from contents
    where id = any(${ids})`.execute(app.store.db);
  return rows.map(({ uses }) => uses);
}

const bounced: LateOutcome = {
  kind: 'bounced',
  errorCode: 'unknown',
  isHard: true,
  code: 550,
  enhancedCode: '5.1.1',
  text: 'no such user',
  remoteMta: null,
};

async function sentTo(...to: string[]): Promise<{ id: string; rows: DeliveryRow[] }> {
  const { id } = await send(app, service.caller, to);
  return { id, rows: await findDeliveries(app.store.db, [id]) };
}

it('a deletion locks deliveries before their message, like a cancel', async () => {
  const { id, rows } = await sentTo('ada@example.com');
  await meetAt(
    'deliveries',
    (trx) =>
      lockDeliveries(
        trx,
        rows.map((row) => row.id),
      ),
    () => cancelMessage(app, service.caller, id),
    () => deleteMessage(other, service.caller, id),
  );
});

it('a report locks deliveries before their message, like a cancel', async () => {
  const { id, rows } = await sentTo('ada@example.com', 'bob@example.com');
  const reported = rows.toReversed().map((delivery) => ({ delivery, outcome: bounced }));
  await meetAt(
    'deliveries',
    (trx) =>
      lockDeliveries(
        trx,
        rows.slice(0, 1).map((row) => row.id),
      ),
    () => cancelMessage(app, service.caller, id),
    () => other.store.write((trx) => applyLateOutcomes(other, trx, reported)),
  );
});

it('two reports of the same deliveries lock them in one order', async () => {
  const { rows } = await sentTo('ada@example.com', 'bob@example.com');
  await sql`update deliveries set status = 'sent'`.execute(app.store.db);
  const reported = rows.map((delivery) => ({ delivery, outcome: bounced }));
  await meetAt(
    'deliveries',
    (trx) =>
      lockDeliveries(
        trx,
        rows.slice(0, 1).map((row) => row.id),
      ),
    () => app.store.write((trx) => applyLateOutcomes(app, trx, reported)),
    () => other.store.write((trx) => applyLateOutcomes(other, trx, reported.toReversed())),
  );
});

it('daemons write the last use of keys in one order', async () => {
  const ids: string[] = [];
  const keys: string[] = [];
  for (let i = 0; i < 2; i++) {
    const { id, key } = await createKey(app, service.operator, { role: 'admin' });
    ids.push(id);
    keys.push(key ?? '');
  }
  const flush = async (daemon: App, used: readonly string[]) => {
    const authenticator = createAuthenticator(daemon);
    for (const key of used) await authenticator.authenticate(key);
    await authenticator.flushLastUsed();
  };
  const [first = ''] = ids.toSorted(byText);
  await meetAt(
    'api_keys',
    (trx) => updateLastUsed(trx, first, 1),
    () => flush(app, keys),
    () => flush(other, keys.toReversed()),
  );
});

it('daemons that delete each other as dead and send heartbeats do not deadlock', async () => {
  const noState = { root_keys: '', settings: null };
  await app.store.write(async (trx) => {
    for (const id of ['a', 'b']) await beat(trx, { id, ...noState });
  });
  await crosswise((trx, own, others) => [
    () => beat(trx, { id: own, ...noState }),
    () => deleteDaemons(trx, [others]),
  ]);
});

it('daemons that report their lanes after a pause do not deadlock', async () => {
  const row = (worker: string, at: number) => ({ worker, reported_at: at, lanes: '[]' });
  await app.store.write(async (trx) => {
    for (const id of ['a', 'b']) await upsertLaneStates(trx, row(id, 1));
  });
  await crosswise((trx, own) => [
    () => upsertLaneStates(trx, row(own, 3)),
    () => deleteLaneStatesBefore(trx, 2),
  ]);
});

it('daemons that disable two endpoints at once do not deadlock', async () => {
  const ids: Record<string, string> = {};
  for (const name of ['a', 'b']) ids[name] = await makeEndpoint(service, 'http://127.0.0.1:1/');
  await crosswise((trx, own) => {
    const id = ids[own] ?? '';
    const daemon = own === 'a' ? app : other;
    return [
      () => lockEndpoints(trx, [id]),
      async () => disableEndpoint(daemon, trx, await endpointRow(daemon, id), 'it is gone'),
    ];
  });
});

it('an event is queued without waiting for an endpoint with posts being settled', async () => {
  const id = await makeEndpoint(service, 'http://127.0.0.1:1/');
  const held = await heldWrite(app, (trx) => lockEndpoints(trx, [id]));
  await send(other, service.caller, 'ada@simulator.test');
  await held.commit();
  const { rows } = await sql`select 1 from webhook_deliveries`.execute(app.store.db);
  expect(rows).toHaveLength(1);
  expect(reruns).toBe(0);
});
