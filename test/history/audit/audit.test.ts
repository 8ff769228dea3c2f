// The audit log: actor and change, written in the transaction of the change, never a secret; and
// its list over HTTP.
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../../src/access/keys/authenticator.ts';
import {
  createKey,
  listKeys,
  revokeKey,
  rotateKey,
  updateKey,
} from '../../../src/access/keys/keys.ts';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import {
  reapplyOnboarding,
  reviewOnboarding,
} from '../../../src/access/organizations/onboarding.ts';
import {
  getOrganization,
  pauseOrganization,
  resumeOrganization,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { operatorActor, serviceActor } from '../../../src/history/audit/audit.ts';
import type { AuditEntry, AuditPage } from '../../../src/history/audit/schema.ts';
import { record } from '../../../src/history/events/record.ts';
import { rotateDkim } from '../../../src/identity/domains/dkim-change.ts';
import { addDomain, deleteDomain, listDomains } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { createSender, deleteSender, updateSender } from '../../../src/identity/senders/senders.ts';
import { createBlock, deleteBlock } from '../../../src/people/blocks/blocks.ts';
import { importBlocks } from '../../../src/people/imports/blocks.ts';
import { createGroup, updateGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { many, startOutcomes } from '../../identity/reputation/fixtures.ts';
import { otherOrganization } from '../../outbound/messages/fixtures.ts';
import { bothStores, type TestStore } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let test: TestApp;
let face: HttpApi;
/** The API of this test's organization, with the key of an admin. */
let api: HttpApi;
let caller: Caller;
let organizations = 0;

async function begin(store: TestStore): Promise<void> {
  test = await testApp({ store });
  face = httpApi(test);
}

async function end(): Promise<void> {
  await face.close();
  await test.close();
}

const nameNow = () => `acme-${organizations}`;

async function newOrganization(): Promise<void> {
  organizations++;
  const made = await otherOrganization(test.app, nameNow());
  api = face.as(made.apiKey);
  const owner = await createAuthenticator(test.app).authenticate(made.apiKey);
  if (!owner) throw new Error('the key of a new organization was refused');
  caller = owner;
}

async function list(query = ''): Promise<AuditEntry[]> {
  const { status, body } = await api.get<AuditPage>(`/v1/audit?limit=100${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.items;
}

/** Returns the entries that `work` adds, oldest first. */
async function entriesOf(work: () => Promise<unknown>): Promise<AuditEntry[]> {
  const before = new Set((await list()).map(({ id }) => id));
  await work();
  return (await list()).filter(({ id }) => !before.has(id)).reverse();
}

/** Returns the values that no entry may contain. */
async function secretsOf(): Promise<string[]> {
  const keys = sql<{ hash: string; start: string }>`select hash, start from api_keys`;
  const domainKeys = sql<{ private_key: string }>`select private_key from domain_keys`;
  const { db } = test.app.store;
  const secrets = [
    ...(await keys.execute(db)).rows.flatMap(({ hash, start }) => [hash, start]),
    ...(await domainKeys.execute(db)).rows.map(({ private_key }) => String(private_key)),
    'PRIVATE KEY',
  ];
  // A retired key has lost its private half.
  return secrets.filter((secret) => secret !== '');
}

describe.each(bothStores)('the audit log on %s', (store) => {
  beforeAll(() => begin(store));
  beforeEach(newOrganization);
  afterAll(end);

  it('begins with the resources that the service created for itself', async () => {
    const { body } = await face.get<AuditPage>('/v1/audit');
    const entries = body.items.map(({ action, actor, details }) => ({
      action,
      actor,
      details,
    }));
    expect(entries).toEqual([
      {
        action: 'key.created',
        actor: serviceActor,
        details: { name: 'First key', role: 'owner', owner: 'person', mode: 'live' },
      },
      {
        action: 'mailbox.created',
        actor: serviceActor,
        details: { slug: 'inbox', address: 'inbox@sandbox.test' },
      },
      {
        action: 'organization.created',
        actor: serviceActor,
        details: {
          name: 'default',
          plan: 'self-hosted',
          paymentMethodOnFile: false,
          timezone: 'UTC',
          onboarding: 'approved',
        },
      },
    ]);
  });

  it('records every change with its resource and the values before and after', async () => {
    const { app } = test;
    const org = caller.organizationId;
    const operator = operatorOf(org);
    const name = nameNow();
    const expected: [string, string | null, Record<string, unknown>][] = [];
    const expectEntry = (...entry: (typeof expected)[number]) => expected.push(entry);
    const entries = await entriesOf(async () => {
      await updateOrganization(app, name, { name: `${name}-mail`, plan: 'free' });
      expectEntry('organization.updated', org, {
        name: { before: name, after: `${name}-mail` },
        plan: { before: 'self-hosted', after: 'free' },
      });
      await pauseOrganization(app, org, { note: 'a look' });
      expectEntry('organization.paused', org, { reason: 'a look' });
      await resumeOrganization(app, org, { note: 'all well' });
      const pausedAt = new Date(test.clock.now()).toISOString();
      expectEntry('organization.resumed', org, {
        note: 'all well',
        pausedAt,
        pauseReason: 'a look',
      });
      await reviewOnboarding(app, org, { verdict: 'rejected', note: 'who is it?' });
      expectEntry('organization.onboarding-rejected', org, {
        status: { before: 'approved', after: 'rejected' },
        generation: 1,
        note: 'who is it?',
      });
      await reapplyOnboarding(app, caller, { expectedGeneration: 1, note: 'a shop' });
      expectEntry('organization.onboarding-reapplied', org, {
        status: { before: 'rejected', after: 'pending' },
        generation: 2,
        note: 'a shop',
      });
      await reviewOnboarding(app, org, { verdict: 'approved' });
      expectEntry('organization.onboarding-approved', org, {
        status: { before: 'pending', after: 'approved' },
        generation: 2,
      });

      const key = await createKey(app, caller, { name: 'ci', role: 'sender', mode: 'test' });
      const made = { role: 'sender', owner: 'service', mode: 'test' };
      expectEntry('key.created', key.id, { ...made, name: 'ci' });
      await updateKey(app, caller, key.id, { name: 'build', description: 'of the shop' });
      expectEntry('key.updated', key.id, {
        name: { before: 'ci', after: 'build' },
        description: { before: null, after: 'of the shop' },
      });
      const fresh = await rotateKey(app, caller, key.id);
      expectEntry('key.rotated', key.id, { replacedBy: fresh.id });
      const now = { ...made, name: 'build', description: 'of the shop' };
      expectEntry('key.created', fresh.id, { ...now, replaces: key.id });
      await revokeKey(app, caller, fresh.id);
      expectEntry('key.revoked', fresh.id, { name: 'build', role: 'sender' });
      const permissions = { messages: ['send'] };
      const custom = await createKey(app, caller, { permissions });
      expectEntry('key.created', custom.id, {
        role: 'custom',
        permissions,
        owner: 'service',
        mode: 'live',
      });

      const { id: domainId } = await addDomain(app, operator, {
        domain: 'example.com',
        dkim: 'ed25519',
      });
      const domain = { domain: 'example.com' };
      expectEntry('domain.added', domainId, domain);
      await rotateDkim(app, operator, domainId);
      expectEntry('domain.dkim-rotated', domainId, { ...domain, selectors: 'svc2ed' });
      await verifyDomain(app, operator, domainId, { force: true });
      expectEntry('domain.verified-by-force', domainId, domain);

      const email = 'a@example.com';
      const sender = await createSender(app, caller, { email, name: 'A' });
      const settings = { name: 'A', isDefault: true, isActive: true };
      expectEntry('sender.created', sender.id, { email, ...settings });
      await updateSender(app, caller, sender.id, { isActive: false, name: 'A' });
      expectEntry('sender.updated', sender.id, { email, isActive: { before: true, after: false } });
      await deleteSender(app, caller, sender.id);
      expectEntry('sender.deleted', sender.id, { email });

      const group = await createGroup(app, caller, { name: 'News' });
      expectEntry('unsubscribe-group.created', group.id, {
        ...{ name: 'News', public: false, confirm: false },
      });
      await updateGroup(app, caller, group.id, { description: 'Once a month' });
      expectEntry('unsubscribe-group.updated', group.id, {
        description: { before: null, after: 'Once a month' },
      });

      const slug = 'office';
      const address = `${name}@example.com`;
      const mailbox = await createMailbox(app, caller, { slug, displayName: null, address });
      expectEntry('mailbox.created', mailbox.id, { slug, address });

      const blocked = { address: 'b@example.net', reason: 'manual' } as const;
      const block = await createBlock(app, caller, blocked);
      expectEntry('block.created', block.id, blocked);
      await deleteBlock(app, caller, block.id);
      expectEntry('block.deleted', block.id, blocked);
      const gone = await addDomain(app, operator, {
        domain: 'example.org',
        dkim: 'ed25519',
      });
      expectEntry('domain.added', gone.id, { domain: 'example.org' });
      await deleteDomain(app, operator, gone.id);
      expectEntry('domain.deleted', gone.id, { domain: 'example.org' });
    });
    expect(entries.map(({ action, resource, details }) => [action, resource.id, details])).toEqual(
      expected,
    );
    for (const { action, resource } of entries) expect(action).toMatch(`${resource.type}.`);
    const text = JSON.stringify(entries);
    for (const secret of await secretsOf()) expect(text).not.toContain(secret);
  });

  it('records a key with its name and role, the operator or the service as the actor', async () => {
    const { app } = test;
    const operator = operatorOf(caller.organizationId);
    const { id, key } = await createKey(app, operator, { name: 'ci', role: 'admin' });
    const admin = api.as(key ?? '');
    const [renamed] = await entriesOf(async () => {
      await admin.request('PATCH', `/v1/api-keys/${id}`, { body: { name: 'build' } });
    });
    const byKey = { ...operatorActor, type: 'key', keyId: id, role: 'admin' };
    expect(renamed?.actor).toEqual({ ...byKey, keyName: 'ci' });
    const [added] = await entriesOf(() => admin.post('/v1/api-keys', { name: 'other' }));
    expect(added?.actor).toEqual({ ...byKey, keyName: 'build' });
    const [byHand] = await entriesOf(() => createKey(app, operator, {}));
    expect(byHand?.actor).toEqual(operatorActor);
  });

  it('records an automatic pause once, by the service and with its reason', async () => {
    const { id } = await addDomain(test.app, caller, { domain: 'example.org', dkim: 'ed25519' });
    await verifyDomain(test.app, operatorOf(caller.organizationId), id, { force: true });
    const outcomes = await startOutcomes(test.app);
    try {
      const entries = await entriesOf(async () => {
        const addresses = [...many(90, 'ok'), ...many(12, 'dead')];
        await outcomes.deliver(caller, addresses, 'a@example.org');
      });
      expect(entries).toMatchObject([
        {
          action: 'organization.paused',
          actor: serviceActor,
          resource: { type: 'organization', id: caller.organizationId },
          details: { reason: '11.8% of the last 102 messages bounced (limit 5%).' },
        },
      ]);
    } finally {
      await outcomes.close();
    }
  });

  it('records nothing for refusals, replays and changes without effect', async () => {
    const { app } = test;
    const name = nameNow();
    const key = await createKey(app, caller, { name: 'ci' });
    await revokeKey(app, caller, key.id);
    const domain = { domain: 'example.com', dkim: 'ed25519' } as const;
    await addDomain(app, caller, domain);
    const sender = await createSender(app, caller, { email: 'a@example.com', name: 'A' });
    const entries = await entriesOf(() =>
      Promise.allSettled([
        revokeKey(app, caller, key.id),
        rotateKey(app, caller, key.id),
        updateKey(app, caller, key.id, { name: 'ci' }),
        updateOrganization(app, name, { plan: 'self-hosted' }),
        updateOrganization(app, name, { name: 'default' }),
        resumeOrganization(app, name, { note: 'not paused' }),
        createSender(app, caller, { email: 'a@example.com' }),
        updateSender(app, caller, sender.id, { name: 'A' }),
        addDomain(app, caller, domain),
      ]),
    );
    expect(entries).toEqual([]);
  });

  it('undoes a change that cannot be recorded', async () => {
    const { app } = test;
    const name = nameNow();
    const rename = (from: string, to: string) =>
      app.store.write((trx) =>
        sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(trx),
      );
    await rename('audit_entries', 'audit_entries_away');
    try {
      const domain = { domain: 'example.com', dkim: 'ed25519' } as const;
      await expect(createKey(app, caller, { name: 'unseen' })).rejects.toThrow();
      await expect(updateOrganization(app, name, { plan: 'free' })).rejects.toThrow();
      await expect(addDomain(app, caller, domain)).rejects.toThrow();
    } finally {
      await rename('audit_entries_away', 'audit_entries');
    }
    const page = { page: 1, limit: 20 };
    expect((await listKeys(app, caller, page)).items).toHaveLength(1);
    expect((await listDomains(app, caller, page)).items).toEqual([]);
    expect((await getOrganization(app, name)).plan).toBe('self-hosted');
  });

  it('records one entry for an import in many transactions', async () => {
    const { app } = test;
    async function* file() {
      yield Buffer.from('email\n');
      for (let i = 0; i < 1_200; i++) yield Buffer.from(`a${i % 1_100}@example.com\n`);
    }
    const options = { reason: 'manual', dryRun: true } as const;
    expect(await entriesOf(() => importBlocks(app, caller, file(), options))).toEqual([]);
    const imported = () => importBlocks(app, caller, file(), { ...options, dryRun: false });
    const entries = await entriesOf(imported);
    expect(entries).toMatchObject([
      {
        action: 'block.imported',
        resource: { type: 'block', id: null },
        details: { added: 1_100, format: expect.any(String) },
      },
    ]);
    expect(await entriesOf(imported)).toEqual([]);
  });

  it('truncates large details and leaves out null ones', async () => {
    const { app } = test;
    const name = 'x'.repeat(100_000);
    const words = Array.from({ length: 5_000 }, (_, index) => `word ${index}`);
    const [entry] = await entriesOf(() =>
      app.store.write((trx) =>
        record(app, trx, caller, {
          subject: null,
          action: 'organization.updated',
          details: { name, words, nothing: null, change: { before: name, after: 'y' } },
        }),
      ),
    );
    expect(entry?.details).toMatchObject({ change: { before: expect.any(String), after: 'y' } });
    expect(Object.keys(entry?.details ?? {})).toEqual(['name', 'words', 'change']);
    expect(JSON.stringify(entry).length).toBeLessThan(5_000);
  });

  describe('the list', () => {
    /** Writes `count` entries, two at each moment. */
    async function write(count: number, by = caller): Promise<void> {
      for (let i = 0; i < count; i++) {
        if (i % 2 === 0) await test.clock.advance(1_000);
        await createKey(test.app, by, { name: `key ${i}` });
      }
    }

    it('pages by cursor, newest first, and shows each entry once', async () => {
      await write(9);
      const entries = await list();
      expect(entries.map(({ details }) => details.name).slice(0, 3)).toEqual([
        'key 8',
        'key 7',
        'key 6',
      ]);
      const seen: AuditEntry[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const { body } = await api.get<AuditPage>(`/v1/audit?limit=2${next}`);
        expect(body.items.length).toBeLessThanOrEqual(2);
        seen.push(...body.items);
        cursor = body.nextCursor;
        // Entries made meanwhile are newer than the page.
        if (seen.length === 2) await createKey(test.app, caller, { name: 'meanwhile' });
      }
      expect(seen).toEqual(entries);
    });

    it('ends without a cursor after a full last page', async () => {
      const { length } = await list();
      const { body } = await api.get<AuditPage>(`/v1/audit?limit=${length}`);
      expect([body.items.length, body.nextCursor]).toEqual([length, null]);
    });

    it('filters by action, resource and time', async () => {
      await write(3);
      const { id } = await createKey(test.app, caller, { name: 'ci' });
      await updateKey(test.app, caller, id, { name: 'build' });
      const actions = async (query: string) => (await list(query)).map(({ action }) => action);
      expect(await actions(`&resource=${id}`)).toEqual(['key.updated', 'key.created']);
      expect(await actions(`&resource=${id}&action=key.created`)).toEqual(['key.created']);
      expect(await actions('&action=domain.added')).toEqual([]);
      const since = new Date(test.clock.now()).toISOString();
      expect((await list(`&since=${since}`)).map(({ details }) => details.name)).toEqual([
        { before: 'ci', after: 'build' },
        'ci',
        'key 2',
      ]);
      const shifted = encodeURIComponent(
        new Date(test.clock.now() + 3_600_000).toISOString().replace('Z', '+01:00'),
      );
      expect(await list(`&since=${shifted}`)).toHaveLength(3);
    });

    it.each([
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['action=key.stolen', 'action'],
      ['resource=%27', 'resource'],
      ['since=yesterday', 'since'],
      ['since=2026-01', 'since'],
      ['cursor=abc', 'cursor'],
      ['cursor=', 'cursor'],
      ['page=1', 'page'],
    ])('answers ?%s with 422 that names %s', async (query, field) => {
      const { status, body } = await api.get<{ fields?: object }>(`/v1/audit?${query}`);
      expect([status, Object.keys(body.fields ?? {})]).toEqual([422, [field]]);
    });

    it('rejects the cursor of other filters and of another organization', async () => {
      await write(3);
      const other = await otherOrganization(test.app, `other-${nameNow()}`);
      const { body } = await api.get<AuditPage>('/v1/audit?limit=1');
      const cursor = body.nextCursor ?? '';
      const filtered = await api.get(`/v1/audit?limit=1&action=key.created&cursor=${cursor}`);
      const foreign = await api.as(other.apiKey).get(`/v1/audit?limit=1&cursor=${cursor}`);
      for (const refused of [filtered, foreign]) {
        expect(refused).toMatchObject({
          status: 422,
          body: { fields: { cursor: expect.anything() } },
        });
      }
      expect((await api.get(`/v1/audit?limit=3&cursor=${cursor}`)).status).toBe(200);
    });

    it('shows an organization its own entries only', async () => {
      const other = await otherOrganization(test.app, `other-${nameNow()}`);
      await write(2, other.caller);
      const { body } = await api.as(other.apiKey).get<AuditPage>('/v1/audit');
      const { organizationId } = other.caller;
      expect(new Set(body.items.map((entry) => entry.organizationId))).toEqual(
        new Set([organizationId]),
      );
      expect(body.items.map(({ action }) => action)).toEqual([
        'key.created',
        'key.created',
        'key.created',
        'organization.created',
      ]);
      expect((await list()).some((entry) => entry.organizationId === organizationId)).toBe(false);
    });
  });
});
