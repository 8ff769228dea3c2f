// A daemon dies while people leave and come back, by link and by mail; a request without an answer
// is repeated. Each leaving is a block, a line of the timeline and an event of its contact, or none
// of them; once for any number of requests. Each seed is one death, before, within or after one of
// the transactions. KILL_POINTS=300 is a soak; KILL_SEED=<the seed in the name of a failed test>
// repeats one.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { leavingPage } from '../../../src/consent/unsubscribe-page/serve.ts';
import type { App } from '../../../src/core/app.ts';
import { returnPathOf } from '../../../src/identity/domains/dns-records.ts';
import { linkToken, mailToken } from '../../../src/outbound/unsubscribe-links/tokens.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { inLong, stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { type KillPoint, moments, mortal } from '../../support/mortal.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { leaveByMail } from './leave-by-mail.ts';

const givenSeed = process.env.KILL_SEED;
const firstSeed = Number(givenSeed ?? Math.floor(Math.random() * 1_000_000));
const points = givenSeed ? 1 : Number(process.env.KILL_POINTS ?? inLong(6, 2));
const seeds = Array.from({ length: points }, (_, index) => firstSeed + index);

const oneClick = 'List-Unsubscribe=One-Click';
const form = { 'content-type': 'application/x-www-form-urlencoded' };

type Way = 'mail' | 'leave' | 'leave-all' | 'return' | 'return-all' | typeof oneClick;

/** Requests of each person; those of one step run concurrently. */
const steps: readonly (readonly [who: string, ...ways: Way[]])[] = [
  ['Ada', oneClick],
  ['bob', 'leave-all'],
  ['cy', 'mail'],
  ['dee', oneClick, 'mail'],
  ['bob', 'return-all'],
  ['eve', 'leave', 'leave-all'],
  ['cy', 'return'],
];
/** Transactions that at least happen: one for each step. */
const writes = steps.length;
const people = [...new Set(steps.map(([who]) => who))];

/** Blocks at the end. */
const ending = [
  ['ada@example.com', 'group'],
  ['dee@example.com', 'group'],
  ['eve@example.com', 'all'],
  ['eve@example.com', 'group'],
];

/** Chooses every transaction and moment in turn. */
function pointOf(seed: number): KillPoint {
  const moment = moments[seed % moments.length] ?? 'after';
  return { moment, nth: 1 + (Math.floor(seed / moments.length) % writes) };
}

interface Person {
  link: string;
  address: string;
}

/** Returns contacts with a message of the group each. */
async function peopleOf(test: TestApp): Promise<Map<string, Person>> {
  const { app, caller } = test;
  const { organizationId } = caller;
  const { id: groupId } = await createGroup(app, caller, { name: 'News' });
  const host = returnPathOf(app.config.mailboxes.hostedDomain);
  const found = new Map<string, Person>();
  for (const who of people) {
    const address = `${who}@example.com`;
    await createContact(app, caller, { email: address });
    const { id, deliveries } = await send(app, caller, address, {
      email: { unsubscribeGroupId: groupId },
    });
    const link = linkToken(app, { organizationId, groupId, messageId: id, address });
    const mail = `${mailToken(app, deliveries[0]?.id ?? '')}@${host}`;
    found.set(who, { link, address: mail });
  }
  return found;
}

async function ask(app: App, { link, address }: Person, way: Way): Promise<void> {
  if (way === 'mail') {
    expect(await leaveByMail(app, address)).toBe('stored 0');
    return;
  }
  const body = Buffer.from(way === oneClick ? way : `action=${way}`);
  const request = { method: 'POST', path: `/u/${link}`, headers: form, remoteAddress: null, body };
  expect((await leavingPage.serve(app, request))?.status).toBe(200);
}

interface Standing {
  blocks: string[][];
  /** Counts of each leaving, by the records of it. */
  told: Record<'blocks' | 'timeline' | 'contacts', string[]>;
}

async function standing({ app }: TestApp): Promise<Standing> {
  const { db } = app.store;
  const scope = sql`case when unsubscribe_group_id is null then 'all' else 'group' end`;
  const active = await sql<{ address: string; scope: string }>`
    select folded_address as address, ${scope} as scope from blocks order by 1, 2`.execute(db);
  const lifted = await sql<{ details: string }>`
    select details from audit_entries where action = 'block.deleted'`.execute(db);
  const timeline = await sql<{ email: string; metadata: string }>`
    select email, metadata from events join recipients on recipients.id = recipient_id
    where event_type = 'unsubscribed'`.execute(db);
  const events = await sql<{ data: string }>`select data from resource_events
    where event_type = 'contact.unsubscribed'`.execute(db);
  const blocks = active.rows.map((row) => [row.address, row.scope]);
  const gone = lifted.rows.map(({ details }) => JSON.parse(details));
  const counted = await sql<{ count: number }>`
    select coalesce(sum(count), 0) as count from block_counts`.execute(db);
  expect(Number(counted.rows[0]?.count)).toBe(blocks.length);
  const steps = timeline.rows.map(({ email, metadata }) => [email, JSON.parse(metadata).scope]);
  return {
    blocks,
    told: {
      blocks: named([...blocks, ...gone.map((one) => [one.address, one.scope])]),
      timeline: named(steps),
      contacts: events.rows
        .map(({ data }) => JSON.parse(data).identities[0].identifier.toLowerCase())
        .sort(),
    },
  };
}

function named(leavings: readonly string[][]): string[] {
  return leavings.map(([address = '', scope]) => `${address.toLowerCase()} ${scope}`).sort();
}

/** Expects block, timeline and event of each leaving, or none of them. */
function expectWhole({ told }: Standing, point: string): void {
  expect(told.timeline, point).toEqual(told.blocks);
  expect(told.contacts, point).toEqual(told.blocks.map((one) => one.split(' ')[0]));
  expect(new Set(told.blocks).size, point).toBe(told.blocks.length);
}

describe.each(stores)('a daemon that dies while people leave, on %s', (store) => {
  it.each(seeds)('records each leaving completely and once (KILL_SEED=%i)', async (seed) => {
    const point = pointOf(seed);
    const told = JSON.stringify({ seed, ...point });
    const test = await testApp({ store, seed: seed % 1_000 });
    try {
      const persons = await peopleOf(test);
      const victim = await test.another();
      const died = mortal(victim, point).then(() => 'died' as const);
      let isDead = false;
      for (const [who, ...ways] of steps) {
        const person = persons.get(who) as Person;
        const all = (app: App) => Promise.all(ways.map((way) => ask(app, person, way)));
        if (!isDead && (await Promise.race([all(victim), died])) !== 'died') continue;
        if (!isDead) expectWhole(await standing(test), told);
        isDead = true;
        await all(test.app);
      }
      expect(isDead, told).toBe(true);
      const end = await standing(test);
      expectWhole(end, told);
      expect(end.blocks, told).toEqual(ending);
      for (const [who, ...ways] of steps.filter(([who]) => who !== 'bob' && who !== 'cy')) {
        for (const way of ways) await ask(test.app, persons.get(who) as Person, way);
      }
      expect(await standing(test), told).toEqual(end);
    } finally {
      await test.close();
    }
  });
});
