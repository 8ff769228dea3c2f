// Rights that change between the request for a run and its start (frozen.test.ts has the content).
import { describe, expect, it } from 'vitest';
import { standingFor } from '../../../src/access/keys/key-caller.ts';
import { createKey, updateKey } from '../../../src/access/keys/keys.ts';
import { updateCampaign } from '../../../src/campaigns/setup/campaigns.ts';
import { standingOf } from '../../../src/campaigns/setup/run-words.ts';
import { getRun } from '../../../src/campaigns/setup/runs.ts';
import { updateCampaignInput } from '../../../src/campaigns/setup/schema.ts';
import { createSender, updateSender } from '../../../src/identity/senders/senders.ts';
import { deleteContact } from '../../../src/outbound/messages/forget/forget-contact.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import {
  callerOf,
  grant,
  installed,
  type Wanted,
} from '../../access/keys/installation-fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { loggedEvents, storedRun } from '../campaigns/fixtures.ts';
import { makeCampaign, makeContacts, makeRun, readRun, whileWalking } from './fixtures.ts';

const hourMs = 3_600_000;

describe.each(stores)('a run whose rights change, on %s', (store) => {
  const test = eachApp({ store });

  it('is cancelled when its key may not send from its From any more', async () => {
    const { app, operator, clock } = test;
    await makeContacts(app, operator, 3);
    const key = await createKey(app, operator, { role: 'developer' });
    const caller = await standingFor(app.store.db, key.id);
    if (!caller) throw new Error('the key is gone');
    const run = await makeRun(app, caller, await makeCampaign(app, operator), {
      scheduledFor: clock.now() + hourMs,
    });
    await updateKey(app, operator, key.id, { constraints: { domains: ['elsewhere.example'] } });
    await clock.advance(hourMs);
    await whileWalking(app, (loop) => loop.idle());
    const cancelled = await readRun(app, operator, run);
    expect(cancelled).toMatchObject({
      status: 'cancelled',
      startedAt: null,
      failureReason: expect.stringContaining('may not send from'),
    });
    expect(standingOf(cancelled, clock.now()).because).toMatch(
      /^The service cancelled it: .*may not send from/,
    );
    expect(await loggedEvents(app)).toMatchObject([
      { type: 'campaign.run.failed', data: { status: 'cancelled' } },
    ]);
  });

  it.each<[string, Partial<Wanted>, string]>([
    ['its permission', { permissions: ['campaigns:read'] }, 'lacks the permission campaigns:run'],
    ['its send mode', { sendMode: 'none' }, 'never sends'],
    ['its direct sends', { sendMode: 'approval' }, 'only proposes'],
    [
      'its other mailboxes',
      { constraints: { mailboxIds: ['mbx_0123456789abcdefghjk'] } },
      'reaches only its own mailboxes',
    ],
  ])('is cancelled when the installation that made it has lost %s', async (_what, lost, words) => {
    const { app, operator, clock } = test;
    await makeContacts(app, operator, 3);
    const wanted: Wanted = { permissions: ['campaigns:run'] };
    const made = await installed(test, wanted);
    const caller = await callerOf(test, made);
    if (!caller) throw new Error('the key was refused');
    const run = await makeRun(app, caller, await makeCampaign(app, operator), {
      scheduledFor: clock.now() + hourMs,
    });
    await grant(test, made, { ...wanted, ...lost });
    await clock.advance(hourMs);
    await whileWalking(app, (loop) => loop.idle());
    expect(await readRun(app, operator, run)).toMatchObject({
      ...{ status: 'cancelled', startedAt: null, dispatchedCount: 0 },
      failureReason: expect.stringContaining(words),
    });
  });

  it('fails at its start if its sender may not send any more', async () => {
    const { app, operator, clock } = test;
    await makeContacts(app, operator, 3);
    const sender = await createSender(app, operator, { email: 'news@sandbox.test' });
    const from = { email: 'news@sandbox.test' };
    const run = await makeRun(app, operator, await makeCampaign(app, operator, { from }), {
      scheduledFor: clock.now() + hourMs,
    });
    await updateSender(app, operator, sender.id, { isActive: false });
    await clock.advance(hourMs);
    await whileWalking(app, (loop) => loop.idle());
    expect(await readRun(app, operator, run)).toMatchObject({
      ...{ status: 'failed', startedAt: null },
      failureReason: expect.stringContaining('this sender is inactive'),
    });
  });

  it('of an earlier version is frozen at its start, and fails if its campaign lost its group', async () => {
    const { app, operator } = test;
    await makeContacts(app, operator, 3);
    const { id: unsubscribeGroupId } = await createGroup(app, operator, { name: 'News' });
    const email = { subject: 'News', text: 'Hello', unsubscribeGroupId };
    const campaignId = await makeCampaign(app, operator, { email, transactional: false });
    const walked = async () => {
      const run = await storedRun(app, operator, 'scheduled', { campaign_id: campaignId });
      await whileWalking(app, (loop) => loop.idle());
      return getRun(app, operator, { campaignId, runId: run.id });
    };
    expect(await walked()).toMatchObject({ status: 'completed', dispatchedCount: 3 });
    const change = updateCampaignInput.parse({ email: { subject: 'News', text: 'Hello' } });
    await updateCampaign(app, operator, campaignId, change);
    expect(await walked()).toMatchObject({
      status: 'failed',
      failureReason: expect.stringContaining('needs a group that its recipients can leave'),
      startedAt: null,
    });
  });

  it('leaves a campaign open to changes after one of its contacts is deleted', async () => {
    const { app, operator } = test;
    const [gone = '', left = ''] = await makeContacts(app, operator, 2);
    const audience = { contactIds: [gone, left] };
    const campaignId = await makeCampaign(app, operator, { audience });
    await deleteContact(app, operator, gone);
    const renamed = await updateCampaign(app, operator, campaignId, { name: 'Later' });
    expect(renamed.name).toBe('Later');
    const again = updateCampaign(
      app,
      operator,
      campaignId,
      updateCampaignInput.parse({ audience }),
    );
    await expect(again).rejects.toThrow(gone);
  });
});
