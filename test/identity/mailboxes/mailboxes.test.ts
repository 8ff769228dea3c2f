import { describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { addDomain, getDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import {
  addAddress,
  createMailbox,
  removeAddress,
  updateMailbox,
} from '../../../src/identity/mailboxes/mailboxes.ts';
import { findReceivers, isLocalAddress } from '../../../src/identity/mailboxes/receivers.ts';
import { createMailboxInput } from '../../../src/identity/mailboxes/schema.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';

describe.each(stores)('mailboxes on %s', (store) => {
  const test = eachApp({ store });

  const make = (slug: string, address: string) =>
    createMailbox(test.app, test.caller, { slug, displayName: null, address });

  it('are found by an address in any case of letters', async () => {
    const made = await make('help', 'Help@Sandbox.test');
    const { db } = test.app.store;
    expect((await findReceivers(db, 'HELP@sandbox.TEST')).own?.id).toBe(made.id);
    expect((await findReceivers(db, 'help+x@sandbox.test')).own?.id).toBe(made.id);
    expect(await isLocalAddress(db, 'help@sandbox.test')).toBe(true);
    expect(await isLocalAddress(db, 'nobody@sandbox.test')).toBe(false);
    expect((await findReceivers(db, 'nobody@sandbox.test')).own).toBeUndefined();
  });

  it('have a unique slug and a unique address', async () => {
    await make('help', 'help@sandbox.test');
    const conflict = { _tag: 'ConflictError', resource: 'mailbox' };
    await expect(make('help', 'other@sandbox.test')).rejects.toMatchObject(conflict);
    await expect(make('other', 'HELP@sandbox.test')).rejects.toMatchObject(conflict);
    expect(await isLocalAddress(test.app.store.db, 'other@sandbox.test')).toBe(false);
    await expect(make('other', 'other@sandbox.test')).resolves.toBeDefined();
  });

  it('make their domain list the records for incoming mail', async () => {
    const purposes = async (id: string) =>
      (await getDomain(test.app, test.caller, id)).dnsRecords.map(({ purpose }) => purpose);
    const domain = await addDomain(test.app, test.caller, {
      domain: 'acme.example',
      dkim: 'ed25519',
    });
    expect(await purposes(domain.id)).not.toContain('mx');
    const early = make('help', 'help@acme.example');
    await expect(early).rejects.toMatchObject({ _tag: 'ConflictError', resource: 'domain' });
    await verifyDomain(test.app, test.operator, domain.id, { force: true });
    await make('help', 'help@acme.example');
    expect(await purposes(domain.id)).toContain('mx');
  });

  it('write from their first address again after the removal of their default one', async () => {
    const { app, caller } = test;
    const { id } = await make('help', 'help@sandbox.test');
    const { addresses } = await addAddress(app, caller, id, { address: 'sales@sandbox.test' });
    const defaultFrom = { address: 'Sales@sandbox.test', displayName: 'Sales' };
    expect(await updateMailbox(app, caller, id, { defaultFrom })).toMatchObject({ defaultFrom });
    expect(await removeAddress(app, caller, id, addresses[1]?.id ?? '')).toMatchObject({
      primaryAddress: 'help@sandbox.test',
      defaultFrom: { address: 'help@sandbox.test', displayName: null },
    });
  });

  it('need a slug, an address and a domain of the organization', async () => {
    const refused = (field: string) => ({ fieldErrors: { [field]: [expect.any(String)] } });
    await expect(make('No Slug', 'a@sandbox.test')).rejects.toMatchObject(refused('slug'));
    await expect(make('a', 'nonsense')).rejects.toMatchObject(refused('address'));
    await expect(make('a', 'a@elsewhere.example')).rejects.toMatchObject(refused('address'));
    const { id } = await createOrganization(test.app, { name: 'acme', plan: 'free' });
    const hosted = { slug: 'a', displayName: null, address: 'a@sandbox.test' };
    const made = await createMailbox(test.app, operatorOf(id), hosted);
    expect(made.addresses).toMatchObject([{ address: 'a@sandbox.test', source: 'serviceHosted' }]);
    await expect(make('b', 'A@sandbox.test')).rejects.toMatchObject({ _tag: 'ConflictError' });
  });

  it('with the names of the service belong to its own organization, in any spelling', async () => {
    const { id } = await createOrganization(test.app, { name: 'acme', plan: 'free' });
    const mailbox = (slug: string, localPart: string) => {
      return { slug, displayName: null, address: `${localPart}@sandbox.test` };
    };
    for (const [at, localPart] of ['security', 'Security', 'POSTMASTER', 'dmarc'].entries()) {
      const made = createMailbox(test.app, operatorOf(id), mailbox(`m${at}`, localPart));
      await expect(made, localPart).rejects.toMatchObject({
        fieldErrors: {
          address: [`${localPart}@sandbox.test is reserved for the operator of the service`],
        },
      });
    }
    await expect(make('security', 'Security@sandbox.test')).resolves.toBeDefined();
  });
});

describe('the input of a mailbox', () => {
  const problems = (said: object) => {
    const read = createMailboxInput.safeParse({ slug: 'help', ...said });
    return (read.error?.issues ?? []).map(({ path }) => path.join('.'));
  };
  const manyKeys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, '']));

  it.each([
    ['slug', (count: number) => ({ slug: 'a'.repeat(count) }), 64, 'slug'],
    ['displayName', (count: number) => ({ displayName: 'é'.repeat(count) }), 200, 'displayName'],
    ['description', (count: number) => ({ description: 'x'.repeat(count) }), 1_000, 'description'],
    ['a name', (count: number) => ({ metadata: { ['k'.repeat(count)]: '' } }), 100, /^metadata/],
    ['a value', (count: number) => ({ metadata: { k: 'x'.repeat(count) } }), 2_000, 'metadata.k'],
    ['metadata', (count: number) => ({ metadata: manyKeys(count) }), 50, 'metadata'],
  ])('bounds %s', (_what, saying, most, field) => {
    expect(problems(saying(most))).toEqual([]);
    expect(problems(saying(most + 1))).toEqual([
      typeof field === 'string' ? field : expect.stringMatching(field),
    ]);
  });

  it.each([
    ['slug', { slug: '' }],
    ['displayName', { displayName: '' }],
    ['displayName', { displayName: 'a\r\nb' }],
    ['metadata.', { metadata: { '': 'x' } }],
    ['domain', { domain: 'acme.example', address: 'a@acme.example' }],
    ['', { name: 'x' }],
  ])('refuses a bad %s: %j', (field, said) => {
    expect(problems(said)).toEqual([field]);
  });
});
