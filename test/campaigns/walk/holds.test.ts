// Holds of a run, on both stores: each cause, and the end: automatic, or by a person.
import { beforeEach, describe, expect, it } from 'vitest';
import { standingFor } from '../../../src/access/keys/key-caller.ts';
import { createKey, revokeKey, updateKey } from '../../../src/access/keys/keys.ts';
import {
  pauseOrganization,
  resumeOrganization,
} from '../../../src/access/organizations/organizations.ts';
import type { Run } from '../../../src/campaigns/setup/run-schema.ts';
import { resumeRun } from '../../../src/campaigns/setup/runs.ts';
import type { CampaignLoop } from '../../../src/campaigns/walk/loop.ts';
import { deleteDomain } from '../../../src/identity/domains/domains.ts';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { liftDomainHold, scopeOfDomain } from '../../../src/identity/reputation/domain-holds.ts';
import { markHeld } from '../../../src/identity/reputation/health-queries.ts';
import { countRun, countRunAttempt } from '../../../src/run-ledger/counters.ts';
import { provenDomain, warm } from '../../identity/warming/fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { loggedEvents } from '../campaigns/fixtures.ts';
import { makeCampaign, makeContacts, makeRun, readRun, whileWalking } from './fixtures.ts';

/** A plan slow enough for something to happen in the middle of a run. */
const slow = { ratePerSecond: 100, dailyEmails: null, trialCaps: false };

describe.each(stores)('a run is held on %s', (store) => {
  const test = eachApp({ store, config: { plans: { 'self-hosted': slow } } });
  let domainId: string;
  beforeEach(async () => {
    domainId = await provenDomain(test.app, test.operator);
  });

  const read = (run: Run) => readRun(test.app, test.operator, run);
  async function runTo(contacts: number, caller = test.operator): Promise<Run> {
    await makeContacts(test.app, test.operator, contacts);
    const from = { email: `news@${warm}` };
    const campaignId = await makeCampaign(test.app, test.operator, { from });
    return makeRun(test.app, caller, campaignId);
  }
  async function pass(loop: CampaignLoop, ms: number) {
    for (let passed = 0; passed < ms; passed += 5_000) {
      await test.clock.advance(5_000);
      await loop.idle();
    }
  }

  it('by a pause of the workspace, until its end', async () => {
    const run = await runTo(300);
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      await pauseOrganization(test.app, 'default', { note: 'a review' });
      await pass(loop, 5_000);
      const held = await read(run);
      expect(held).toMatchObject({
        status: 'held',
        holdReason: 'workspace-paused',
        holdDetail: 'a review',
        dispatchedCount: 100,
        waitReason: null,
      });
      await pass(loop, 60_000);
      expect((await read(run)).dispatchedCount).toBe(100);
      await resumeOrganization(test.app, 'default', {});
      await pass(loop, 30_000);
      expect(await read(run)).toMatchObject({ status: 'completed', dispatchedCount: 300 });
    });
    const types = (await loggedEvents(test.app)).map(({ type }) => type);
    expect(types).toEqual(['campaign.run.started', 'campaign.run.held', 'campaign.run.completed']);
  });

  it('by a deleted domain, until the sender may send again', async () => {
    const run = await runTo(300);
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      await deleteDomain(test.app, test.operator, domainId);
      await pass(loop, 5_000);
      expect(await read(run)).toMatchObject({
        status: 'held',
        holdReason: 'sender',
        holdDomainId: null,
        holdDetail: expect.stringContaining('is not a domain of this organization'),
        failedCount: 0,
      });
      await provenDomain(test.app, test.operator);
      await pass(loop, 30_000);
      expect(await read(run)).toMatchObject({ status: 'completed', dispatchedCount: 300 });
    });
  });

  it('by a hold of its domain, until its end', async () => {
    const run = await runTo(300);
    const { organizationId } = test.operator;
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      const hold = { organization_id: organizationId, scope: scopeOfDomain(warm), since: 0 };
      const more = { held_at: test.clock.now(), hold_reason: 'bounces' };
      await test.app.store.write((trx) => markHeld(trx, { ...hold, ...more }));
      await pass(loop, 5_000);
      expect(await read(run)).toMatchObject({
        status: 'held',
        holdReason: 'domain-held',
        holdDomainId: domainId,
      });
      await test.app.store.write((trx) => liftDomainHold(test.app, trx, organizationId, warm));
      await pass(loop, 30_000);
      expect(await read(run)).toMatchObject({ status: 'completed', dispatchedCount: 300 });
    });
  });

  it('by the revocation of its key', async () => {
    const run = await runTo(300, test.caller);
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      await revokeKey(test.app, test.operator, test.caller.keyId ?? '');
      await pass(loop, 5_000);
      expect(await read(run)).toMatchObject({ status: 'held', holdReason: 'key' });
    });
  });

  it('by the binding of its key to a mailbox', async () => {
    const key = await createKey(test.app, test.operator, { role: 'developer' });
    const caller = await standingFor(test.app.store.db, key.id);
    if (!caller) throw new Error('the key is gone');
    const run = await runTo(300, caller);
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      const { id } = await createMailbox(test.app, test.operator, { slug: 'desk' });
      await updateKey(test.app, test.operator, key.id, { constraints: { mailboxIds: [id] } });
      await pass(loop, 5_000);
      const held = { status: 'held', holdReason: 'key', failedCount: 0 };
      expect(await read(run)).toMatchObject(held);
    });
  });

  it.each([
    ['bounces', { hard_bounced: 25 }, '5% of the last 500 messages bounced (limit 5%).'],
    ['complaints', { complaints: 2 }, '0.4% of the last 500 messages were reported as spam'],
  ])('by its own %s, until a person resumes it', async (_of, counts, words) => {
    const run = await runTo(300);
    const place = { campaignId: run.campaignId, runId: run.id };
    const count = (more: Parameters<typeof countRun>[2]) =>
      test.app.store.write(async (trx) => countRun(trx, run.id, more));
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      await count({ ...counts, attempted: 499 });
      await test.clock.advance(500);
      await loop.idle();
      expect((await read(run)).status).toBe('running');
      await count({ attempted: 1 });
      await test.clock.advance(500);
      await loop.idle();
      expect(await read(run)).toMatchObject({
        status: 'held',
        holdReason: 'run-health',
        holdDetail: expect.stringContaining(words),
      });
      await pass(loop, 60_000);
      expect((await read(run)).status).toBe('held');
      await resumeRun(test.app, test.operator, place, { note: 'the list was cleaned' });
      await pass(loop, 30_000);
      expect(await read(run)).toMatchObject({ status: 'completed', dispatchedCount: 300 });
    });
  });

  it('by deferrals of a provider, with its words, until a person resumes it', async () => {
    const run = await runTo(300);
    const place = { campaignId: run.campaignId, runId: run.id };
    const attempts = (count: number, deferral: string | null) =>
      test.app.store.write(async (trx) => {
        const at = test.clock.now();
        for (let i = 0; i < count; i++) countRunAttempt(trx, { runId: run.id, at, deferral });
      });
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      await attempts(139, null);
      await attempts(60, '421 4.7.0 try later');
      await test.clock.advance(500);
      await loop.idle();
      expect((await read(run)).status).toBe('running');
      await attempts(1, null);
      await test.clock.advance(500);
      await loop.idle();
      expect(await read(run)).toMatchObject({
        status: 'held',
        holdReason: 'provider',
        holdDetail: '421 4.7.0 try later',
      });
      await resumeRun(test.app, test.operator, place, { note: 'they lifted the limit' });
      await pass(loop, 30_000);
      expect(await read(run)).toMatchObject({ status: 'completed', dispatchedCount: 300 });
    });
  });
});
