// Rights that change between the request for a run and its messages, and content that is changed meanwhile.
import { describe, expect, it } from 'vitest';
import { createKey, standingFor, updateKey } from '../../../src/access/keys/keys.ts';
import { updateCampaign } from '../../../src/campaigns/campaigns/campaigns.ts';
import { updateCampaignInput } from '../../../src/campaigns/campaigns/schema.ts';
import { deleteContact } from '../../../src/outbound/messages/forget-contact.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import {
  callerOf,
  grant,
  installed,
  type Wanted,
} from '../../access/keys/installation-fixtures.ts';
import { eachApp } from '../../support/each-app.ts';
import { makeCampaign, makeContacts, makeRun, readRun, whileWalking } from './fixtures.ts';

const hourMs = 3_600_000;

describe('a run whose rights change', () => {
  const test = eachApp();

  it('is held when its key may not send from its From any more', async () => {
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
    expect(await readRun(app, operator, run)).toMatchObject({
      status: 'held',
      holdReason: 'key',
      failedCount: 0,
      holdDetail: expect.stringContaining('may not send from'),
    });
  });

  it.each<[string, Partial<Wanted>]>([
    ['its permission', { permissions: ['campaigns:read'] }],
    ['its send mode', { sendMode: 'approval' }],
  ])('is held when the installation that made it has lost %s', async (_what, lost) => {
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
      ...{ status: 'held', holdReason: 'key', dispatchedCount: 0 },
    });
  });

  it('fails at its start if its campaign has lost the unsubscribe group', async () => {
    const { app, operator, clock } = test;
    await makeContacts(app, operator, 3);
    const { id: unsubscribeGroupId } = await createGroup(app, operator, { name: 'News' });
    const email = { subject: 'News', text: 'Hello', unsubscribeGroupId };
    const campaignId = await makeCampaign(app, operator, { email, transactional: false });
    const run = await makeRun(app, operator, campaignId, { scheduledFor: clock.now() + hourMs });
    const change = updateCampaignInput.parse({ email: { subject: 'News', text: 'Hello' } });
    await updateCampaign(app, operator, campaignId, change);
    await clock.advance(hourMs);
    await whileWalking(app, (loop) => loop.idle());
    expect(await readRun(app, operator, run)).toMatchObject({
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
