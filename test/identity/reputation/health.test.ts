// Automatic pause (specification 3 and 7 rule 4): each threshold at its exact value.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createOrganization,
  getOrganization,
  pauseOrganization,
} from '../../../src/access/organizations/organizations.ts';
import { sweepHealth } from '../../../src/identity/reputation/health.ts';
import { findingInWords, findingOf } from '../../../src/identity/reputation/health-finding.ts';
import { findReviews, healthCounts } from '../../../src/identity/reputation/health-queries.ts';
import { createSender, getSender } from '../../../src/identity/senders/senders.ts';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { resumeSending } from '../../../src/outbound/queue/desk/resume.ts';
import { stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { eachApp } from '../../support/each-app.ts';
import {
  accept,
  complaint,
  late,
  lateBounce,
  many,
  type Outcomes,
  startOutcomes,
  workspaceEvents,
} from './fixtures.ts';

const minute = 60_000;
const hour = 60 * minute;
const limits = { windowHours: 24, minimumSends: 100, maxBounceRate: 0.05, maxComplaintRate: 0.003 };

describe('findingOf', () => {
  const levelOf = (attempted: number, hard_bounced: number, complained: number) =>
    findingOf(limits, { attempted, hard_bounced, complained })?.level ?? null;

  it.each([
    ['99 attempts prove nothing', 99, 99, 99, null],
    ['5 bounces of 251 are below 2 %', 251, 5, 0, null],
    ['5 bounces of 250 are 2 %', 250, 5, 0, 'warning'],
    ['4 bounces of 100 are too few', 100, 4, 0, null],
    ['9 bounces of 100 are too few to pause', 100, 9, 0, 'warning'],
    ['10 bounces of 200 are 5 %', 200, 10, 0, 'pause'],
    ['10 bounces of 201 are below 5 %', 201, 10, 0, 'warning'],
    ['10 bounces of 100', 100, 10, 0, 'pause'],
    ['1 complaint of 100 is too few', 100, 0, 1, null],
    ['2 complaints of 2,000 are 0.1 %', 2_000, 0, 2, 'warning'],
    ['2 complaints of 2,001 are below 0.1 %', 2_001, 0, 2, null],
    ['4 complaints of 100 are too few to pause', 100, 0, 4, 'warning'],
    ['5 complaints of 1,666 are above 0.3 %', 1_666, 0, 5, 'pause'],
    ['5 complaints of 1,667 are below 0.3 %', 1_667, 0, 5, 'warning'],
    ['6 complaints of 2,000 are 0.3 %', 2_000, 0, 6, 'pause'],
  ] as const)(
    'judges by attempts, bounces and complaints: %s',
    (_name, attempted, bounces, complaints, level) => {
      expect(levelOf(attempted, bounces, complaints)).toBe(level);
    },
  );

  it('gives the rate, the count, and the limit', () => {
    const words = (attempted: number, hard_bounced: number, complained: number) => {
      const finding = findingOf(limits, { attempted, hard_bounced, complained });
      return finding && findingInWords(finding);
    };
    expect(words(1_250, 155, 0)).toBe('12.4% of the last 1,250 messages bounced (limit 5%).');
    expect(words(2_000, 0, 7)).toBe(
      '0.35% of the last 2,000 messages were reported as spam (limit 0.3%).',
    );
  });
});

describe.each(stores)('the health of an organization on %s', (store) => {
  const test = eachApp({ store });
  let outcomes: Outcomes;
  beforeEach(async () => {
    outcomes = await startOutcomes(test.app);
  });
  afterEach(async () => {
    await outcomes.close();
  });

  const organization = () => getOrganization(test.app, test.caller.organizationId);
  const status = async () => (await organization()).sendingStatus;
  /** Moves the clock at once: the queue polls each minute, which makes days expensive. */
  const pass = (ms: number) => test.clock.set(test.clock.now() + ms);
  const deliver = (...addresses: string[][]) => outcomes.deliver(test.caller, addresses.flat());

  it('warns at 5 of 100, and pauses with a reason at the tenth bounce', async () => {
    await deliver(many(95, 'ok'), many(4, 'dead'));
    expect(await workspaceEvents(test.app)).toEqual([]);
    await deliver(['dead-a@example.com']);
    expect([await status(), await workspaceEvents(test.app)]).toEqual([
      'enabled',
      ['workspace.warning'],
    ]);
    for (const word of ['b', 'c', 'd', 'e']) await deliver([`dead-${word}@example.com`]);
    expect([await status(), await workspaceEvents(test.app)]).toEqual([
      'enabled',
      ['workspace.warning'],
    ]);
    await deliver(['dead-f@example.com']);
    const reason = '9.5% of the last 105 messages bounced (limit 5%).';
    expect(await organization()).toMatchObject({
      sendingStatus: 'paused',
      pausedAt: '2026-01-05T12:00:00.000Z',
      pauseReason: reason,
    });
    expect(await workspaceEvents(test.app)).toEqual(['workspace.warning', 'workspace.paused']);
    await expect(send(test.app, test.caller, 'ada@example.com')).rejects.toMatchObject({
      _tag: 'ForbiddenError',
      message: `Sending is paused: ${reason}`,
    });
  });

  it('is separate from other organizations', async () => {
    const { app, clock } = test;
    const { id } = await createOrganization(app, { name: 'acme', plan: 'free' });
    const bad = { organization_id: id, bucket_start: clock.now(), scope: '', shard: 0 };
    const counts = { attempted: 1_000, hard_bounced: 1_000, complained: 1_000 };
    await app.store.write(async (trx) => healthCounts.add(trx, bad, counts));
    await deliver(many(99, 'ok'), many(1, 'dead'));
    expect([await status(), await workspaceEvents(app)]).toEqual(['enabled', []]);
  });

  it('waits for the hundredth attempt, with any outcome', async () => {
    await deliver(many(89, 'ok'), many(10, 'dead'));
    expect(await status()).toBe('enabled');
    await deliver(['ok-a@example.com']);
    expect(await status()).toBe('paused');
  });

  it('ignores refusals that the address did not cause, and waiting mail', async () => {
    const others = ['full', 'policy', 'reputation', 'spam', 'ours', 'wait'] as const;
    await deliver(many(60, 'ok'), ...others.map((word) => many(20, word)));
    await deliver(many(9, 'dead'));
    expect(await status()).toBe('enabled');
    // 60 sent, 80 refused softly, 9 dead: 149 attempts, without our own failures.
    await deliver(['dead-last@example.com']);
    expect((await organization()).pauseReason).toMatch(/^6.7% of the last 150 messages bounced/);
  });

  it('ignores simulator mail on both sides', async () => {
    const simulated = (word: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${word}+${index}@simulator.test`);
    await deliver(simulated('bounced', 50), simulated('complained', 50));
    expect([await status(), await workspaceEvents(test.app)]).toEqual(['enabled', []]);
    // Simulator mail does not count towards the minimum either.
    await deliver(many(10, 'dead'), many(89, 'ok'));
    expect(await status()).toBe('enabled');
  });

  it('counts late bounces and complaints once for any number of reports', async () => {
    const messages = await deliver(many(100, 'ok'));
    for (const { id } of messages.slice(0, 4)) {
      expect(await late(test.app, id, complaint)).toBe(true);
      expect(await late(test.app, id, complaint)).toBe(false);
    }
    expect([await status(), await workspaceEvents(test.app)]).toEqual([
      'enabled',
      ['workspace.warning'],
    ]);
    await late(test.app, messages[4]?.id ?? '', complaint);
    expect((await organization()).pauseReason).toBe(
      '5% of the last 100 messages were reported as spam (limit 0.3%).',
    );
  });

  it('counts a late bounce in the hour of its arrival', async () => {
    const messages = await deliver(many(100, 'ok'));
    for (const { id } of messages.slice(0, 9)) await late(test.app, id, lateBounce);
    expect(await status()).toBe('enabled');
    await late(test.app, messages[9]?.id ?? '', lateBounce);
    expect(await status()).toBe('paused');
  });

  it('warns once per episode, and again only after a healthy time', async () => {
    await deliver(many(95, 'ok'), many(5, 'dead'));
    await deliver(['dead-x@example.com']);
    expect(await workspaceEvents(test.app)).toEqual(['workspace.warning']);
    await deliver(many(400, 'ok', 'example.net'));
    const [review] = await findReviews(test.app.store.db, [test.caller.organizationId]);
    expect(review).toMatchObject({ warned_at: null });
    await deliver(many(6, 'dead', 'example.org'));
    expect(await workspaceEvents(test.app)).toEqual(['workspace.warning', 'workspace.warning']);
  });

  it('ignores outcomes outside the window', async () => {
    await deliver(many(91, 'ok'), many(9, 'dead'));
    pass(25 * hour);
    await deliver(many(99, 'ok', 'example.net'), ['dead-z@example.com']);
    expect(await status()).toBe('enabled');
    pass(15 * 24 * hour);
    await sweepHealth(test.app);
    await deliver(['dead-y@example.com']);
    expect(await status()).toBe('enabled');
  });

  it.each([
    ['24 hours and 59 minutes later it counts', 24 * 60 + 59, 'paused'],
    ['a minute after that no more', 25 * 60, 'enabled'],
  ] as const)('counts an outcome in the hour of its arrival: %s', async (_, minutes, then) => {
    await deliver(many(91, 'ok'), many(9, 'dead'));
    pass(minutes * minute);
    await deliver(['dead-z@example.com']);
    expect(await status()).toBe(then);
  });

  it('keeps the queue of a paused organization until the resume, which clears the counts', async () => {
    await deliver(many(90, 'ok'), many(10, 'dead'));
    expect(await status()).toBe('paused');
    await resumeSending(test.app, 'default');
    await deliver(['ok-b@example.com', 'dead-b@example.com']);
    expect(await status()).toBe('enabled');
    await pauseOrganization(test.app, 'default', {});
    await expect(accept(test.app, test.caller, ['ok@example.com'])).rejects.toMatchObject({
      _tag: 'ForbiddenError',
    });
  });

  it('counts outcomes after a resume within its hour', async () => {
    await test.clock.advance(20 * minute);
    await deliver(many(90, 'ok'), many(10, 'dead'));
    await test.clock.advance(20 * minute);
    await resumeSending(test.app, 'default');
    await deliver(many(90, 'ok', 'example.net'), many(9, 'dead', 'example.net'));
    expect(await status()).toBe('enabled');
    await deliver(['ok-b@example.com', 'dead-b@example.com']);
    expect((await organization()).pauseReason).toMatch(/^9.9% of the last 101 messages bounced/);
  });

  it('holds queued mail as tenant-health until the resume', async () => {
    const [message] = await deliver(['wait-a@example.com']);
    await pauseOrganization(test.app, 'default', { note: 'a look' });
    await test.clock.advance(90_000);
    await outcomes.idle();
    const waiting = await getMessage(test.app, test.caller, message?.id ?? '');
    expect(waiting.deliveries).toMatchObject([
      { attemptCount: 1, scheduling: { waitReason: 'tenant-health' } },
    ]);
    await resumeSending(test.app, 'default');
    await outcomes.idle();
    const went = await getMessage(test.app, test.caller, message?.id ?? '');
    expect(went.deliveries).toMatchObject([
      { attemptCount: 2, scheduling: { waitReason: 'retry' } },
    ]);
    expect(await workspaceEvents(test.app)).toEqual(['workspace.paused', 'workspace.resumed']);
    await expect(resumeSending(test.app, 'default')).rejects.toMatchObject({
      _tag: 'ConflictError',
    });
  });

  it('shows with a sender the results and the amount of its mail of the last day', async () => {
    const sender = await createSender(test.app, test.caller, { email: 'news@sandbox.test' });
    const from = 'News@sandbox.test';
    await outcomes.deliver(test.caller, many(3, 'ok'), from);
    pass(2 * 24 * hour);
    const [first] = await outcomes.deliver(
      test.caller,
      [...many(6, 'ok', 'example.net'), ...many(2, 'dead')],
      from,
    );
    await late(test.app, first?.id ?? '', complaint);
    await deliver(many(5, 'ok', 'example.org'));
    const shown = await getSender(test.app, test.caller, sender.id);
    expect(shown.deliverability).toEqual({
      bounceRate: 0.25,
      complaintRate: 0.125,
      windowSends: 8,
      sendingStatus: 'enabled',
    });
    expect(shown.series).toEqual([...Array.from({ length: 11 }, () => 0), 3, 0, 8]);
  });
});

describe('a window of a month', () => {
  const test = eachApp({ config: { health: { windowHours: 720 } } });

  it('keeps its oldest hour until it is over', async () => {
    const { organizationId } = test.caller;
    const deliver = async (addresses: string[]) => {
      const outcomes = await startOutcomes(test.app);
      await outcomes.deliver(test.caller, addresses);
      await outcomes.close();
    };
    await deliver([...many(91, 'ok'), ...many(9, 'dead')]);
    await test.clock.advance(720 * 3_600_000 + 59 * 60_000);
    await sweepHealth(test.app);
    await deliver(['dead-z@example.com']);
    expect((await getOrganization(test.app, organizationId)).sendingStatus).toBe('paused');
  });
});
