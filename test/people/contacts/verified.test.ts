// Proof of a contact's address: a person's click, and mail from it that passes DMARC; on both
// stores.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listLog } from '../../../src/history/events/log.ts';
import { createContact, getContact, updateContact } from '../../../src/people/contacts/contacts.ts';
import { proveAddresses } from '../../../src/people/contacts/verify.ts';
import { receiveMail, shortMail } from '../../inbox/receiving/received-mail.ts';
import {
  page,
  type TrackingWorld,
  tracked,
  trackingWorld,
} from '../../outbound/tracking/fixtures.ts';
import { stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { testApp } from '../../support/test-app.ts';
import { watchQueries } from '../../support/watched-queries.ts';

const html = { html: page, tracking: tracked };

describe.each(stores)('a click, on %s', (store) => {
  let world: TrackingWorld;
  beforeEach(async () => {
    world = await trackingWorld(store);
  });
  afterEach(() => world.close());

  const verified = async (id: string) =>
    (await getContact(world.app, world.caller, id)).identities.map((identity) => identity.verified);

  /** Sends a mail, lets time pass after its arrival, and returns its first link. */
  async function linkTo(address: string): Promise<string> {
    await send(world.app, world.caller, address, { email: html });
    const [copy] = await world.copies(1);
    await world.clock.advance(60_000);
    return copy?.links[0] ?? '';
  }

  it("by a person verifies the recipient's address once, unlike one by a program", async () => {
    const { app, caller } = world;
    const identities = ['Ada@example.com', 'other@example.com'].map((identifier) => ({
      channel: 'email' as const,
      identifier,
    }));
    const { id } = await createContact(app, caller, { identities });
    const link = await linkTo('ada@EXAMPLE.com');
    await world.ask(link, { headers: { 'user-agent': 'curl/8' } });
    expect(await verified(id)).toEqual([false, false]);
    const before = (await getContact(app, caller, id)).updatedAt;
    await world.ask(link);
    expect(await verified(id)).toEqual([true, false]);
    expect((await getContact(app, caller, id)).updatedAt).not.toBe(before);
    await world.clock.advance(60_000);
    await world.ask(link);
    const query = { type: ['contact.updated' as const], order: 'asc' as const, limit: 10 };
    const { items } = await listLog(app, caller, query);
    expect(items.map(({ data }) => (data as { id: string }).id)).toEqual([id]);
  });

  it('queries contacts once in ten seconds in an organization without any', async () => {
    const link = await linkTo('ada@example.com');
    const queries = watchQueries();
    const contactQueries = async () => {
      queries.take();
      await world.ask(link);
      return queries.take().filter(({ text }) => /contact/.test(text)).length;
    };
    try {
      expect([await contactQueries(), await contactQueries()]).toEqual([1, 0]);
      await world.clock.advance(10_000);
      expect(await contactQueries()).toBe(1);
    } finally {
      queries.stop();
    }
  });
});

describe.each(stores)('mail from a contact, on %s', (store) => {
  it('verifies its address only when DMARC passes', async () => {
    const dns = await startDnsServer();
    const test = await testApp({ store, config: { dns: { servers: [dns.address] } } });
    const { app, caller } = test;
    try {
      const { id } = await createContact(app, caller, { email: 'Ada@example.com' });
      const isVerified = async () => (await getContact(app, caller, id)).identities[0]?.verified;
      dns.set('example.com', 'TXT', ['v=spf1 ip4:192.0.2.1 -all']);
      dns.set('_dmarc.example.com', 'TXT', ['v=DMARC1; p=none']);
      await receiveMail(app, shortMail('forged'));
      expect(await isVerified()).toBe(false);
      dns.set('example.com', 'TXT', ['v=spf1 ip4:127.0.0.1 -all']);
      await test.clock.advance(3_600_000);
      await receiveMail(app, shortMail('hello'));
      expect(await isVerified()).toBe(true);
    } finally {
      await test.close();
      await dns.close();
    }
  });
});

describe.each(stores)('a change of addresses, on %s', (store) => {
  it('keeps the proof of remaining addresses, in any letter case', async () => {
    const test = await testApp({ store });
    const { app, caller } = test;
    const { organizationId } = caller;
    try {
      const { id, identities } = await createContact(app, caller, { email: 'ada@example.com' });
      const proof = { organizationId, address: 'ada@example.com' };
      await app.store.write((trx) => proveAddresses(app, trx, [proof]));
      const changed = await updateContact(app, caller, id, {
        identities: ['new@example.com', 'Ada@Example.com'].map((identifier) => ({
          channel: 'email' as const,
          identifier,
        })),
      });
      expect(changed.identities.map(({ verified }) => verified)).toEqual([false, true]);
      expect(changed.identities[1]?.id).toBe(identities[0]?.id);
    } finally {
      await test.close();
    }
  });
});
