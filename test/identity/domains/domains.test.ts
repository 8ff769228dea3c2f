import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { rotateDkim } from '../../../src/identity/domains/dkim-change.ts';
import {
  addDomain,
  deleteDomain,
  getDomain,
  listDnsRecords,
  listDomains,
} from '../../../src/identity/domains/domains.ts';
import { pastSigningKeys, signingKeysOf } from '../../../src/identity/domains/signing-keys.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';

const config = { delivery: { hostname: 'mail.host.example' } };

describe.each(stores)('sending domains on %s', (store) => {
  const test = eachApp({ store, config });

  const add = (domain: string, dkim: 'both' | 'rsa' | 'ed25519' = 'ed25519') =>
    addDomain(test.app, test.caller, { domain, dkim });
  const force = (id: string) => verifyDomain(test.app, test.operator, id, { force: true });
  const selectors = async (id: string) =>
    (await signingKeysOf(test.app, id)).map(({ selector }) => selector);

  it('have both keys and every record to publish', async () => {
    const made = await addDomain(test.app, test.caller, { domain: 'Acme.Example' });
    const [rsa, ed25519] = made.dkimKeys;
    const unchecked = { status: 'pending', found: [], error: null, diagnosis: null };
    const spf = 'v=spf1 a:mail.host.example ~all';
    expect(made).toEqual({
      id: expect.stringMatching(/^dom_[0-9a-hjkmnp-tv-z]{24}$/),
      organizationId: test.caller.organizationId,
      domain: 'acme.example',
      status: 'pending',
      dkim: { selector: 'svc1rsa', algorithm: 'rsa-sha256', publicKey: rsa?.publicKey },
      dkimKeys: [
        expect.objectContaining({ selector: 'svc1rsa', algorithm: 'rsa-sha256', published: false }),
        expect.objectContaining({ selector: 'svc1ed', algorithm: 'ed25519-sha256' }),
      ],
      returnPath: 'bounce.acme.example',
      dnsRecords: [
        {
          purpose: 'dkim',
          type: 'TXT',
          name: 'svc1rsa._domainkey.acme.example',
          value: `v=DKIM1; k=rsa; p=${rsa?.publicKey}`,
          required: true,
          ...unchecked,
        },
        {
          purpose: 'dkim',
          type: 'TXT',
          name: 'svc1ed._domainkey.acme.example',
          value: `v=DKIM1; k=ed25519; p=${ed25519?.publicKey}`,
          required: false,
          ...unchecked,
        },
        {
          purpose: 'return-path',
          type: 'MX',
          name: 'bounce.acme.example',
          value: '10 mail.host.example',
          required: true,
          ...unchecked,
        },
        {
          purpose: 'return-path',
          type: 'TXT',
          name: 'bounce.acme.example',
          value: spf,
          required: false,
          ...unchecked,
        },
        {
          purpose: 'spf',
          type: 'TXT',
          name: 'acme.example',
          value: spf,
          required: false,
          ...unchecked,
        },
        {
          purpose: 'dmarc',
          type: 'TXT',
          name: '_dmarc.acme.example',
          value: 'v=DMARC1; p=none; rua=mailto:dmarc@bounce.acme.example',
          required: false,
          ...unchecked,
        },
      ],
      catchAll: { enabled: false, mailboxId: null },
      sendingStatus: 'enabled',
      heldAt: null,
      holdReason: null,
      verifiedAt: null,
      lastCheckedAt: null,
      createdAt: '2026-01-05T12:00:00.000Z',
      updatedAt: '2026-01-05T12:00:00.000Z',
    });
    expect(await getDomain(test.app, test.caller, made.id)).toEqual(made);
    expect(await listDnsRecords(test.app, test.caller, made.id)).toEqual({
      items: made.dnsRecords,
    });
  });

  it.each([
    ['rsa', ['svc1rsa']],
    ['ed25519', ['svc1ed']],
  ] as const)('have only %s on request, with its record required', async (dkim, expected) => {
    const made = await add('acme.example', dkim);
    expect(made.dkimKeys.map(({ selector }) => selector)).toEqual(expected);
    expect(made.dnsRecords[0]).toMatchObject({ purpose: 'dkim', required: true });
  });

  it('keep their private keys encrypted', async () => {
    await add('acme.example', 'both');
    const { rows } = await sql<{ private_key: string }>`
      select private_key from domain_keys`.execute(test.app.store.db);
    expect(rows).toHaveLength(4);
    for (const { private_key } of rows) expect(private_key).not.toMatch(/PRIVATE KEY|LS0tLS/);
  });

  it('exist once per organization', async () => {
    await add('acme.example');
    await expect(add('ACME.example.')).rejects.toMatchObject({
      _tag: 'ConflictError',
      resource: 'domain',
    });
    const { id } = await createOrganization(test.app, { name: 'other', plan: 'free' });
    const theirs = await addDomain(test.app, operatorOf(id), { domain: 'acme.example' });
    expect(theirs.status).toBe('pending');
  });

  it.each(['localhost', 'co.uk', 'a b.example', 'x@y.example'])(
    'reject the name %j',
    async (domain) => {
      await expect(add(domain)).rejects.toMatchObject({
        _tag: 'ValidationError',
        fieldErrors: { domain: [expect.any(String)] },
      });
      expect((await listDomains(test.app, test.caller, { page: 1, limit: 20 })).items).toHaveLength(
        1,
      );
    },
  );

  it('are listed by page, newest first, each with its own keys', async () => {
    for (const domain of ['a.example', 'b.example']) {
      await test.clock.advance(1_000);
      await add(domain);
    }
    const page = await listDomains(test.app, test.caller, { page: 1, limit: 2 });
    expect(page.items.map(({ domain }) => domain)).toEqual(['b.example', 'a.example']);
    expect(page.pagination).toEqual({ page: 1, limit: 2, total: 3, totalPages: 2 });
    for (const item of page.items) expect(item.dkimKeys).toHaveLength(1);
  });

  it('of another organization are not found, and not verified by force', async () => {
    const { id } = await add('acme.example');
    const other = await createOrganization(test.app, { name: 'other', plan: 'free' });
    const forced = verifyDomain(test.app, operatorOf(other.id), id, { force: true });
    const notFound = { _tag: 'ResourceNotFoundError', resource: 'domain', id };
    await expect(forced).rejects.toMatchObject(notFound);
  });

  it('are deleted with their keys', async () => {
    const { id } = await add('acme.example');
    await force(id);
    expect(await selectors(id)).toEqual(['svc1ed']);
    await deleteDomain(test.app, test.caller, id);
    expect(await selectors(id)).toEqual([]);
    await expect(deleteDomain(test.app, test.caller, id)).rejects.toMatchObject({ status: 404 });
    await expect(add('acme.example')).resolves.toBeDefined();
  });

  describe('verification without DNS', () => {
    it('is allowed for the operator, and publishes all keys', async () => {
      const { id } = await add('acme.example', 'both');
      expect(await selectors(id)).toEqual([]);
      const verified = await force(id);
      expect(verified).toMatchObject({
        status: 'verified',
        verifiedAt: '2026-01-05T12:00:00.000Z',
        dkimKeys: [{ published: true }, { published: true }],
      });
      expect(await selectors(id)).toEqual(['svc1rsa', 'svc1ed']);
    });

    it("is forbidden for every key, also an owner's", async () => {
      const { id } = await add('acme.example');
      await expect(verifyDomain(test.app, test.caller, id, { force: true })).rejects.toMatchObject({
        _tag: 'ForbiddenError',
      });
      expect((await getDomain(test.app, test.caller, id)).status).toBe('pending');
    });
  });

  describe('new DKIM keys', () => {
    it('wait for their record while the old keys sign', async () => {
      const { id } = await add('acme.example', 'both');
      await force(id);
      const rotated = await rotateDkim(test.app, test.caller, id);
      expect(rotated.dkimKeys.map(({ selector, published }) => [selector, published])).toEqual([
        ['svc1rsa', true],
        ['svc1ed', true],
        ['svc2rsa', false],
        ['svc2ed', false],
      ]);
      expect(rotated.dkim.selector).toBe('svc1rsa');
      expect(rotated.dnsRecords.filter(({ required }) => required)).toMatchObject([
        { name: 'svc1rsa._domainkey.acme.example' },
        { name: 'bounce.acme.example' },
      ]);
      expect(await selectors(id)).toEqual(['svc1rsa', 'svc1ed']);
    });

    it('replace the old keys once published', async () => {
      const { id } = await add('acme.example', 'both');
      await force(id);
      await rotateDkim(test.app, test.caller, id);
      const after = await force(id);
      expect(after.dkimKeys.map(({ selector }) => selector)).toEqual(['svc2rsa', 'svc2ed']);
      expect(await selectors(id)).toEqual(['svc2rsa', 'svc2ed']);
      const retired = await pastSigningKeys(test.app, id, ['svc1ed', 'svc1rsa', 'svc9']);
      expect(retired.map(({ selector }) => selector)).toEqual(['svc1ed', 'svc1rsa']);
    });

    it('replace keys that were never published', async () => {
      const { id } = await add('acme.example');
      const rotated = await rotateDkim(test.app, test.caller, id);
      expect(rotated.dkimKeys.map(({ selector }) => selector)).toEqual(['svc2ed']);
      await force(id);
      await rotateDkim(test.app, test.caller, id);
      const again = await rotateDkim(test.app, test.caller, id);
      expect(again.dkimKeys.map(({ selector }) => selector)).toEqual(['svc2ed', 'svc4ed']);
    });

    it('get a generation each when generated concurrently', async () => {
      const { id } = await add('acme.example');
      await force(id);
      await Promise.all([
        rotateDkim(test.app, test.caller, id),
        rotateDkim(test.app, test.caller, id),
      ]);
      const { dkimKeys } = await getDomain(test.app, test.caller, id);
      expect(dkimKeys.map(({ selector }) => selector)).toEqual(['svc1ed', 'svc3ed']);
    });

    it('sign at once on a local domain', async () => {
      const { items } = await listDomains(test.app, test.caller, { page: 1, limit: 20 });
      const id = items[0]?.id ?? '';
      expect(await selectors(id)).toEqual(['svc1rsa', 'svc1ed']);
      const rotated = await rotateDkim(test.app, test.caller, id);
      expect(rotated).toMatchObject({ status: 'verified', dkim: { selector: 'svc2rsa' } });
      expect(await selectors(id)).toEqual(['svc2rsa', 'svc2ed']);
    });
  });

  it('sign with the changes of another process within a second', async () => {
    const { id } = await add('acme.example');
    expect(await selectors(id)).toEqual([]);
    const command = await test.another();
    await verifyDomain(command, test.operator, id, { force: true });
    await test.clock.advance(1_000);
    expect(await selectors(id)).toEqual(['svc1ed']);
  });

  it('are read and parsed at most once a second for signing', async () => {
    const { id } = await add('acme.example');
    await force(id);
    expect(await signingKeysOf(test.app, id)).toBe(await signingKeysOf(test.app, id));
    const [before] = await signingKeysOf(test.app, id);
    await test.clock.advance(1_000);
    const [after] = await signingKeysOf(test.app, id);
    expect(after?.privateKey).toBe(before?.privateKey);
    expect(after).toMatchObject({ domain: 'acme.example', algorithm: 'ed25519-sha256' });
  });
});
