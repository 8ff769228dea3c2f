// Mail that the service writes for a caller is a send of that caller: who may ask for it, whose
// quota it takes, and what of the caller is in it.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { reviewOnboarding } from '../../../src/access/organizations/onboarding.ts';
import {
  createOrganization,
  pauseOrganization,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import { askImported } from '../../../src/consent/opt-in/import.ts';
import { confirmRequest } from '../../../src/consent/opt-in/mail.ts';
import { addMembers } from '../../../src/consent/opt-in/members.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import {
  createSender,
  deleteSender,
  listSenders,
  updateSender,
} from '../../../src/identity/senders/senders.ts';
import { resendProof } from '../../../src/outbound/sending/sender-proof/prove.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { usedToday, useToday } from '../../access/admission/fixtures.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const tenant = 'acme.example';
const outside = 'ada@gmail.example';

describe.each(stores)('mail of the service, on %s', (store) => {
  let test: TestApp;
  /** The operator of another organization with a verified domain. */
  let acme: Caller;
  let groupId: string;
  let contactId: string;
  beforeEach(async () => {
    test = await testApp({ store });
    const { app } = test;
    const { id } = await createOrganization(app, { name: 'acme', plan: 'free' });
    acme = operatorOf(id);
    const domain = await addDomain(app, acme, { domain: tenant, dkim: 'ed25519' });
    await verifyDomain(app, acme, domain.id, { force: true });
    await createSender(app, acme, { email: `hello@${tenant}`, replyToEmails: [`desk@${tenant}`] });
    groupId = (await createGroup(app, acme, { name: 'News', confirm: true })).id;
    contactId = (await createContact(app, acme, { email: outside })).id;
  });
  afterEach(() => test.close());

  const prove = (caller: Caller, email = outside) => createSender(test.app, caller, { email });
  const tagOf = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: { _tag: string }) => error._tag,
    );
  /** A key of the organization that may do everything. */
  const key = (more: Partial<Caller> = {}): Caller => ({
    ...acme,
    by: { kind: 'key', keyId: 'key_1' },
    keyId: 'key_1',
    ...more,
  });
  const mails = async () => {
    const { rows } = await sql<{ organization_id: string; from_email: string; reply_to: unknown }>`
      select organization_id, from_email, reply_to from messages`.execute(test.app.store.db);
    return rows;
  };

  /** The requests that make the service write mail. */
  const requests: [string, (caller: Caller) => Promise<unknown>][] = [
    ['a new sender', (caller) => prove(caller)],
    [
      'another proof',
      async (caller) => {
        const { id } = await prove(acme, 'eve@gmail.example');
        await resendProof(test.app, caller, id);
      },
    ],
    ['members of a group', (caller) => addMembers(test.app, caller, groupId, [contactId])],
    ['an import with confirmation', (caller) => askImported(test.app, caller, groupId)],
  ];
  const everything = { '*': ['*'] };
  const refusedKeys: [string, Partial<Caller>][] = [
    ['no right to send', { permissions: { senders: ['*'], contacts: ['*'] } }],
    ['the send mode none', { permissions: everything, sendMode: 'none' }],
    ['the send mode approval', { permissions: everything, sendMode: 'approval' }],
    ['the test mode', { isTest: true }],
    ['other senders', { constraints: { senders: [`news@${tenant}`] } }],
    ['other domains', { constraints: { domains: ['other.example'] } }],
  ];

  describe.each(requests)('asked for by %s', (name, ask) => {
    it.each(refusedKeys)('is refused to a key with %s', async (_what, more) => {
      expect(await tagOf(ask(key(more)))).toBe('ForbiddenError');
      const { rows } = await sql<{ count: number }>`select cast(count(*) as integer) as count
        from group_confirmations`.execute(test.app.store.db);
      expect(rows[0]?.count).toBe(0);
      const made = await listSenders(test.app, acme, { page: 1, limit: 100 });
      expect(made.items.map(({ email }) => email)).not.toContain(outside);
    });

    it('is given to a key that may send', async () => {
      expect(await tagOf(ask(key({ permissions: { campaigns: ['run'] } })))).toBeNull();
    });

    it('is refused to a paused organization', async () => {
      const before = name === 'another proof' ? await prove(acme, 'eve@gmail.example') : null;
      await pauseOrganization(test.app, acme.organizationId, {});
      const work = before ? resendProof(test.app, key(), before.id) : ask(key());
      expect(await tagOf(work)).toBe('ForbiddenError');
    });
  });

  it('allows a key limited to an address to prove that address', async () => {
    expect(await tagOf(prove(key({ constraints: { senders: [outside] } })))).toBeNull();
  });

  it('makes no sender of an organization that is not approved, and no mail', async () => {
    await reviewOnboarding(test.app, 'acme', { verdict: 'rejected' });
    expect(await tagOf(prove(key()))).toBe('ForbiddenError');
    expect(await mails()).toEqual([]);
    const { items } = await listSenders(test.app, acme, { page: 1, limit: 10 });
    expect(items.map(({ email }) => email)).toEqual([`hello@${tenant}`]);
  });

  it('takes the quota of the organization that asks, and a sender beyond it answers 402', async () => {
    const own = { ...test, caller: acme };
    await useToday(own, 99);
    expect(await tagOf(prove(key()))).toBeNull();
    expect(await usedToday(own)).toEqual({ emails: 100, messages: 100 });
    expect(await tagOf(prove(key(), 'eve@gmail.example'))).toBe('PaymentRequiredError');
    expect(await usedToday(own)).toEqual({ emails: 100, messages: 100 });
    expect(await usedToday(test)).toEqual({ emails: 0, messages: 0 });
  });

  it('draws a proof on the bucket of the key', async () => {
    await updateOrganization(test.app, 'acme', { paymentMethodOnFile: true });
    const tags: (string | null)[] = [];
    for (let i = 0; i < 7; i++) tags.push(await tagOf(prove(key(), `u${i}@gmail.example`)));
    expect(tags.filter((tag) => tag === null)).toHaveLength(5);
    expect(new Set(tags)).toEqual(new Set([null, 'RateLimitedError']));
    expect(await tagOf(createSender(test.app, key(), { email: `x@${tenant}` }))).toBeNull();
  });

  it('has the From of the service and no Reply-To, and belongs to the organization that asks', async () => {
    await prove(key());
    expect(await mails()).toEqual([
      {
        organization_id: acme.organizationId,
        from_email: 'hello@sandbox.test',
        reply_to: null,
      },
    ]);
  });

  it('makes a sender without a mail while the service has no sender', async () => {
    const { items } = await listSenders(test.app, test.caller, { page: 1, limit: 10 });
    for (const { id } of items) await updateSender(test.app, test.caller, id, { isActive: false });
    const made = await prove(key());
    expect(await mails()).toEqual([]);
    expect(await tagOf(resendProof(test.app, key(), made.id))).toBe('ConflictError');
  });

  it('has at most 20 pending proofs of an organization', async () => {
    await updateOrganization(test.app, 'acme', { plan: 'self-hosted' });
    const made: string[] = [];
    for (let i = 0; i < 20; i++) made.push((await prove(acme, `u${i}@gmail.example`)).id);
    const refusal = await prove(acme, 'late@gmail.example').catch((error: Error) => error);
    expect(refusal).toMatchObject({
      _tag: 'ConflictError',
      resource: 'sender',
      message: expect.stringMatching(/verify or delete one/),
    });
    expect(await tagOf(resendProof(test.app, acme, made[0] ?? ''))).toBeNull();
    expect(await tagOf(createSender(test.app, acme, { email: `x@${tenant}` }))).toBeNull();
    await deleteSender(test.app, acme, made[0] ?? '');
    expect(await tagOf(prove(acme, 'late@gmail.example'))).toBeNull();
    await test.clock.advance(7 * 86_400_000);
    expect(await tagOf(prove(acme, 'later@gmail.example'))).toBeNull();
  });

  it('lets one of two proofs at once be the twentieth', async () => {
    await updateOrganization(test.app, 'acme', { plan: 'self-hosted' });
    for (let i = 0; i < 19; i++) await prove(acme, `u${i}@gmail.example`);
    const both = await Promise.all(
      ['a', 'b'].map((one) => tagOf(prove(acme, `${one}@gmail.example`))),
    );
    expect(both.sort()).toEqual(['ConflictError', null].sort());
  });

  it.each([
    ['a link', 'Win at https://evil.example/now today', 'Win at … today'],
    ['a name that mail programs link', 'See evil.example and www.evil.example', 'See … and …'],
    ['an address', 'Write to eve@evil now', 'Write to … now'],
    ['lines', 'News\r\n\u2028of the week', 'News of the week'],
    ['61 characters', 'x'.repeat(61), `${'x'.repeat(59)}…`],
    ['60 characters', 'y'.repeat(60), 'y'.repeat(60)],
  ])('has of the caller no more than a cleaned name: %s', (_what, group, cleaned) => {
    const { payload } = confirmRequest({
      ...{ caller: acme, contactId, group, sender: `hello@${tenant}` },
      onBehalfOf: `hello@${tenant}`,
      url: 'https://mail.example/c/token',
    });
    const { subject, text = '', html = '' } = payload.email;
    expect(subject).toBe(`Please confirm: ${cleaned}`);
    expect(text).toContain(`Do you want “${cleaned}” from ${tenant}?`);
    for (const part of [text, html]) {
      expect(new Set(part.match(/\w+:\/\/[^\s"<]*/g))).toEqual(
        new Set(['https://mail.example/c/token']),
      );
      expect(part).not.toContain('evil');
    }
  });
});
