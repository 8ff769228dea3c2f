import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { listKeys, revokeKey } from '../../src/access/keys/keys.ts';
import { operatorOf } from '../../src/access/keys/roles.ts';
import {
  getOrganization,
  listOrganizations,
} from '../../src/access/organizations/organizations.ts';
import { type ConfigInput, loadConfig } from '../../src/core/config/config.ts';
import { getDomain, listDomains } from '../../src/identity/domains/domains.ts';
import { signingKeysOf } from '../../src/identity/domains/signing-keys.ts';
import { findReceivers } from '../../src/identity/mailboxes/receivers.ts';
import { resolveSender } from '../../src/identity/senders/resolve.ts';
import { firstStart, firstStartText, sandboxDoubt } from '../../src/service/first-start.ts';
import { bothStores } from '../support/command.ts';
import { type EmptyTestApp, emptyTestApp } from '../support/test-app.ts';

const firstPage = { page: 1, limit: 20 };

describe.each(bothStores)('the first start on %s', (store) => {
  let test: EmptyTestApp;
  beforeEach(async () => {
    test = await emptyTestApp({ store });
  });
  afterEach(() => test.close());

  const organizationId = async () => (await getOrganization(test.app, 'default')).id;

  it('creates an organization that can send at once', async () => {
    const first = await firstStart(test.app);
    const caller = await createAuthenticator(test.app).authenticate(first?.apiKey ?? '');
    const organization = await getOrganization(test.app, 'default');
    expect(organization.plan).toBe('self-hosted');
    expect(caller).toMatchObject({
      organizationId: organization.id,
      roleName: 'owner',
      owner: 'person',
      permissions: { '*': ['*'] },
      isTest: false,
    });
    const sender = await resolveSender(test.app.store.db, organization.id, undefined);
    const domainId = sender.domainId ?? '';
    expect(sender).toMatchObject({ email: 'hello@sandbox.test' });
    expect(await getDomain(test.app, operatorOf(organization.id), domainId)).toMatchObject({
      domain: 'sandbox.test',
      status: 'verified',
      dnsRecords: [],
    });
    const keys = await signingKeysOf(test.app, domainId);
    expect(new Set(keys.map(({ algorithm }) => algorithm))).toEqual(
      new Set(['ed25519-sha256', 'rsa-sha256']),
    );
    expect(await findReceivers(test.app.store.db, 'inbox@sandbox.test')).toMatchObject({
      own: { organization_id: organization.id, status: 'active' },
    });
  });

  it('happens once', async () => {
    expect(await firstStart(test.app)).not.toBeNull();
    expect(await firstStart(test.app)).toBeNull();
    const id = await organizationId();
    expect((await listKeys(test.app, operatorOf(id), firstPage)).pagination.total).toBe(1);
  });

  it('happens once when two processes start together', async () => {
    const other = await test.another();
    const both = await Promise.all([firstStart(test.app), firstStart(other)]);
    expect(both.filter((first) => first !== null)).toHaveLength(1);
    expect((await listOrganizations(test.app, firstPage)).pagination.total).toBe(1);
    const operator = operatorOf(await organizationId());
    expect((await listKeys(test.app, operator, firstPage)).pagination.total).toBe(1);
    expect((await listDomains(test.app, operator, firstPage)).pagination.total).toBe(1);
  });

  it('creates no key when one has been created or revoked before', async () => {
    await firstStart(test.app);
    const operator = operatorOf(await organizationId());
    const { items } = await listKeys(test.app, operator, firstPage);
    for (const { id } of items) await revokeKey(test.app, operator, id);
    expect(await firstStart(test.app)).toBeNull();
  });
});

describe.each(bothStores)('the warning about the default sender on %s', (store) => {
  const relayed = (host: string): ConfigInput => ({ delivery: { mode: 'relay', relay: { host } } });
  const doubtIn = async (config: ConfigInput) => {
    const test = await emptyTestApp({ store, config });
    try {
      await firstStart(test.app);
      return await sandboxDoubt(test.app);
    } finally {
      await test.close();
    }
  };

  it.each<[string, ConfigInput]>([
    ['direct mode', { delivery: { mode: 'direct' } }],
    ['a relay elsewhere', relayed('smtp.example.com')],
    ['a relay on this machine', relayed('127.0.0.1')],
  ])('is given in a new store with %s', async (_, config) => {
    expect(await doubtIn(config)).toMatch(/^the default sender is hello@sandbox\.test: .*refused/);
  });

  it('is not given in capture mode', async () => {
    expect(await doubtIn({})).toBeNull();
  });
});

describe('the text of the first start', () => {
  const config = (overrides: ConfigInput) =>
    loadConfig({ env: {}, cwd: '/nowhere', overrides }).config;

  it.each<[string, ConfigInput]>([
    ['mode relay', { delivery: { mode: 'relay', relay: { host: 'smtp.example.com' } } }],
    ['mode direct', { delivery: { mode: 'direct' } }],
    ['a route for all', { delivery: { routes: [{ match: '*', via: 'direct' }] } }],
  ])('names a recipient that stays on this machine with %s', (_, overrides) => {
    const text = firstStartText(config(overrides), 'http://127.0.0.1:4025', 'svc_live_abc');
    expect(text).toContain('"to":[{"email":"inbox@sandbox.test"}]');
    expect(text).toContain('to your own mailbox');
    // When the service hosts another domain, mail to the sandbox domain leaves this machine.
    const elsewhere = { ...overrides, mailboxes: { hostedDomain: 'mail.example' } };
    const other = firstStartText(config(elsewhere), 'http://127.0.0.1:4025', 'svc_live_abc');
    expect(other).toContain('"to":[{"email":"delivered@simulator.test"}]');
    expect(other).not.toContain('inbox@sandbox.test');
  });

  it('holds one line that can be pasted into a shell', () => {
    const text = firstStartText(config({}), 'http://127.0.0.1:4025', 'svc_live_abc');
    const lines = text.split('\n').filter((line) => line.includes('curl'));
    expect(lines).toEqual([
      `  curl -X POST http://127.0.0.1:4025/v1/messages -H 'X-API-Key: svc_live_abc' -H 'Content-Type: application/json' -d '{"channel":"email","to":[{"email":"inbox@sandbox.test"}],"email":{"subject":"Hello","text":"It works."}}'`,
    ]);
  });
});
