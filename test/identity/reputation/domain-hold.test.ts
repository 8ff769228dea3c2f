// Held sending domains: a domain is held where its own mail reaches the limits that pause a
// workspace while the workspace as a whole does not; its mail waits until the review.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createOrganization,
  getOrganization,
  pauseOrganization,
} from '../../../src/access/organizations/organizations.ts';
import {
  addDomain,
  deleteDomain,
  getDomain,
  listDomains,
} from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { countHealth } from '../../../src/identity/reputation/health.ts';
import { createSender, getSender } from '../../../src/identity/senders/senders.ts';
import { explainMessage } from '../../../src/outbound/explain/explain.ts';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { resumeDomain, resumeSending } from '../../../src/outbound/queue/desk/resume.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import {
  complaint,
  late,
  many,
  type Outcomes,
  startOutcomes,
  workspaceEventRows,
  workspaceEvents,
} from './fixtures.ts';

const ill = 'ill.example';
const from = `news@${ill}`;

describe.each(stores)('a sending domain on %s', (store) => {
  const test = eachApp({ store });
  let outcomes: Outcomes;
  let id: string;
  beforeEach(async () => {
    outcomes = await startOutcomes(test.app);
    ({ id } = await addDomain(test.app, test.operator, { domain: ill, dkim: 'ed25519' }));
    await verifyDomain(test.app, test.operator, id, { force: true });
  });
  afterEach(async () => {
    await outcomes.close();
  });

  const domain = () => getDomain(test.app, test.operator, id);
  const sendingStatus = async () => (await domain()).sendingStatus;
  const organizationStatus = async () =>
    (await getOrganization(test.app, test.caller.organizationId)).sendingStatus;
  const deliver = (addresses: string[]) => outcomes.deliver(test.caller, addresses);
  const deliverIll = (addresses: string[]) => outcomes.deliver(test.caller, addresses, from);
  const resume = (note?: string) =>
    resumeDomain(test.app, test.operator, id, note === undefined ? {} : { note });
  /** Counts this much mail of a domain as just ended. */
  const count = (fromDomain: string, attempted: number, hard_bounced = 0) =>
    test.app.store.write((trx) =>
      countHealth(test.app, trx, [
        {
          organizationId: test.caller.organizationId,
          sender: null,
          fromDomain,
          counts: { attempted, hard_bounced },
        },
      ]),
    );
  /** Counts enough good mail of another domain to keep the workspace below its limits. */
  const dilute = () => count('sandbox.test', 300);
  async function hold(): Promise<void> {
    await dilute();
    await count(ill, 100, 10);
    expect(await sendingStatus()).toBe('held');
  }
  const waiting = async (messageId: string) =>
    (await getMessage(test.app, test.caller, messageId)).deliveries;

  it('is held at 5 % and 10 bounces of its own, and the workspace is only warned', async () => {
    await dilute();
    await count(ill, 90);
    await deliverIll(many(9, 'dead'));
    expect([await sendingStatus(), await workspaceEvents(test.app)]).toEqual([
      'enabled',
      ['workspace.warning'],
    ]);
    await deliverIll(['dead-last@example.com']);
    expect(await organizationStatus()).toBe('enabled');
    const reason = '10% of the last 100 messages bounced (limit 5%).';
    expect(await domain()).toMatchObject({
      sendingStatus: 'held',
      heldAt: '2026-01-05T12:00:00.000Z',
      holdReason: reason,
    });
    const { items } = await listDomains(test.app, test.operator, { page: 1, limit: 20 });
    expect(items.map((one) => [one.domain, one.sendingStatus])).toEqual([
      [ill, 'held'],
      ['sandbox.test', 'enabled'],
    ]);
    expect((await workspaceEventRows(test.app)).at(-1)).toEqual({
      type: 'workspace.warning',
      status: 'enabled',
      metadata: {
        domain: ill,
        sendingStatus: 'held',
        of: 'bounces',
        count: 10,
        attempted: 100,
        limit: 0.05,
        text: reason,
      },
    });
  });

  it.each([
    ['99 attempts are too few', 99, 10, 'enabled'],
    ['10 bounces of 201 are below 5 %', 201, 10, 'enabled'],
    ['10 bounces of 200 are 5 %', 200, 10, 'held'],
    ['9 bounces of 100 are too few', 100, 9, 'enabled'],
  ] as const)('is held or not by its counts: %s', async (_name, attempted, bounces, status) => {
    await count('sandbox.test', 400);
    await count(ill, attempted, bounces);
    expect([await sendingStatus(), await organizationStatus()]).toEqual([status, 'enabled']);
  });

  it.each([
    ['counts the 24 whole hours before now', 25 * 3_600_000 - 1, 'held'],
    ['counts no earlier hour', 25 * 3_600_000, 'enabled'],
  ] as const)('%s', async (_name, passedMs, status) => {
    await count(ill, 100, 9);
    await test.clock.advance(passedMs);
    await count('sandbox.test', 300);
    await count(ill, 99);
    expect(await sendingStatus()).toBe('enabled');
    await deliverIll(['dead@example.com']);
    expect(await sendingStatus()).toBe(status);
  });

  it('is held at 0.3 % and 5 complaints of its own', async () => {
    await count('sandbox.test', 1_900);
    await count(ill, 95);
    const messages = await deliverIll(many(5, 'ok'));
    for (const { id: messageId } of messages.slice(0, 4)) {
      await late(test.app, messageId, complaint);
    }
    expect(await sendingStatus()).toBe('enabled');
    await late(test.app, messages[4]?.id ?? '', complaint);
    expect([await sendingStatus(), await organizationStatus()]).toEqual(['held', 'enabled']);
    expect((await domain()).holdReason).toBe(
      '5% of the last 100 messages were reported as spam (limit 0.3%).',
    );
  });

  it('with all mail of the workspace pauses that instead', async () => {
    await count(ill, 100, 10);
    expect([await sendingStatus(), await organizationStatus()]).toEqual(['enabled', 'paused']);
    // A resume clears the counts of the workspace and of its domains.
    await resumeSending(test.app, 'default');
    await dilute();
    await count(ill, 100, 9);
    expect([await sendingStatus(), await organizationStatus()]).toEqual(['enabled', 'enabled']);
  });

  it('cleared with its workspace is judged by later mail alone', async () => {
    await count(ill, 100, 10);
    await resumeSending(test.app, 'default');
    await dilute();
    await count('sandbox.test', 100, 1);
    await count(ill, 100, 9);
    expect([await sendingStatus(), await organizationStatus()]).toEqual(['enabled', 'enabled']);
    await count(ill, 1, 1);
    expect([await sendingStatus(), await organizationStatus()]).toEqual(['held', 'enabled']);
    expect((await domain()).holdReason).toMatch(/^9.9% of the last 101 messages/);
  });

  it('accepts sends while held, which wait as domain-health, and other domains continue', async () => {
    await hold();
    const [held, other] = [
      await deliverIll(['ok-a@example.org']),
      await deliver(['ok-b@example.org']),
    ];
    expect(await waiting(held[0]?.id ?? '')).toMatchObject([
      { status: 'pending', attemptCount: 0, scheduling: { waitReason: 'domain-health' } },
    ]);
    expect(await waiting(other[0]?.id ?? '')).toMatchObject([{ status: 'delivered' }]);
    const explained = await explainMessage(test.app, test.operator, held[0]?.id ?? '');
    expect(explained.recipients[0]).toMatchObject({
      because: `Mail from ${ill} is held back: too much of it bounced or was reported.`,
      help: {
        command: `svc domains resume ${ill}`,
      },
    });
    // Time does not release the mail: that takes a review.
    test.clock.set(test.clock.now() + 48 * 3_600_000);
    await test.clock.advance(3_600_000);
    await outcomes.idle();
    expect(await waiting(held[0]?.id ?? '')).toMatchObject([
      { attemptCount: 0, scheduling: { waitReason: 'domain-health' } },
    ]);
  });

  it('keeps mail deferred before the hold', async () => {
    const [deferred] = await deliverIll(['wait-a@example.org']);
    await hold();
    await test.clock.advance(90_000);
    await outcomes.idle();
    expect(await waiting(deferred?.id ?? '')).toMatchObject([
      { attemptCount: 1, scheduling: { waitReason: 'domain-health' } },
    ]);
  });

  it('releases its mail at the resume, and starts clean', async () => {
    await hold();
    const [message] = await deliverIll(['ok-a@example.org']);
    const resumed = await resume('an old list was removed');
    expect(resumed).toMatchObject({ sendingStatus: 'enabled', heldAt: null, holdReason: null });
    await outcomes.idle();
    expect(await waiting(message?.id ?? '')).toMatchObject([{ status: 'delivered' }]);
    expect((await workspaceEventRows(test.app)).at(-1)).toEqual({
      type: 'workspace.resumed',
      status: 'enabled',
      metadata: { domain: ill, sendingStatus: 'enabled', note: 'an old list was removed' },
    });
    // The workspace still has the counts that were cleared for the domain.
    await dilute();
    await count(ill, 98, 9);
    expect(await sendingStatus()).toBe('enabled');
    await deliverIll(['dead-last@example.org']);
    expect(await sendingStatus()).toBe('held');
    expect((await domain()).holdReason).toMatch(/^10% of the last 100 messages/);
  });

  it('is resumed only while it is held', async () => {
    await expect(resume()).rejects.toMatchObject({
      _tag: 'ConflictError',
      message: `Sending from ${ill} is not held`,
    });
    await hold();
    await resume();
    await expect(resume()).rejects.toMatchObject({ _tag: 'ConflictError' });
    await expect(resume('two\nlines')).rejects.toMatchObject({ _tag: 'ValidationError' });
  });

  it('stays held after deletion and re-creation', async () => {
    await hold();
    await deleteDomain(test.app, test.operator, id);
    ({ id } = await addDomain(test.app, test.operator, { domain: ill, dkim: 'ed25519' }));
    expect(await sendingStatus()).toBe('held');
  });

  it('of a paused workspace waits for both resumes', async () => {
    await hold();
    const [message] = await deliverIll(['ok-a@example.org']);
    await pauseOrganization(test.app, 'default', {});
    await resume();
    await outcomes.idle();
    expect(await waiting(message?.id ?? '')).toMatchObject([
      { scheduling: { waitReason: 'tenant-health' } },
    ]);
    await resumeSending(test.app, 'default');
    await outcomes.idle();
    expect(await waiting(message?.id ?? '')).toMatchObject([{ status: 'delivered' }]);
  });

  it('is held for one organization alone, and its senders show it', async () => {
    const sender = await createSender(test.app, test.caller, { email: from });
    const status = async () =>
      (await getSender(test.app, test.caller, sender.id)).deliverability.sendingStatus;
    expect(await status()).toBe('enabled');
    await hold();
    expect(await status()).toBe('held');
    const other = await createOrganization(test.app, { name: 'other', plan: 'self-hosted' });
    const caller = { ...test.operator, organizationId: other.id };
    const same = await addDomain(test.app, caller, { domain: ill, dkim: 'ed25519' });
    expect(same.sendingStatus).toBe('enabled');
    // Only one of them can verify the name at a time.
    await deleteDomain(test.app, test.operator, id);
    await verifyDomain(test.app, caller, same.id, { force: true });
    const [message] = await outcomes.deliver(caller, ['ok-a@example.org'], from);
    const { deliveries } = await getMessage(test.app, caller, message?.id ?? '');
    expect(deliveries).toMatchObject([{ status: 'delivered' }]);
  });
});
