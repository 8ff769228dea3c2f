// Names that each organization has for itself (docs/making/claims.md): the second holder in one
// organization is refused, another organization has the same name at the same time, and an end of
// the claim frees it.
import { describe, expect, it } from 'vitest';
import { createKey } from '../../src/access/keys/keys.ts';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import { stores } from '../support/command.ts';
import { eachApi } from '../support/each-app.ts';

interface Claim {
  path: string;
  /** Returns a body with the name; `serial` makes everything else in it differ. */
  body(serial: number): object;
  /**
   * Answer to the second holder in one organization; 201 for a claim that is the same row again.
   */
  second?: number;
  /** Field by which its path names one. */
  named?: string;
  /** It is never deleted. */
  stays?: boolean;
}

const template = { subject: 'Hello', html: '<p>Hello</p>' };

const claims: Record<string, Claim> = {
  'a slug of a mailbox': {
    path: '/v1/mailboxes',
    body: (serial) => ({ slug: 'desk', address: `desk${serial}@sandbox.test` }),
  },
  'the name of a namespace': {
    path: '/v1/mailbox-namespaces',
    body: () => ({ name: 'Agents' }),
    stays: true,
  },
  'a slug of a brand': {
    path: '/v1/brands',
    body: (serial) => ({ slug: 'acme', name: `Acme ${serial}` }),
    named: 'slug',
  },
  'a slug of a template': {
    path: '/v1/templates',
    body: (serial) => ({ slug: 'welcome', name: `Welcome ${serial}`, ...template }),
  },
  'the name of an extension': {
    path: '/v1/extensions',
    body: (serial) => ({ name: 'triage', displayName: `Triage ${serial}` }),
  },
  'an address of a contact': {
    path: '/v1/contacts',
    body: (serial) => ({ email: 'ada@example.com', externalId: `ada${serial}` }),
  },
  'an external id of a contact': {
    path: '/v1/contacts',
    body: (serial) => ({ email: `ada${serial}@example.com`, externalId: 'ada' }),
  },
  'an external id of a conversation': {
    path: '/v1/conversations',
    body: (serial) => ({ externalId: 'case-7', title: `Case ${serial}` }),
  },
  'a blocked address': {
    path: '/v1/email/blocks',
    body: () => ({ address: 'ada@example.com', reason: 'manual' }),
  },
};

describe.each(stores)('a name of an organization, on %s', (store) => {
  const { test, api } = eachApi({ store });
  let serial = 0;

  const another = async () => {
    const { app } = test;
    const { id } = await createOrganization(app, { name: 'acme', plan: 'self-hosted' });
    return api.as((await createKey(app, operatorOf(id), { role: 'owner' })).key ?? '');
  };

  it.each(Object.entries(claims).map(([name, claim]) => ({ name, claim })))(
    '$name has one holder in each organization',
    async ({ claim: { path, body, second = 409, named = 'id', stays = false } }) => {
      const take = (by = api) => by.post<Record<string, string>>(path, body(serial++));
      const first = await take();
      expect(first.status).toBe(201);
      const again = await take();
      expect(again.status).toBe(second);
      expect((await take(await another())).status).toBe(201);
      if (stays) return;
      expect((await api.delete(`${path}/${first.body[named]}`)).status).toBe(200);
      const next = await take();
      expect(next.status).toBe(201);
      expect(next.body.id).not.toBe(first.body.id);
    },
  );

  it('a version of an extension', async () => {
    const { body } = await api.post<{ id: string }>('/v1/extensions', { name: 'triage' });
    const version = {
      ...{ version: '1.0.0', permissions: ['mailboxes:read'], events: [] },
      sendModes: ['none'],
    };
    const publish = () => api.post<{ id: string }>(`/v1/extensions/${body.id}/versions`, version);
    expect((await publish()).status).toBe(201);
    const withdrawal = `/v1/extensions/${body.id}/versions/1.0.0/withdraw`;
    expect((await api.post(withdrawal, {})).status).toBe(200);
    expect((await publish()).status).toBe(409);
  });
});
