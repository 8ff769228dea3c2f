// Mail to persons belongs to the service: no organization sees it, nothing of an organization stops
// it, and it goes first. Walks all tables of the store and all routes that read.
import { PassThrough } from 'node:stream';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { organizationIdFrom } from '../../../../commands/base/nouns/organization-id.ts';
import { routes } from '../../../../daemon/http/routes.ts';
import { createMember } from '../../../../src/access/members/members.ts';
import {
  listOrganizations,
  pauseOrganization,
  updateOrganization,
} from '../../../../src/access/organizations/organizations.ts';
import { organizationIdsEnding } from '../../../../src/access/organizations/queries.ts';
import { holdQueue } from '../../../../src/outbound/queue/desk/holds.ts';
import { listQueue } from '../../../../src/outbound/queue/desk/queue.ts';
import { createBlock } from '../../../../src/people/blocks/blocks.ts';
import { serviceOrganizationId } from '../../../../src/platform/runtime/ids.ts';
import type { Db } from '../../../../src/platform/store/db.ts';
import { migratedTables } from '../../../../src/platform/store/migrate.ts';
import { useToday } from '../../../access/admission/fixtures.ts';
import { stores } from '../../../support/command.ts';
import { send } from '../../../support/delivery.ts';
import { httpApi } from '../../../support/http-client.ts';
import { type PeopleWorld, peopleWorld } from './people-world.ts';

const ada = 'ada@gmail.example';
const minute = 60_000;
const hour = 60 * minute;

/** Invites a person by mail. */
const invite = ({ app, test }: PeopleWorld) =>
  createMember(app, test.operator, {
    email: 'ben@gmail.example',
    role: 'editor',
    name: null,
    mail: true,
  });

/** Lets time pass in steps; attempts of each step end first. */
async function pass(world: PeopleWorld, steps: number, ms: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await world.pipeline().idle();
    await world.test.clock.advance(ms);
  }
  await world.pipeline().idle();
}

interface Attempts {
  status: string;
  attempts: string;
  error_message: string;
  id: string;
  message_id: string;
}

/** Returns the deliveries of the service. */
async function ofService(db: Db): Promise<Attempts[]> {
  const { rows } = await sql<Attempts>`
    select id, message_id, status, attempts, error_message from deliveries
    where organization_id = ${serviceOrganizationId} order by id`.execute(db);
  return rows;
}

describe.each(stores)('mail to persons, on %s', (store) => {
  let world: PeopleWorld;
  beforeEach(async () => {
    world = await peopleWorld(store);
    await world.join(ada);
  });
  afterEach(() => world.close());

  it('with a link to sign in is tried at 0, 1, 3, 7 and 12 minutes, and then dropped', async () => {
    const { app, sink, test } = world;
    const pipeline = world.pipeline();
    const start = test.clock.now();
    sink.on({ verb: 'RCPT' }, '451 4.7.1 greylisted');
    await world.ask(ada);
    for (let passed = 0; passed <= 20; passed++) {
      await pipeline.idle();
      await test.clock.advance(minute);
    }
    await pipeline.idle();
    const [delivery] = await ofService(app.store.db);
    const attempts = JSON.parse(delivery?.attempts ?? '[]') as { at: string }[];
    const minutes = attempts.map(({ at }) => Math.round((Date.parse(at) - start) / minute));
    expect(minutes).toEqual([0, 1, 3, 7, 12]);
    expect(delivery?.status).toBe('failed');
  });

  it('with an invitation waits for a server that greylists for two hours', async () => {
    const { sink, test } = world;
    const off = sink.on({ verb: 'RCPT' }, '451 4.7.1 greylisted');
    await invite(world);
    await pass(world, 20, minute);
    expect(await ofService(world.app.store.db)).toMatchObject([{ status: 'processing' }]);
    await test.clock.advance(100 * minute);
    off();
    await pass(world, 2, hour);
    expect(await world.arrived()).toMatchObject([
      { to: 'ben@gmail.example', token: expect.stringMatching(/^[\w-]{43}$/) },
    ]);
  });

  it('with an invitation is dropped after a day', async () => {
    world.sink.on({ verb: 'RCPT' }, '451 4.7.1 greylisted');
    await invite(world);
    await pass(world, 16, minute);
    await pass(world, 23, hour);
    expect(await ofService(world.app.store.db)).toMatchObject([{ status: 'processing' }]);
    await pass(world, 1, 44 * minute);
    const [delivery] = await ofService(world.app.store.db);
    expect(delivery?.status).toBe('failed');
    expect(delivery?.error_message).toMatch(/^Given up after \d+ attempts in 24 h: /);
  });

  it('is not tried after 15 minutes without a daemon', async () => {
    const { app, test } = world;
    await world.rest(async () => {
      await world.ask(ada);
      await test.clock.advance(15 * minute + 1);
    });
    expect(await world.arrived()).toEqual([]);
    expect(await ofService(app.store.db)).toMatchObject([
      { status: 'failed', error_message: 'It could not be sent in time' },
    ]);
  });

  it.each<[string, (world: PeopleWorld) => Promise<unknown>]>([
    ['a hold', ({ app }) => holdQueue(app, { domain: 'gmail.example' }, null)],
    ['a pause', ({ app }) => pauseOrganization(app, 'default', { note: 'look' })],
    [
      'a spent quota',
      async ({ app, test }) => {
        await updateOrganization(app, 'default', { plan: 'free' });
        await useToday(test, 1_000);
      },
    ],
    [
      'a block',
      ({ app, test }) => createBlock(app, test.caller, { address: ada, reason: 'manual' }),
    ],
  ])('is not stopped by %s', async (_what, stop) => {
    await stop(world);
    await world.ask(ada);
    expect(await world.arrived()).toHaveLength(1);
  });

  it('is not stopped by an earlier refusal of the address', async () => {
    const { app, sink } = world;
    const off = sink.on({ verb: 'RCPT' }, '550 5.1.1 no such user');
    await world.ask(ada);
    await world.arrived();
    off();
    await world.ask(ada);
    expect(await world.arrived()).toHaveLength(1);
    const { rows } = await sql`select id from blocks`.execute(app.store.db);
    expect(rows).toEqual([]);
  });

  it('goes before other mail', async () => {
    const { app, test } = world;
    await world.pipeline().stop(0);
    await send(app, test.caller, ['b@gmail.example', 'c@gmail.example']);
    await world.ask(ada);
    const { rows } = await sql<{ email: string }>`
      select email from deliveries order by turn limit 1`.execute(app.store.db);
    expect(rows).toEqual([{ email: ada }]);
  });

  it('is in no table of an organization, and in no answer of a route', async () => {
    const { app, test } = world;
    await world.ask(ada);
    const [mail] = await world.arrived();
    const [delivery] = await ofService(app.store.db);
    const own = [delivery?.id ?? '-', delivery?.message_id ?? '-', mail?.token ?? '-'];
    const found = await tablesWith(app.store.db, own);
    expect(found.foreign).toEqual([]);
    expect(found.tables.length).toBeGreaterThan(60);
    const api = httpApi(test);
    const ids = [...own, serviceOrganizationId];
    let asked = 0;
    for (const { method, path } of routes) {
      if (method !== 'GET') continue;
      const fills = path.includes('{') ? ids : [''];
      for (const id of fills) {
        const answer = await api.get<unknown>(path.replaceAll(/\{\w+\}/g, id));
        const text = JSON.stringify(answer.body ?? null);
        if (answer.status < 300)
          expect([path, own.filter((word) => text.includes(word))]).toEqual([path, []]);
        asked += 1;
      }
    }
    expect(asked).toBeGreaterThan(150);
    await api.close();
  });

  it('is shown to the operator, whose lists have no organization of the service', async () => {
    const { app } = world;
    await world.pipeline().stop(0);
    await world.ask(ada);
    const { items } = await listQueue(app, { page: 1, limit: 10 });
    expect(items).toMatchObject([{ organizationId: serviceOrganizationId, recipient: ada }]);
    const { items: organizations } = await listOrganizations(app, { page: 1, limit: 50 });
    expect(organizations.map(({ name }) => name)).toEqual(['default']);
    expect(await organizationIdsEnding(app.store.db, '', '0000', 9)).toEqual([]);
    await expect(organizationIdFrom(app, serviceOrganizationId)).rejects.toThrow('organization');
  });
});

/** Tables of rows that belong to a message, and so to its organization. */
const ofMessages = ['mailed_links', 'recipients'];

/** Returns all tables, and those where a row of an organization has one of the words. */
async function tablesWith(
  db: Db,
  words: readonly string[],
): Promise<{ tables: string[]; foreign: string[] }> {
  const tables = migratedTables();
  const foreign: string[] = [];
  for (const name of tables) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(
      db,
    );
    if (ofMessages.includes(name)) continue;
    for (const row of rows) {
      if (row['organization_id'] === serviceOrganizationId) continue;
      const text = JSON.stringify(row);
      if (words.some((word) => text.includes(word))) foreign.push(name);
    }
  }
  return { tables, foreign };
}

describe('delivery.allow', () => {
  it('keeps mail to persons here, and the log says so', async () => {
    const log = new PassThrough();
    const world = await peopleWorld('sqlite', { delivery: { allow: ['*@acme.example'] } }, { log });
    await world.join(ada);
    await world.ask(ada);
    await world.pipeline().idle();
    expect(await ofService(world.app.store.db)).toMatchObject([{ status: 'delivered' }]);
    expect(String(log.read())).toMatch(/"route":"capture"/);
    expect(world.sink.messages).toEqual([]);
    await world.close();
  });
});
