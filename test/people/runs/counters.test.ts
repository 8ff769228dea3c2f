// The counters of runs against a recount over deliveries, engagements, timelines and the ledger.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/mail/smtp/outcome.ts';
import { type DeliveryRow, findDeliveries } from '../../../src/outbound/deliveries/queries.ts';
import { cancelMessage } from '../../../src/outbound/queue/schedule/cancel.ts';
import { confirmDelivered } from '../../../src/outbound/queue/settling/confirm.ts';
import { settleAll } from '../../../src/outbound/queue/settling/settle.ts';
import { engageAll } from '../../../src/outbound/tracking/engage.ts';
import { leaveAll } from '../../../src/outbound/unsubscribe-links/leave.ts';
import { createBlock } from '../../../src/people/blocks/blocks.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { type Random, seededRandom } from '../../../src/platform/runtime/random.ts';
import type { RunTally } from '../../../src/run-ledger/counter-queries.ts';
import {
  countRun,
  countRunAttempt,
  findRunCounts,
  recentDeferrals,
  sweepRunMinutes,
} from '../../../src/run-ledger/counters.ts';
import { complaint, late, lateBounce } from '../../identity/reputation/fixtures.ts';
import { claim, rowOf } from '../../outbound/queue/entries.ts';
import { stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { eachApp } from '../../support/each-app.ts';
import type { TestApp } from '../../support/test-app.ts';
import { watchQueries } from '../../support/watched-queries.ts';
import { acceptForRun, giveToRun, newRun } from './entries.ts';

const minute = 60_000;
const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);

const reply = (code: number, enhancedCode: string, text: string) => ({
  code,
  enhancedCode,
  text,
  verb: 'RCPT',
});

/** Outcomes of attempts by name. `ours` is a fault of our own. */
const outcomes = {
  ok: { kind: 'sent', reply: reply(250, '2.0.0', 'OK') },
  dead: {
    kind: 'bounced',
    errorCode: 'invalid-recipient',
    reply: reply(550, '5.1.1', 'User unknown'),
  },
  full: { kind: 'bounced', errorCode: 'mailbox-full', reply: reply(552, '5.2.2', 'Mailbox full') },
  grey: { kind: 'deferred', errorCode: 'policy', reply: reply(450, '4.2.0', 'Greylisted') },
  slow: {
    kind: 'deferred',
    errorCode: 'policy',
    reply: reply(421, '4.7.0', 'Too many messages, slow down'),
  },
  ours: { kind: 'failed', errorCode: 'protocol', reply: reply(0, '5.3.0', 'No route') },
} as const;

type OutcomeName = keyof typeof outcomes;

/** Settles a claimed delivery of a relay (a 250 is not yet a delivery), or of a direct route. */
async function settle(
  { app, clock }: TestApp,
  row: DeliveryRow,
  name: OutcomeName,
  { relay = false, opens = false } = {},
): Promise<void> {
  const trace = {
    host: 'mx.example.com',
    address: '127.0.0.1',
    tls: null,
    startedAt: clock.now(),
    durationMs: 1,
    transcript: '',
  };
  const isOpened = opens && name === 'ok' && !relay;
  await app.store.write((trx) =>
    settleAll(app, trx, 'wrk_test', [
      {
        delivery: row,
        fromEmail: 'hello@sandbox.test',
        outcome: { ...outcomes[name], trace } as Outcome,
        routeKind: row.domain === 'simulator.test' ? 'simulator' : 'direct',
        sentIsDelivered: !relay,
        aftermath: isOpened ? 'opened' : null,
        isTracked: true,
        isSole: true,
      },
    ]),
  );
}

/** Recounts a run from its rows. */
async function recount({ app }: TestApp, runId: string): Promise<RunTally> {
  const real = sql`d.email not like '%@simulator.test'`;
  const tried = sql`(d.sent_at is not null or d.status = 'bounced'
    or (d.status = 'failed' and d.error_code not in ('cancelled', 'suppressed', 'protocol')))`;
  const number = (condition: ReturnType<typeof sql>) =>
    sql`cast(coalesce(sum(case when ${condition} then 1 else 0 end), 0) as bigint)`;
  const { rows } = await sql<Omit<RunTally, 'unsubscribed'>>`select
      ${number(sql`d.sent_at is not null`)} as sent,
      ${number(sql`d.status in ('delivered', 'read', 'complained')`)} as delivered,
      ${number(sql`d.status = 'bounced'`)} as bounced,
      ${number(sql`d.status = 'complained'`)} as complained,
      ${number(sql`d.status = 'failed'`)} as failed,
      ${number(sql`e.opened_at is not null`)} as opened,
      ${number(sql`e.clicked_at is not null`)} as clicked,
      ${number(sql`${real} and ${tried}`)} as attempted,
      ${number(sql`${real} and d.status = 'bounced' and d.error_code = 'invalid-recipient'`)}
        as hard_bounced,
      ${number(sql`${real} and d.status = 'complained'`)} as complaints
    from deliveries d left join engagements e on e.delivery_id = d.id
    where d.campaign_run_id = ${runId}`.execute(app.store.db);
  const left = await sql<{ count: number }>`select count(distinct m.id) as count
    from messages m join events e on e.message_id = m.id
    where m.campaign_run_id = ${runId} and e.event_type = 'unsubscribed'`.execute(app.store.db);
  const [counts] = rows;
  if (!counts) throw new Error('no row');
  return { ...counts, unsubscribed: Number(left.rows[0]?.count ?? 0) };
}

const pick = <T>(random: Random, from: readonly T[]): T =>
  from[Math.floor(random.float() * from.length)] as T;

describe.each(stores)('the counters of a run on %s', (store) => {
  const test = eachApp({ store, config: { tracking: { publicUrl: 'https://click.example.com' } } });

  const counts = async (runId: string) => (await findRunCounts(test.app.store.db, [runId]))(runId);

  /** Sends tracked mail that belongs to the run, or to none. */
  const toRun = async (runId: string | null, to: string, contactId?: string) => {
    const { app, operator } = test;
    const tracking = { opens: true, clicks: true };
    const html = '<p>Hello</p><a href="https://shop.example/a">A</a>';
    const { id } = await send(app, operator, to, { email: { html, tracking } });
    if ((await rowOf(app, id)).status !== 'pending') return null;
    if (runId !== null) {
      await giveToRun(app, runId, [id], new Map(contactId === undefined ? [] : [[id, contactId]]));
    }
    return id;
  };

  const claimed = async (id: string) => {
    await claim(test.app);
    return rowOf(test.app, id);
  };

  it('are zeros before its first message', async () => {
    const runId = await newRun(test.app, test.caller.organizationId);
    expect(new Set(Object.values(await counts(runId)))).toEqual(new Set([0]));
  });

  it(`equal a recount after any sequence (seed ${seed})`, async () => {
    const { app, caller, clock, operator } = test;
    const random = seededRandom(seed);
    const { organizationId } = caller;
    const runIds = [await newRun(app, organizationId), await newRun(app, organizationId)];
    const addresses = [
      ...Array.from({ length: 24 }, (_, at) => `user${at}@example.com`),
      'delivered+a@simulator.test',
      'opened+b@simulator.test',
    ];
    const contactIds = new Map<string, string>();
    for (const email of addresses) {
      contactIds.set(email, (await createContact(app, operator, { email })).id);
    }
    const sent: { id: string; email: string }[] = [];
    const deeds = {
      async sends() {
        const email = pick(random, addresses);
        const runId = pick(random, [...runIds, null]);
        // A contact has one row in a run.
        const has = runId !== null && sent.some((one) => one.email === `${runId} ${email}`);
        const id = has ? null : await toRun(runId, email, contactIds.get(email));
        if (id !== null) sent.push({ id, email: `${runId} ${email}` });
      },
      async attempts() {
        await claim(app);
        const { rows } = await sql<{ message_id: string }>`select message_id from deliveries
          where claimed_by is not null order by id`.execute(app.store.db);
        for (const { message_id } of rows) {
          const name = pick<OutcomeName>(random, [
            'ok',
            'ok',
            'ok',
            ...(Object.keys(outcomes) as OutcomeName[]),
          ]);
          const options = { relay: random.float() < 0.7, opens: random.float() < 0.3 };
          await settle(test, await rowOf(app, message_id), name, options);
        }
      },
      async reports() {
        const one = pick(random, sent.slice(-6));
        const soft = { ...lateBounce, isHard: false, errorCode: 'mailbox-full' } as const;
        if (one)
          await late(
            app,
            one.id,
            pick(random, [lateBounce, complaint, soft, { kind: 'delivered' }]),
          );
      },
      async engages() {
        const one = pick(random, sent.slice(-6));
        if (!one) return;
        const [row] = await findDeliveries(app.store.db, [one.id]);
        if (!row) return;
        const kind = pick(random, ['open', 'click'] as const);
        const hit = {
          deliveryId: row.id,
          messageId: one.id,
          kind,
          link: kind === 'open' ? 0 : 1,
          url: kind === 'open' ? null : 'https://shop.example/a',
          automatedBy: pick(random, [null, null, 'a-scanner']),
          userAgent: null,
          at: clock.now(),
        };
        await app.store.write((trx) => engageAll(app, trx, [hit, hit]));
      },
      async cancels() {
        const one = pick(random, sent.slice(-6));
        if (one) await cancelMessage(app, operator, one.id).catch(() => {});
      },
      async blocks() {
        const address = pick(random, addresses);
        await createBlock(app, operator, { address, reason: 'manual' }).catch(() => {});
      },
      async leaves() {
        const one = pick(random, sent.slice(-6));
        if (!one) return;
        const { email } = await rowOf(app, one.id);
        const leaver = { organizationId, groupId: 'ugrp_1', address: email, messageId: one.id };
        const leaving = { ...leaver, scope: 'all' as const };
        await app.store.write((trx) => leaveAll(app, trx, [leaving, leaving]));
        await app.store.write((trx) =>
          sql`delete from blocks where folded_address = ${email}`.execute(trx),
        );
      },
      async waits() {
        await clock.advance(pick(random, [minute, 241 * minute, 80 * 60 * minute]));
        await confirmDelivered(app);
      },
    };
    const deck = [
      ...Array.from({ length: 5 }, () => deeds.sends),
      ...Array.from({ length: 3 }, () => deeds.attempts),
      ...Array.from({ length: 6 }, () => deeds.engages),
      ...Array.from({ length: 2 }, () => deeds.leaves),
      ...Object.values(deeds),
    ];
    for (let step = 0; step < 250; step++) {
      await pick(random, deck)();
      for (const runId of step % 25 === 24 ? runIds : []) {
        expect(await counts(runId), `step ${step}`).toEqual(await recount(test, runId));
      }
    }
  });

  it('leave mail to the simulator out of its health', async () => {
    const runId = await newRun(test.app, test.caller.organizationId);
    for (const [to, name] of [
      ['bounced@simulator.test', 'dead'],
      ['ada@example.com', 'dead'],
    ] as const) {
      const id = (await toRun(runId, to)) ?? '';
      await settle(test, await claimed(id), name);
    }
    expect(await counts(runId)).toMatchObject({ bounced: 2, attempted: 1, hard_bounced: 1 });
  });

  it('mark the first open and click in the ledger once', async () => {
    const { app, clock, operator, caller } = test;
    const runId = await newRun(app, caller.organizationId);
    const contact = await createContact(app, operator, { email: 'ada@example.com' });
    const id = (await toRun(runId, 'ada@example.com', contact.id)) ?? '';
    const row = await claimed(id);
    await settle(test, row, 'ok');
    const times: number[] = [];
    for (let again = 0; again < 2; again++) {
      await clock.advance(minute);
      times.push(clock.now());
      const hit = { deliveryId: row.id, messageId: id, kind: 'click', link: 1 } as const;
      const more = { url: null, automatedBy: null, userAgent: null, at: clock.now() };
      await app.store.write((trx) => engageAll(app, trx, [{ ...hit, ...more }]));
    }
    const { rows } = await sql`select opened_at, clicked_at from campaign_recipients
      where run_id = ${runId}`.execute(app.store.db);
    expect(rows).toEqual([{ opened_at: times[0], clicked_at: times[0] }]);
    expect(await counts(runId)).toMatchObject({ opened: 1, clicked: 1 });
  });

  it('count a message to a blocked address as failed at once', async () => {
    const { app, caller, operator } = test;
    const runId = await newRun(app, caller.organizationId);
    await createBlock(app, operator, { address: 'ada@example.com', reason: 'manual' });
    await acceptForRun(app, caller, runId, ['ada@example.com', 'bob@example.com']);
    expect(await counts(runId)).toMatchObject({ failed: 1, sent: 0 });
  });

  it('cost mail without a run no statement', async () => {
    const queries = watchQueries();
    const tables = /campaign_runs|campaign_recipients|run_counters|run_minutes/;
    const asked = async (runId: string | null) => {
      queries.take();
      const id = (await toRun(runId, 'ada@example.com')) ?? '';
      const row = await claimed(id);
      await settle(test, row, 'ok');
      const hit = { deliveryId: row.id, messageId: id, kind: 'open', link: 0 } as const;
      const more = { url: null, automatedBy: null, userAgent: null, at: test.clock.now() };
      await test.app.store.write((trx) => engageAll(test.app, trx, [{ ...hit, ...more }]));
      return queries.take().filter(({ text }) => tables.test(text)).length;
    };
    try {
      expect(await asked(null)).toBe(0);
      expect(await asked(await newRun(test.app, test.caller.organizationId))).toBeGreaterThan(0);
    } finally {
      queries.stop();
    }
  });

  it('are changed by one statement for each run of a transaction', async () => {
    const { app, caller } = test;
    const runId = await newRun(app, caller.organizationId);
    await app.store.write(async (trx) => {
      countRun(trx, runId, { sent: 1 });
      countRun(trx, runId, { sent: 1, delivered: -1 });
    });
    expect(await counts(runId)).toMatchObject({ sent: 2, delivered: -1 });
  });

  it('show deferrals for policy or rate with the last words, without greylisting', async () => {
    const { app, caller, clock } = test;
    const runId = await newRun(app, caller.organizationId);
    const since = clock.now();
    for (const [to, name] of [
      ['a@example.com', 'ok'],
      ['b@example.com', 'slow'],
      ['c@example.com', 'grey'],
      ['d@simulator.test', 'ok'],
      ['deferred@simulator.test', 'slow'],
      ['e@example.com', 'ours'],
    ] as const) {
      const id = (await toRun(runId, to)) ?? '';
      await settle(test, await claimed(id), name);
      await clock.advance(minute);
    }
    const reply = '421 4.7.0 Too many messages, slow down';
    const recent = (from: number) => recentDeferrals(app.store.db, runId, from);
    expect(await recent(since)).toEqual({ attempted: 4, deferred: 1, reply });
    expect(await recent(since + 2 * minute)).toEqual({ attempted: 2, deferred: 0, reply: null });
  });

  it('forget the minutes of more than an hour ago', async () => {
    const { app, caller, clock } = test;
    const runId = await newRun(app, caller.organizationId);
    const attempt = () =>
      app.store.write(async (trx) =>
        countRunAttempt(trx, { runId, at: clock.now(), deferral: 'slow' }),
      );
    await attempt();
    await clock.advance(30 * minute);
    await attempt();
    await clock.advance(31 * minute);
    await sweepRunMinutes(app);
    expect(await recentDeferrals(app.store.db, runId, 0)).toMatchObject({ attempted: 1 });
  });
});
