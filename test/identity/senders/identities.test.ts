import { beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { parseWith } from '../../../src/core/api/validate.ts';
import { addDomain, deleteDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { listSendersQuery } from '../../../src/identity/senders/schema.ts';
import {
  createSender,
  deleteSender,
  getSender,
  listSenders,
  updateSender,
} from '../../../src/identity/senders/senders.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';

describe.each(stores)('sender identities on %s', (store) => {
  const test = eachApp({ store });
  let caller: Caller;
  beforeEach(async () => {
    const { id } = await createOrganization(test.app, { name: 'acme', plan: 'free' });
    caller = operatorOf(id);
  });

  async function list(query: Record<string, string> = {}) {
    const page = await listSenders(test.app, caller, parseWith(listSendersQuery, query, 'query'));
    expect(page.pagination.total).toBe(page.items.length);
    return page.items.map(({ email }) => email);
  }

  it('have every field of specification 2.10', async () => {
    const made = await createSender(test.app, caller, {
      email: 'News@BÜCHER.example',
      name: 'News',
      replyToEmails: ['help@bücher.example'],
    });
    expect(made).toEqual({
      id: expect.stringMatching(/^snd_[0-9a-hjkmnp-tv-z]{24}$/),
      organizationId: caller.organizationId,
      email: 'News@xn--bcher-kva.example',
      name: 'News',
      domainId: null,
      verificationStatus: 'pending',
      verifiedAt: null,
      verificationToken: null,
      providerLifecycle: 'provisioning',
      providerFailureCode: null,
      isDefault: true,
      replyToEmails: ['help@xn--bcher-kva.example'],
      deliverability: { bounceRate: 0, complaintRate: 0, windowSends: 0, sendingStatus: 'enabled' },
      series: Array(14).fill(0),
      isActive: true,
      createdAt: '2026-01-05T12:00:00.000Z',
      updatedAt: '2026-01-05T12:00:00.000Z',
    });
    expect(await getSender(test.app, caller, made.id)).toEqual(made);
  });

  it('are verified while their domain is, in either order of creation', async () => {
    const { id } = await createSender(test.app, caller, { email: 'a@acme.example' });
    const domain = await addDomain(test.app, caller, { domain: 'acme.example', dkim: 'ed25519' });
    expect(await getSender(test.app, caller, id)).toMatchObject({
      domainId: domain.id,
      verificationStatus: 'pending',
    });
    await test.clock.advance(1_000);
    await verifyDomain(test.app, caller, domain.id, { force: true });
    expect(await getSender(test.app, caller, id)).toMatchObject({
      verificationStatus: 'verified',
      verifiedAt: '2026-01-05T12:00:01.000Z',
      providerLifecycle: 'active',
    });
    await test.clock.advance(1_000);
    const later = await createSender(test.app, caller, { email: 'b@acme.example' });
    expect(later.verifiedAt).toBe('2026-01-05T12:00:02.000Z');
    await deleteDomain(test.app, caller, domain.id);
    expect(await getSender(test.app, caller, id)).toMatchObject({
      domainId: null,
      verificationStatus: 'pending',
      verifiedAt: null,
    });
  });

  describe('the default sender of an organization', () => {
    const defaults = () => list({ isDefault: 'true' });

    it('is the first one, unless it declines', async () => {
      await createSender(test.app, caller, { email: 'a@acme.example', isDefault: false });
      expect(await defaults()).toEqual([]);
      await createSender(test.app, caller, { email: 'b@acme.example' });
      expect(await defaults()).toEqual([]);
    });

    it('is replaced by a new default', async () => {
      const a = await createSender(test.app, caller, { email: 'a@acme.example' });
      const b = await createSender(test.app, caller, { email: 'b@acme.example', isDefault: true });
      expect(await defaults()).toEqual(['b@acme.example']);
      await updateSender(test.app, caller, a.id, { isDefault: true });
      expect(await defaults()).toEqual(['a@acme.example']);
      await updateSender(test.app, caller, b.id, { isDefault: false });
      expect(await defaults()).toEqual(['a@acme.example']);
    });

    it('is unique when several are made at once', async () => {
      const emails = ['a', 'b', 'c', 'd'].map((name) => `${name}@acme.example`);
      await Promise.all(
        emails.map((email) => createSender(test.app, caller, { email, isDefault: true })),
      );
      expect(await list()).toHaveLength(4);
      expect(await defaults()).toHaveLength(1);
    });

    it('has no successor after its deletion', async () => {
      const a = await createSender(test.app, caller, { email: 'a@acme.example' });
      await createSender(test.app, caller, { email: 'b@acme.example' });
      await deleteSender(test.app, caller, a.id);
      expect(await defaults()).toEqual([]);
      expect(await list()).toEqual(['b@acme.example']);
    });
  });

  it('are listed by filter, newest first', async () => {
    const domain = await addDomain(test.app, caller, { domain: 'good.example', dkim: 'ed25519' });
    await verifyDomain(test.app, caller, domain.id, { force: true });
    for (const email of ['a@good.example', 'b@pending.example', 'c@good.example']) {
      await test.clock.advance(1_000);
      const { id } = await createSender(test.app, caller, { email });
      if (email.startsWith('c')) await updateSender(test.app, caller, id, { isActive: false });
    }
    expect(await list({ verificationStatus: 'verified' })).toEqual([
      'c@good.example',
      'a@good.example',
    ]);
    expect(await list({ verificationStatus: 'pending' })).toEqual(['b@pending.example']);
    expect(await list({ isActive: 'false' })).toEqual(['c@good.example']);
    expect(await list({ isDefault: 'true' })).toEqual(['a@good.example']);
  });

  it.each([{ isActive: 'yes' }, { verificationStatus: 'x' }])('cannot be listed by %j', (query) => {
    expect(() => parseWith(listSendersQuery, query, 'query')).toThrow(/Invalid query/);
  });

  it('change in the named fields, null included', async () => {
    const made = await createSender(test.app, caller, {
      email: 'a@acme.example',
      name: 'A',
      replyToEmails: ['r@acme.example'],
    });
    await test.clock.advance(1_000);
    const updatedAt = '2026-01-05T12:00:01.000Z';
    const named = await updateSender(test.app, caller, made.id, { name: 'B' });
    expect(named).toEqual({ ...made, name: 'B', updatedAt });
    const bare = await updateSender(test.app, caller, made.id, { name: null, replyToEmails: null });
    expect(bare).toEqual({ ...made, name: null, replyToEmails: null, updatedAt });
  });

  it('have a unique address, compared without case', async () => {
    await createSender(test.app, caller, { email: 'a@acme.example' });
    await expect(createSender(test.app, caller, { email: 'A@ACME.example' })).rejects.toMatchObject(
      { _tag: 'ConflictError', resource: 'sender' },
    );
    expect(await list()).toEqual(['a@acme.example']);
  });

  it('are refused for each bad field by its name', async () => {
    for (const [field, input] of [
      ['email', { email: 'not an address' }],
      ['email', { email: 'a@acme.example\r\nBcc: x@y.example' }],
      ['name', { email: 'a@acme.example', name: 'A\r\nBcc: x@y.example' }],
      ['replyToEmails.1', { email: 'a@acme.example', replyToEmails: ['ok@acme.example', 'no'] }],
    ] as [string, Parameters<typeof createSender>[2]][]) {
      await expect(createSender(test.app, caller, input), field).rejects.toMatchObject({
        _tag: 'ValidationError',
        fieldErrors: { [field]: [expect.any(String)] },
      });
      expect(await list()).toEqual([]);
    }
  });
});
