// Contacts over HTTP, and in sends, on both stores; rules that they share with other nouns are in
// test/http/resources.test.ts.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { blockAddress } from '../../../src/people/blocks/suppression.ts';
import { type Contact, contactNoun } from '../../../src/people/contacts/schema.ts';
import { payload, send } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';

const path = '/v1/contacts';

type Refusal = { _tag: string; message: string; resource?: string; id?: string; fields?: object };

describe.each(stores)('contacts on %s', (store) => {
  const { test, api } = eachApi({ store });

  async function make(body: object): Promise<Contact> {
    const answer = await api.post<Contact>(path, body);
    expect([answer.status, answer.body]).toEqual([201, answer.body]);
    return answer.body;
  }
  const list = async (query: string) => (await api.get<Page<Contact>>(`${path}?${query}`)).body;
  const patch = <Body = Contact>(id: string, body: object) =>
    api.request<Body>('PATCH', `${path}/${id}`, { body });

  it('answer 409 for the address of another contact, in any letter case, and name that contact', async () => {
    const ada = await make({ email: 'Ada@example.com', name: 'Ada', externalId: 'crm-1' });
    const again = await api.post<Refusal>(path, { email: 'ada@EXAMPLE.com' });
    expect([again.status, again.body.resource]).toEqual([409, 'contact']);
    expect(again.body.message).toContain(ada.id);
    const external = await api.post<Refusal>(path, { email: 'b@example.com', externalId: 'crm-1' });
    expect([external.status, external.body.message]).toEqual([
      409,
      expect.stringContaining(ada.id),
    ]);
    const bob = await make({ email: 'bob@example.com' });
    const taken = await patch<Refusal>(bob.id, { email: 'ADA@example.com' });
    expect([taken.status, taken.body.message]).toEqual([409, expect.stringContaining(ada.id)]);
    const own = { channel: 'email', identifier: 'ADA@example.com' };
    const both = await patch(ada.id, {
      identities: [own, { ...own, identifier: 'a2@example.com' }],
    });
    expect([both.status, both.body]).toEqual([200, both.body]);
    expect(both.body.identities.map(({ identifier }) => identifier)).toEqual([
      'ADA@example.com',
      'a2@example.com',
    ]);
    expect(both.body.identities[0]?.id).toBe(ada.identities[0]?.id);
  });

  it('keep an address given twice in different letter cases once, in its first form', async () => {
    const twice = ['Ada@example.com', 'ada@EXAMPLE.com', 'a2@example.com'].map((identifier) => ({
      channel: 'email',
      identifier,
    }));
    const ada = await make({ identities: twice });
    const changed = await patch(ada.id, { identities: twice });
    for (const { identities } of [ada, changed.body]) {
      expect(identities.map(({ identifier }) => identifier)).toEqual([
        'Ada@example.com',
        'a2@example.com',
      ]);
    }
  });

  it('4.5 add tags once, ignore the removal of a missing tag, and bound tags at 100', async () => {
    const { id } = await make({ email: 'ada@example.com', tags: ['a', 'b', 'a'] });
    const added = await api.post<Contact>(`${path}/${id}/tags`, { tags: ['c', 'a'] });
    expect([added.status, added.body.tags]).toEqual([200, ['a', 'b', 'c']]);
    const removed = await api.request<Contact>('DELETE', `${path}/${id}/tags`, {
      body: { tags: ['b', 'never'] },
    });
    expect([removed.status, removed.body.tags]).toEqual([200, ['a', 'c']]);
    const many = Array.from({ length: 99 }, (_, index) => `t${index}`);
    const over = await api.post<Refusal>(`${path}/${id}/tags`, { tags: many });
    expect([over.status, Object.keys(over.body.fields ?? {})]).toEqual([422, ['tags']]);
    for (const body of [{ tags: [] }, {}]) {
      const none = await api.post<Refusal>(`${path}/${id}/tags`, body);
      expect([none.status, Object.keys(none.body.fields ?? {})]).toEqual([422, ['tags']]);
    }
    for (const tag of ['', ' a', 'a,b', 'a\nb', 'x'.repeat(101)]) {
      const bad = await api.post<Refusal>(`${path}/${id}/tags`, { tags: [tag] });
      expect([tag, bad.status]).toEqual([tag, 422]);
    }
    expect((await api.get<Contact>(`${path}/${id}`)).body.tags).toEqual(['a', 'c']);
  });

  it('are filtered by tag, email and external id, and counted', async () => {
    const made: Contact[] = [];
    for (let i = 0; i < 5; i++) {
      made.push(
        await make({ email: `c${i}@example.com`, externalId: `x${i}`, tags: i % 2 ? ['odd'] : [] }),
      );
    }
    const odd = await list('tag=odd&limit=1');
    expect(odd.items.map(({ id }) => id)).toEqual([made[3]?.id]);
    expect(odd.pagination.total).toBe(2);
    expect((await list('email=C2@example.com')).items.map(({ id }) => id)).toEqual([made[2]?.id]);
    expect((await list('externalId=x4&tag=odd')).pagination.total).toBe(0);
    expect((await list('externalId=x3&tag=odd')).items.map(({ id }) => id)).toEqual([made[3]?.id]);
    await api.delete(`${path}/${made[3]?.id}`);
    expect((await list('tag=odd')).pagination.total).toBe(1);
    expect((await list('limit=1')).pagination.total).toBe(4);
  });

  it.each([
    ['bounce', 'bounced'],
    ['complaint', 'complained'],
    ['unsubscribe', 'unsubscribed'],
    ['manual', 'active'],
  ] as const)(
    'derive their status from a block (%s) of the first email',
    async (reason, status) => {
      const emails = ['Ada@example.com', 'second@example.com'];
      const identities = emails.map((identifier) => ({ channel: 'email', identifier }));
      const { id } = await make({ identities });
      const { organizationId } = test.caller;
      const block = (address: string) =>
        test.app.store.write((trx) =>
          blockAddress(test.app, trx, { organizationId, address, reason, messageId: null }),
        );
      const shown = async () => (await api.get<Contact>(`${path}/${id}`)).body;
      await block('second@example.com');
      expect(await shown()).toMatchObject({ status: 'active', statusReason: null });
      await block('ada@example.com');
      expect(await shown()).toMatchObject({
        status,
        statusReason: expect.stringContaining(reason),
      });
      expect((await patch(id, { status: 'archived' })).body.status).toBe('archived');
      expect((await patch(id, { status: 'active' })).body.status).toBe(status);
      const { body } = await api.get<Page<{ id: string }>>(
        '/v1/email/blocks?address=ada@example.com',
      );
      await api.delete(`/v1/email/blocks/${body.items[0]?.id}`);
      expect(await shown()).toMatchObject({ status: 'active', statusReason: null });
    },
  );

  it('show the gravest of several blocks: complained, bounced, then unsubscribed', async () => {
    const { id } = await make({ email: 'ada@example.com' });
    const { organizationId } = test.caller;
    const address = 'ada@example.com';
    for (const reason of ['unsubscribe', 'bounce', 'complaint'] as const) {
      await test.app.store.write((trx) =>
        blockAddress(test.app, trx, { organizationId, address, reason, messageId: null }),
      );
    }
    const blocks = `/v1/email/blocks?address=${address}`;
    for (const status of ['complained', 'bounced', 'unsubscribed', 'active']) {
      const contact = (await api.get<Contact>(`${path}/${id}`)).body;
      expect(contact.status).toBe(status);
      const named = /blk_\w+/.exec(contact.statusReason ?? '')?.[0];
      if (named) await api.delete(`/v1/email/blocks/${named}`);
    }
    expect((await api.get<Page<object>>(blocks)).body.pagination.total).toBe(0);
  });

  it.each([
    ['an empty body', {}, 'email'],
    ['both forms', { email: 'a@example.com', identities: [] }, 'identities'],
    ['a line break in a name', { email: 'a@example.com', name: 'A\r\nBcc: b@c.d' }, 'name'],
    ['a derived status', { email: 'a@example.com', status: 'bounced' }, 'status'],
    ['101 tags', { email: 'a@example.com', tags: Array(101).fill('a') }, 'tags'],
  ])('are rejected with 422 from %s', async (_case, body, field) => {
    const { status, body: refusal } = await api.post<Refusal>(path, body);
    expect([status, Object.keys(refusal.fields ?? {})]).toEqual([422, [field]]);
    expect((await list('')).pagination.total).toBe(0);
  });

  it('receive a send at their first email, under their name, once beside an equal address', async () => {
    const ada = await make({ email: 'Ada@example.com', name: 'Ada' });
    const to = [{ email: 'ada@example.com' }, { contactId: ada.id }];
    const message = await send(api, payload({}, { to, cc: [{ contactId: ada.id }] }));
    expect(message.to).toEqual([{ email: 'ada@example.com', name: null, contactId: ada.id }]);
    expect([message.cc, message.deliveries.length]).toEqual([[], 1]);
    const alone = await send(api, payload({}, { to: [{ contactId: ada.id }] }));
    expect(alone.to).toEqual([{ email: 'Ada@example.com', name: 'Ada', contactId: ada.id }]);
    const named = await api.get<Page<Message>>(`/v1/messages?contactId=${ada.id}`);
    expect(named.body.items.map(({ id }) => id)).toEqual([alone.id, message.id]);
  });

  it('receive no send while their email is blocked', async () => {
    const { id } = await make({ email: 'gone@example.com' });
    await api.post('/v1/email/blocks', { address: 'gone@example.com' });
    const message = await send(api, payload({}, { to: [{ contactId: id }] }));
    expect([message.status, message.deliveries[0]?.errorCode]).toEqual(['failed', 'suppressed']);
  });

  it('without an email answer a send with 422 on the entry', async () => {
    const { id } = await make({ identities: [], name: 'Nobody' });
    const to = [{ email: 'a@example.com' }, { contactId: id }];
    const none = await api.post<Refusal>('/v1/messages', payload({}, { to }));
    expect([none.status, Object.keys(none.body.fields ?? {})]).toEqual([422, ['to.1.contactId']]);
  });

  it('answer a send with 404 when unknown', async () => {
    const unknown = test.app.newId(contactNoun);
    const body = payload({}, { to: [{ contactId: unknown }] });
    const missing = await api.post<Refusal>('/v1/messages', body);
    expect([missing.status, missing.body.resource, missing.body.id]).toEqual([
      404,
      'contact',
      unknown,
    ]);
  });

  it("leave messages without their name and id once deleted, and keep the address's blocks", async () => {
    const { id } = await make({ email: 'ada@example.com', name: 'Ada' });
    const message = await send(api, payload({}, { to: [{ contactId: id }] }));
    // More recipients than one transaction changes.
    await test.app.store.write((trx) =>
      sql`insert into recipients (id, message_id, kind, email, name, contact_id, position)
      select 'rcp_' || value, ${message.id}, 'bcc', 'a@b.c', 'Ada', ${id}, value
      from (with recursive n(value) as (select 1 union all select value + 1 from n where value < 2500)
        select value from n) n`.execute(trx),
    );
    await api.post('/v1/email/blocks', { address: 'ada@example.com' });
    expect((await api.delete(`${path}/${id}`)).status).toBe(200);
    const { rows } = await sql<{ n: number }>`select count(*) as n from recipients
      where contact_id is not null or name is not null`.execute(test.app.store.db);
    expect(Number(rows[0]?.n)).toBe(0);
    const shown = await api.get<Message>(`/v1/messages/${message.id}`);
    expect(shown.body.to).toEqual([{ email: 'ada@example.com', name: null, contactId: null }]);
    const blocks = await api.get<Page<object>>('/v1/email/blocks?address=ada@example.com');
    expect(blocks.body.items).toHaveLength(1);
    expect((await make({ email: 'ada@example.com' })).id).not.toBe(id);
  });
});
