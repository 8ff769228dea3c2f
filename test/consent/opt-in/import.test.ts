// Imports whose contacts have to confirm a group.
import { describe, expect, it } from 'vitest';
import { addMembers, listMembers } from '../../../src/consent/opt-in/members.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createSender } from '../../../src/identity/senders/senders.ts';
import { newBlockRow } from '../../../src/people/blocks/blocks.ts';
import { insertBlocks } from '../../../src/people/blocks/queries.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { otherOrganization } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { hourMs, optInWorld } from './opt-in-world.ts';

const headers = { 'content-type': 'text/csv' };

describe.each(stores)('an import that requires confirmation on %s', (store) => {
  const world = optInWorld({ store });
  const { test, api, turn, group, contact, add, members, mails, press } = world;

  const take = (body: string, groupId: string, more = '') =>
    api.request<{ pending?: number; created: number; message: string }>(
      'POST',
      `/v1/contacts/import?requireConfirmation=${groupId}${more}`,
      { body, headers },
    );

  it('answers 404 for a group that is unknown or of another organization', async () => {
    const { id } = await createGroup(test.app, (await otherOrganization(test.app)).caller, {
      ...{ name: 'Theirs', confirm: true },
    });
    for (const one of [id, 'usg_06dq2k0qz8h3v5m1r9t4w7xy', 'x', '']) {
      expect([one, (await take('email\na@example.com\n', one)).status]).toEqual([one, 404]);
    }
    expect((await api.get<{ items: unknown[] }>('/v1/contacts')).body.items).toEqual([]);
  });

  it('answers 409 for a group without confirm', async () => {
    const id = await group({ confirm: false });
    expect((await take('email\na@example.com\n', id)).status).toBe(409);
  });

  it('refuses a test key', async () => {
    const id = await group();
    const { body } = await api.post<{ key: string }>('/v1/api-keys', {
      ...{ name: 'test', role: 'developer', mode: 'test' },
    });
    const answer = await api
      .as(body.key)
      .request('POST', `/v1/contacts/import?requireConfirmation=${id}`, {
        body: 'email\na@example.com\n',
        headers,
      });
    expect(answer.status).toBe(403);
  });

  it('asks new, changed and unchanged contacts that can get mail', async () => {
    const id = await group();
    await contact('old@example.com', { name: 'Old' });
    await contact('same@example.com');
    const file = [
      'email,externalId,name,status',
      'new@example.com,,New,',
      'old@example.com,,Older,',
      'same@example.com,,,',
      ',no-address,Nobody,',
      'gone@example.com,,Gone,archived',
      'no address,,,',
      'new@example.com,,Newer,',
    ].join('\n');
    const { body } = await take(file, id);
    expect(body).toMatchObject({ pending: 3, rejected: 1 });
    for (let i = 0; i < 4; i++) await turn();
    expect(new Set((await mails()).map(({ to }) => to))).toEqual(
      new Set(['new@example.com', 'old@example.com', 'same@example.com']),
    );
    expect((await members(id)).items.every(({ status }) => status === 'pending')).toBe(true);
  });

  it('asks nobody again when the file is imported again', async () => {
    const id = await group();
    const file = 'email\na@example.com\nb@example.com\n';
    expect((await take(file, id)).body.pending).toBe(2);
    await turn();
    await turn();
    await press((await mails())[0]?.link ?? '');
    await turn(2 * hourMs);
    expect((await take(file, id)).body.pending).toBe(0);
    await turn();
    expect(await mails()).toHaveLength(2);
    expect((await members(id, '?status=confirmed')).items).toHaveLength(1);
  });

  it('asks nobody in a preview', async () => {
    const id = await group();
    expect((await take('email\na@example.com\n', id, '&dryRun=true')).status).toBe(200);
    expect((await members(id)).items).toEqual([]);
  });

  it('asks nobody without the option', async () => {
    await group();
    const { body } = await api.request<object>('POST', '/v1/contacts/import', {
      ...{ body: 'email\na@example.com\n', headers },
    });
    expect(body).not.toHaveProperty('pending');
  });

  it('sends no mail to a row that opted out', async () => {
    const id = await group();
    await take('email,unsubscribed\na@example.com,yes\nb@example.com,no\n', id);
    for (let i = 0; i < 3; i++) await turn();
    expect((await mails()).map(({ to }) => to)).toEqual(['b@example.com']);
  });

  it('sends no mail to an address that left the group', async () => {
    const { app, caller } = test;
    const id = await group();
    const { organizationId } = caller;
    const block = { address: 'a@example.com', reason: 'unsubscribe' as const, messageId: null };
    const row = { ...newBlockRow(app, organizationId, block), unsubscribe_group_id: id };
    await app.store.write((trx) => insertBlocks(trx, [row]));
    await take('email\nA@example.com\nb@example.com\n', id);
    for (let i = 0; i < 3; i++) await turn();
    expect((await mails()).map(({ to }) => to)).toEqual(['b@example.com']);
    expect((await members(id)).items).toHaveLength(2);
  });

  it('mails at its pace, and a single request before the rest', async () => {
    const id = await group();
    const rows = Array.from({ length: 50 }, (_, i) => `c${i}@example.com`);
    await take(`email\n${rows.join('\n')}\n`, id);
    await turn(2_000);
    const ada = await contact('ada@example.com');
    await add(id, ada);
    await turn();
    await turn();
    const after = (await mails()).map(({ to }) => to);
    expect(after).toContain('ada@example.com');
    expect(after.length).toBeLessThan(25);
    for (let i = 0; i < 12; i++) await turn();
    expect(await mails()).toHaveLength(51);
  });

  it('lets organizations take turns', async () => {
    const { app } = test;
    const { caller: other } = await otherOrganization(app);
    const domain = await addDomain(app, other, { domain: 'acme.example', dkim: 'ed25519' });
    await verifyDomain(app, other, domain.id, { force: true });
    await createSender(app, other, { email: 'a@acme.example', isDefault: true });
    const { id: theirs } = await createGroup(app, other, { name: 'Theirs', confirm: true });
    const eve = await createContact(app, other, { email: 'eve@example.com' });
    const id = await group();
    const rows = Array.from({ length: 40 }, (_, i) => contact(`c${i}@example.com`));
    await turn();
    await add(id, ...(await Promise.all(rows)));
    await addMembers(app, other, theirs, [eve.id]);
    await turn();
    const { items } = await listMembers(app, other, theirs, { limit: 10 });
    expect(items).toMatchObject([{ mails: 1 }]);
    expect(await mails()).toHaveLength(5);
  });
});
