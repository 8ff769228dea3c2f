import { describe, expect, it } from 'vitest';
import { addDomain, getDomain } from '../../src/domains/domains.ts';
import { operatorOf } from '../../src/keys/roles.ts';
import {
  createMailbox,
  findMailboxByAddress,
  isLocalAddress,
} from '../../src/mailboxes/mailboxes.ts';
import { createOrganization } from '../../src/organizations/organizations.ts';
import { eachApp } from '../support/each-app.ts';
import { stores } from '../support/test-app.ts';

describe.each(stores)('mailboxes on %s', (store) => {
  const test = eachApp({ store });

  const make = (slug: string, address: string) =>
    createMailbox(test.app, test.caller, { slug, displayName: null, address });

  it('are found by their address, in any case of letters', async () => {
    const made = await make('help', 'Help@Sandbox.test');
    const { db } = test.app.store;
    expect(await findMailboxByAddress(db, 'HELP@sandbox.TEST')).toEqual(made);
    expect(await isLocalAddress(db, 'help@sandbox.test')).toBe(true);
    expect(await isLocalAddress(db, 'nobody@sandbox.test')).toBe(false);
    expect(await findMailboxByAddress(db, 'nobody@sandbox.test')).toBeUndefined();
  });

  it('have a slug and an address each', async () => {
    await make('help', 'help@sandbox.test');
    const conflict = { _tag: 'ConflictError', resource: 'mailbox' };
    await expect(make('help', 'other@sandbox.test')).rejects.toMatchObject(conflict);
    await expect(make('other', 'HELP@sandbox.test')).rejects.toMatchObject(conflict);
    expect(await isLocalAddress(test.app.store.db, 'other@sandbox.test')).toBe(false);
    await expect(make('other', 'other@sandbox.test')).resolves.toBeDefined();
  });

  it('have their domain ask for the mail of all its addresses', async () => {
    const purposes = async (id: string) =>
      (await getDomain(test.app, test.caller, id)).dnsRecords.map(({ purpose }) => purpose);
    const domain = await addDomain(test.app, test.caller, {
      domain: 'acme.example',
      dkim: 'ed25519',
    });
    expect(await purposes(domain.id)).not.toContain('mx');
    await make('help', 'help@acme.example');
    expect(await purposes(domain.id)).toContain('mx');
  });

  it('need a slug, an address and a domain of the organization', async () => {
    const refused = (field: string) => ({ fieldErrors: { [field]: [expect.any(String)] } });
    await expect(make('No Slug', 'a@sandbox.test')).rejects.toMatchObject(refused('slug'));
    await expect(make('a', 'nonsense')).rejects.toMatchObject(refused('address'));
    await expect(make('a', 'a@elsewhere.example')).rejects.toMatchObject(refused('address'));
    const { id } = await createOrganization(test.app, { name: 'acme', plan: 'free' });
    const mailbox = { slug: 'a', displayName: null, address: 'a@sandbox.test' };
    await expect(createMailbox(test.app, operatorOf(id), mailbox)).rejects.toMatchObject(
      refused('address'),
    );
  });
});
