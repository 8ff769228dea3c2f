// A run from its start to its end, on both stores: each contact of the audience once, with its
// reason, and nobody else. Pace, quota and holds have tests of their own.
import { describe, expect, it } from 'vitest';
import { deleteContact } from '../../../src/outbound/messages/forget/forget-contact.ts';
import { blockAddress } from '../../../src/people/blocks/suppression.ts';
import { updateContact } from '../../../src/people/contacts/contacts.ts';
import { bothStores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { loggedEvents } from '../campaigns/fixtures.ts';
import {
  ledgerOf,
  makeCampaign,
  makeContacts,
  makeRun,
  messagesOf,
  readRun,
  whileWalking,
} from './fixtures.ts';

describe.each(bothStores)('a run on %s', (store) => {
  const test = eachApp({ store });
  const contacts = (count: number, more = {}) => makeContacts(test.app, test.operator, count, more);
  const campaign = (more = {}) => makeCampaign(test.app, test.operator, more);
  const start = async (campaignId: string, more = {}) =>
    makeRun(test.app, test.operator, campaignId, more);
  const read = (run: Awaited<ReturnType<typeof start>>) => readRun(test.app, test.operator, run);
  const walk = () => whileWalking(test.app, (loop) => loop.idle());
  it('makes one message for each contact over several pages', async () => {
    const ids = await contacts(1_100);
    const run = await start(await campaign());
    await walk();
    expect(await read(run)).toMatchObject({
      status: 'completed',
      totalRecipients: 1_100,
      dispatchedCount: 1_100,
      failedCount: 0,
      skippedCount: 0,
      lastContactId: ids.at(-1),
      waitReason: null,
    });
    const ledger = await ledgerOf(test.app, run.id);
    expect(ledger.map(({ contact_id }) => contact_id)).toEqual(ids);
    expect(new Set(ledger.map(({ message_id }) => message_id)).size).toBe(1_100);
    expect(await messagesOf(test.app, run.id)).toBe(1_100);
  });

  it('publishes its start and its end once', async () => {
    await contacts(3);
    await start(await campaign());
    await walk();
    await walk();
    const events = await loggedEvents(test.app);
    expect(events.map(({ type }) => type)).toEqual([
      'campaign.run.started',
      'campaign.run.completed',
    ]);
    expect(events[1]?.data).toMatchObject({ dispatchedCount: 3, totalRecipients: 3 });
  });

  it('to nobody is completed at once with zeros', async () => {
    const run = await start(await campaign());
    await walk();
    expect(await read(run)).toMatchObject({
      status: 'completed',
      totalRecipients: 0,
      dispatchedCount: 0,
      skippedCount: 0,
    });
  });

  it('starts at its time', async () => {
    await contacts(1);
    const at = test.clock.now() + 3_600_000;
    const run = await start(await campaign(), { scheduledFor: at });
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      await test.clock.advance(3_599_999);
      await loop.idle();
      expect(await read(run)).toMatchObject({ status: 'scheduled', dispatchedCount: 0 });
      await test.clock.advance(1);
      await loop.idle();
    });
    expect(await read(run)).toMatchObject({ status: 'completed', dispatchedCount: 1 });
  });

  it('leaves out contacts that join after its start', async () => {
    const ids = await contacts(600);
    const run = await start(await campaign());
    const { write } = test.app.store;
    let isJoined = false;
    const joining: typeof write = async (work, durability) => {
      const result = await write(work, durability);
      const now = await read(run);
      if (!isJoined && now.lastContactId !== null) {
        isJoined = true;
        await test.clock.advance(1_000);
        await contacts(5, { domain: 'late.example' });
      }
      return result;
    };
    Object.assign(test.app.store, { write: joining });
    await walk();
    Object.assign(test.app.store, { write });
    expect(isJoined).toBe(true);
    const ledger = await ledgerOf(test.app, run.id);
    expect(ledger.map(({ contact_id }) => contact_id)).toEqual(ids);
  });

  it('judges contacts as they are at their page', async () => {
    const [a = '', b = '', c = '', d = ''] = await contacts(5);
    const run = await start(await campaign());
    await test.clock.advance(1);
    await deleteContact(test.app, test.operator, a);
    await updateContact(test.app, test.operator, b, { tags: ['other'] });
    await test.app.store.write((trx) =>
      blockAddress(test.app, trx, {
        organizationId: test.operator.organizationId,
        address: 'u2@example.com',
        reason: 'manual',
        messageId: null,
      }),
    );
    await updateContact(test.app, test.operator, d, {
      preferences: { notifications: { email: false } },
    });
    await walk();
    expect(await read(run)).toMatchObject({ dispatchedCount: 1, skippedCount: 2 });
    const ledger = await ledgerOf(test.app, run.id);
    expect(ledger.map(({ contact_id, reason }) => [contact_id, reason])).toEqual([
      [c, 'blocked'],
      [d, 'preference'],
      [expect.any(String), null],
    ]);
  });
});
