// Bounces that name another address than the recipient (RFC 3464 2.3): members of a list, targets
// of a forward. The mails are in test/fixtures/members; all are about mail to team@example.com.
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explainMessage } from '../../../src/outbound/explain/explain.ts';
import { listMessageEvents } from '../../../src/outbound/messages/messages.ts';
import { sweepMemberRefusals } from '../../../src/people/blocks/member-refusals.ts';
import { createContact, getContact, listContacts } from '../../../src/people/contacts/contacts.ts';
import { stores } from '../../support/command.ts';
import { firstDelivery, send } from '../../support/delivery.ts';
import { arrives, type ReportWorld, startReportWorld } from './report-fixture.ts';

const team = 'team@example.com';
const dayMs = 24 * 60 * 60_000;

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/members/${name}.eml`, import.meta.url));

/** Mails that refuse an address behind the recipient, with that address. */
const ofMembers = {
  'postfix-alias': 'alice@example.org',
  'final-alone': 'alice@example.org',
  'sendmail-actual': 'alice@example.org',
  'words-of-member': 'alice@example.org',
  'words-of-last-server': 'alice@example.org',
  'local-mailbox': 'alice',
  'member-domain-unknown': 'alice@nowhere.example.org',
  subaddress: 'team+archive@example.com',
  'exim-generated': 'alice@example.org',
  'utf8-member': 'jürgen@example.org',
  'many-members': 'a0@example.org',
  'qmail-member': 'alice@example.org',
  'exim-notice-member': 'alice@example.org',
};

/** Mails that also say that the mail reached the recipient. */
const besideArrivals = [
  'expanded-beside',
  'delivered-beside',
  'relayed-beside',
  'delivered-without-original',
];

/** Mails that refuse the recipient itself. */
const ofRecipient = [
  'own',
  'own-in-capitals',
  'own-with-contact',
  'own-local-part',
  'own-same-actual',
  'own-beside-member',
];

describe.each(stores)('a bounce of mail to a list, on %s', (store) => {
  let service: ReportWorld;

  beforeEach(async () => {
    service = await startReportWorld({ store });
  });
  afterEach(() => service.close());

  /** Sends to the list, and lets a mail of the fixtures come back. */
  async function returned(name: string): Promise<string> {
    const { id, copyOf } = await service.sent(team);
    expect(await arrives(service.app, copyOf(team).returnPath, fixture(name))).toBe('stored');
    return id;
  }

  const explained = async (id: string) => {
    const { recipients } = await explainMessage(service.app, service.caller, id);
    return recipients[0];
  };

  it('ends the delivery softly and blocks nobody if it names another address', async () => {
    const { app, caller } = service;
    for (const [name, refusedAddress] of Object.entries(ofMembers)) {
      const id = await returned(name);
      const { status, errorDetails } = await firstDelivery(app, caller, id);
      const events = await listMessageEvents(app, caller, id);
      const { eventType, metadata } = events.at(-1) ?? {};
      expect({ name, status, errorDetails, eventType, metadata }).toMatchObject({
        name,
        status: 'bounced',
        errorDetails: { refusedAddress },
        eventType: 'bounced',
        metadata: { isHard: false, refusedAddress },
      });
      expect([name, await service.blocked()]).toEqual([name, []]);
    }
  });

  it('leaves the delivery delivered beside delivered, relayed or expanded', async () => {
    for (const name of besideArrivals) {
      const id = await returned(name);
      expect([name, await service.statuses(id)]).toEqual([name, [`${team} delivered`]]);
      // A repeat finds the delivery delivered.
      const { returnPath } = service.copyOf(team);
      await arrives(service.app, returnPath, fixture(name));
      expect([name, await service.statuses(id)]).toEqual([name, [`${team} delivered`]]);
      expect([name, await service.blocked()]).toEqual([name, []]);
    }
  });

  it.each(ofRecipient)('blocks the recipient if it refuses the recipient: %s', async (name) => {
    const id = await returned(name);
    expect(await service.statuses(id)).toEqual([`${team} bounced`]);
    expect(await service.blocked()).toEqual([`${team} bounce`]);
    const events = await listMessageEvents(service.app, service.caller, id);
    expect(events.at(-1)?.metadata).toMatchObject({ isHard: true });
    expect(events.at(-1)?.metadata).not.toHaveProperty('refusedAddress');
  });

  it('is explained by the address that was refused', async () => {
    const id = await returned('postfix-alias');
    expect(await explained(id)).toMatchObject({
      happened:
        'A server accepted it, but it came back for alice@example.org, an address behind ' +
        'team@example.com: there is no such mailbox.',
      next: expect.stringContaining('team@example.com is not blocked'),
    });
  });

  it('is mentioned by explain and the contact from the third within 30 days on', async () => {
    const { app, caller, clock } = service;
    const { id: contactId } = await createContact(app, caller, { email: 'Team@example.com' });
    const shown = async (id: string) => {
      const contact = await getContact(app, caller, contactId);
      const { items } = await listContacts(app, caller, { page: 1, limit: 10 });
      expect(items[0]).toEqual(contact);
      expect(contact.status).toBe('active');
      return [(await explained(id))?.memberRefusals ?? null, contact.statusReason];
    };
    await returned('final-alone');
    await clock.advance(20 * dayMs);
    expect(await shown(await returned('postfix-alias'))).toEqual([null, null]);
    await arrives(app, service.copyOf(team).returnPath, fixture('final-alone'));
    const id = await returned('expanded-beside');
    expect(await shown(id)).toEqual([
      expect.stringMatching(/At least 3 mails to team@example\.com in 30 days .* not blocked/),
      expect.stringMatching(/At least 3 mails to Team@example\.com in 30 days .* not blocked/),
    ]);
    expect(await service.blocked()).toEqual([]);
    await clock.advance(11 * dayMs);
    expect(await shown(id)).toEqual([null, null]);
    await sweepMemberRefusals(app);
    const { rows } = await sql<{ n: number }>`
      select cast(count(*) as integer) as n from member_refusals`.execute(app.store.db);
    expect(rows[0]?.n).toBe(2);
  });

  it('in the reply to an attempt blocks nobody', async () => {
    const { app, caller, sink, pipeline } = service;
    const words = [
      '550 5.1.1 <alice@example.org>: Recipient address rejected: User unknown',
      '550 5.1.1 <team@example.com>: Recipient address rejected: undeliverable address: host ' +
        'mx.example.org[192.0.2.9] said: 550 5.1.1 <alice@example.org>: User unknown',
    ];
    for (const reply of words) {
      sink.on({ verb: 'RCPT', match: /team@/ }, reply);
      const { id } = await send(app, caller, team);
      await pipeline.idle();
      expect(await firstDelivery(app, caller, id)).toMatchObject({
        status: 'bounced',
        errorCode: 'invalid-recipient',
        errorDetails: { refusedAddress: 'alice@example.org' },
      });
      expect(await service.blocked()).toEqual([]);
    }
  });

  it('in the reply to an attempt blocks a recipient that the reply names beside others', async () => {
    const { app, caller, sink, pipeline } = service;
    const words = [
      '550 5.1.1 <team@example.com>: Recipient address rejected: User unknown',
      '550 5.1.1 no such user, write to hotline@example.com or postmaster@example.com',
      '550 5.1.1 User unknown, mail from hello@sandbox.test refused',
    ];
    for (const [index, reply] of words.entries()) {
      const email = `team${index}@example.com`;
      sink.on({ verb: 'RCPT', match: new RegExp(email) }, reply.replace('team@', `team${index}@`));
      await send(app, caller, email);
      await pipeline.idle();
      expect([reply, await service.blocked()]).toEqual([
        reply,
        expect.arrayContaining([`${email} bounce`]),
      ]);
    }
  });
});
