// The stored totals of lists: after any change of messages, also concurrent ones,
// they equal the counts of the messages themselves, in every list and total.
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { receive } from '../../../src/inbox/receiving/receive.ts';
import { resolveAddressee } from '../../../src/inbox/receiving/resolve.ts';
import { messageStatuses } from '../../../src/outbound/deliveries/status.ts';
import { totalOf } from '../../../src/outbound/messages/lists/counts.ts';
import {
  listMessageIds,
  type MessageFilter,
} from '../../../src/outbound/messages/lists/list-queries.ts';
import { deleteMessage } from '../../../src/outbound/messages/messages.ts';
import { scheduledPayload } from '../../../src/outbound/messages/send-schema.ts';
import { flushQueue } from '../../../src/outbound/queue/desk/queue.ts';
import { cancelMessage } from '../../../src/outbound/queue/schedule/cancel.ts';
import { confirmDelivered } from '../../../src/outbound/queue/settling/confirm.ts';
import { scheduleMessage } from '../../../src/outbound/sending/schedule/schedule.ts';
import { ServiceError } from '../../../src/platform/errors.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import {
  accept,
  complaint,
  late,
  lateBounce,
  type Outcomes,
  startOutcomes,
} from '../../identity/reputation/fixtures.ts';
import { bothStores } from '../../support/command.ts';
import { burstOverMs, payloadFor, send } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { messageCounts } from './exact-counts.ts';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
const rounds = 16;
const atOnce = 4;
/** Real ms per second of the clock during waits for the store. */
const paceMs = 100;
const hourMs = 3_600_000;
const ends = { dayMs: 24 * hourMs, slotMs: 10_000 };
const words = ['ok', 'ok', 'ok', 'dead', 'wait', 'ours', 'policy', 'complained'];

/** An organization that sends and receives. */
interface Party {
  caller: Caller;
  from: string;
  mailbox: string;
}

describe.each(bothStores)('counts of messages on %s', (store) => {
  const random = seededRandom(seed);
  let test: TestApp;
  let outcomes: Outcomes;
  let apps: App[];
  let parties: Party[];
  beforeEach(async () => {
    test = await testApp({ store, seed, config: { delivery: { mode: 'capture' } } });
    const { app } = test;
    apps = [app, await test.another()];
    const { id } = await createOrganization(app, { name: 'other', plan: 'self-hosted' });
    const caller = operatorOf(id);
    const domain = await addDomain(app, caller, { domain: 'other.example', dkim: 'ed25519' });
    await verifyDomain(app, caller, domain.id, { force: true });
    const mailbox = { slug: 'inbox', displayName: null, address: 'inbox@other.example' };
    await createMailbox(app, caller, mailbox);
    parties = [
      { caller: test.operator, from: 'a@sandbox.test', mailbox: 'inbox@sandbox.test' },
      { caller, from: 'a@other.example', mailbox: mailbox.address },
    ];
    outcomes = await startOutcomes(app, { relay: true });
  });
  afterEach(async () => {
    await outcomes.close();
    await test.close();
  });

  const below = (bound: number) => Math.floor(random.float() * bound);
  const oneOf = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const address = () => `${oneOf(words)}-${below(500)}@example.com`;

  async function anyMessage(): Promise<{ id: string; caller: Caller } | null> {
    const { rows } = await sql<{ id: string; organization_id: string }>`
      select id, organization_id from messages order by id`.execute(test.app.store.db);
    const found = rows[below(rows.length)];
    return found ? { id: found.id, caller: operatorOf(found.organization_id) } : null;
  }

  const onAny = async (work: (id: string, caller: Caller) => Promise<unknown>) => {
    const message = await anyMessage();
    if (message) await work(message.id, message.caller);
  };

  async function sendOne(): Promise<void> {
    const { caller, from } = oneOf(parties);
    const to = Array.from({ length: 1 + below(3) }, address);
    await send(oneOf(apps), caller, to, { from: { email: from } });
  }

  async function sendMany(): Promise<void> {
    const { caller, from } = oneOf(parties);
    await accept(oneOf(apps), caller, Array.from({ length: 1 + below(9) }, address), from);
  }

  async function sendLater(): Promise<void> {
    const { caller, from } = oneOf(parties);
    const scheduledFor = new Date(test.clock.now() + below(30) * hourMs).toISOString();
    const payload = { ...payloadFor(address(), { from: { email: from } }), scheduledFor };
    await scheduleMessage(oneOf(apps), caller, scheduledPayload.parse(payload));
  }

  async function receiveOne(): Promise<void> {
    const addressees = [];
    for (const { mailbox } of parties.slice(below(2))) {
      const addressee = await resolveAddressee(test.app, mailbox);
      if (addressee?.kind === 'mailbox') addressees.push(addressee);
    }
    const client = {
      remoteAddress: '127.0.0.1',
      helo: 'x',
      tls: false,
      protocol: 'SMTP',
      id: 'a.1',
    };
    const raw = Buffer.from('From: a@b.example\r\nSubject: hi\r\n\r\nhello\r\n');
    await receive(oneOf(apps), { mailFrom: 'a@b.example', addressees, ...client }, raw);
  }

  /** Accepts a message in a transaction that then fails. */
  async function acceptInVain(): Promise<void> {
    const inVain = new InVain();
    const app = oneOf(apps);
    const failing: App = Object.assign(Object.create(app), {
      store: {
        ...app.store,
        write: (work: Parameters<App['store']['write']>[0]) =>
          app.store.write(async (trx) => {
            await work(trx);
            throw inVain;
          }),
      },
    });
    await expect(accept(failing, test.operator, [address(), address()])).rejects.toBe(inVain);
  }

  const steps: (() => Promise<unknown>)[] = [
    sendOne,
    sendMany,
    sendLater,
    receiveOne,
    acceptInVain,
    () => onAny((id, caller) => deleteMessage(oneOf(apps), caller, id)),
    () => onAny((id, caller) => cancelMessage(oneOf(apps), caller, id)),
    () => onAny((id) => lateIfSent(id)),
    () => confirmDelivered(oneOf(apps)),
    () => flushQueue(oneOf(apps), {}),
  ];

  async function lateIfSent(id: string): Promise<void> {
    const { rows } = await sql`select 1 from deliveries where message_id = ${id}`.execute(
      test.app.store.db,
    );
    if (rows.length === 0) return;
    await late(oneOf(apps), id, oneOf([lateBounce, complaint, { kind: 'delivered' as const }]));
  }

  /** Runs a step that concurrent changes may refuse; only a fault fails the test. */
  async function attempt(step: () => Promise<unknown>): Promise<void> {
    await step().catch((error: unknown) => {
      const isGone = /has no delivery$/.test(String(error));
      if (!isGone && !(error instanceof ServiceError)) throw error;
    });
  }

  /** Returns a random step: a fixed one, or the time to the next end of ten seconds or of a day. */
  function stepOf(): number {
    const untilEnd = (step: number) => step - (test.clock.now() % step);
    const { dayMs, slotMs } = ends;
    return oneOf([burstOverMs, 7_000, hourMs, 9 * hourMs, untilEnd(slotMs), untilEnd(dayMs)]);
  }

  async function anyFilter(): Promise<MessageFilter> {
    const times = await sql<{ at: number }>`select created_at as at from messages`.execute(
      test.app.store.db,
    );
    // The time of a message, one beside it, an end of ten seconds or of a day, or any time.
    const time = () => {
      const { at } = oneOf(times.rows);
      const { dayMs, slotMs } = ends;
      return oneOf([at, at - 1, at + 1, at - (at % slotMs), at - (at % dayMs), at - below(hourMs)]);
    };
    return {
      organizationId: oneOf(parties).caller.organizationId,
      direction: oneOf([undefined, 'outbound', 'inbound']),
      status: oneOf([undefined, ...messageStatuses]),
      createdFrom: oneOf([undefined, time()]),
      createdTo: oneOf([undefined, time()]),
    };
  }

  /** Reads the list without any index or count. */
  async function listed(filter: MessageFilter): Promise<string[]> {
    const { organizationId, direction, status, createdFrom = 0, createdTo = 2 ** 50 } = filter;
    const { rows } = await sql<{ id: string }>`select id from messages
      where organization_id = ${organizationId}
        and direction = coalesce(${direction ?? null}, direction)
        and status = coalesce(${status ?? null}, status)
        and created_at between ${createdFrom} and ${createdTo}
      order by created_at desc, id desc`.execute(test.app.store.db);
    return rows.map(({ id }) => id);
  }

  async function expectExact(): Promise<void> {
    const counts = await messageCounts(test.app);
    expect(counts.kept, `seed ${seed}`).toEqual(counts.exact);
    for (let asked = 0; asked < 8; asked++) {
      const filter = await anyFilter();
      const ids = await listed(filter);
      const [limit, offset] = [1 + below(20), below(20)];
      const { db } = test.app.store;
      const answer = {
        filter,
        total: await totalOf(db, filter),
        page: await listMessageIds(db, filter, limit, offset),
      };
      const expected = { filter, total: ids.length, page: ids.slice(offset, offset + limit) };
      expect(answer, `seed ${seed}`).toEqual(expected);
    }
  }

  /**
   * Waits until nothing is in flight; advances the clock for deliveries that back off from a
   * failing store.
   */
  async function rest(): Promise<void> {
    let isOver = false;
    const idle = outcomes.idle().then(() => {
      isOver = true;
    });
    while (!isOver) {
      await Promise.race([idle, pause(paceMs)]);
      if (!isOver) await test.clock.advance(1_000);
    }
  }

  /**
   * Advances the clock without a daemon, which would have to renew all its leases of these hours at
   * once.
   */
  async function pass(ms: number): Promise<void> {
    await rest();
    await outcomes.close();
    await test.clock.advance(ms);
    outcomes = await startOutcomes(test.app, { relay: true });
    await rest();
  }

  /** Brings a message to each status that mail can reach without a reader. */
  async function reachAll(): Promise<void> {
    const { caller } = parties[0] as Party;
    await sendLater();
    await receiveOne();
    const words = ['ok', 'dead', 'wait', 'ours'];
    const [sent] = await accept(
      test.app,
      caller,
      words.map((word) => `${word}-0@example.com`),
    );
    await rest();
    await late(test.app, sent?.id ?? '', complaint);
    await pass(30 * hourMs);
    const { rows } = await sql<{ status: string }>`
      select distinct status from message_counts`.execute(test.app.store.db);
    const reached = messageStatuses.filter((status) => status !== 'read');
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(reached));
  }

  it('are exact after random concurrent changes of messages', async () => {
    await reachAll();
    await expectExact();
    for (let round = 0; round < rounds; round++) {
      await Promise.all(Array.from({ length: atOnce }, () => attempt(oneOf(steps))));
      await pass(stepOf());
      await expectExact();
    }
  });
});

class InVain extends Error {}
