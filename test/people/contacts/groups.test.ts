// Groups of contacts and their members, on both stores; rules that they share with other nouns are
// in test/http/resources.test.ts.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { AuditPage } from '../../../src/history/audit/schema.ts';
import type { ContactGroup } from '../../../src/people/contacts/groups/schema.ts';
import { type Contact, contactNoun } from '../../../src/people/contacts/schema.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';

const path = '/v1/contact-groups';
type Refusal = { resource: string; id: string; fields?: object };

describe.each(stores)('groups of contacts on %s', (store) => {
  const { test, api } = eachApi({ store });

  const makeGroup = async () => (await api.post<ContactGroup>(path, { name: 'Testers' })).body.id;
  async function makeContacts(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) {
      const { body } = await api.post<Contact>('/v1/contacts', { email: `u${i}@example.com` });
      ids.push(body.id);
    }
    return ids;
  }
  const change = <Body = ContactGroup>(
    method: 'POST' | 'DELETE',
    id: string,
    contactIds: readonly unknown[],
  ) => api.request<Body>(method, `${path}/${id}/members`, { body: { contactIds } });
  async function members(id: string, query = '') {
    const { body } = await api.get<Page<Contact>>(`${path}/${id}/members${query}`);
    return { ids: body.items.map((contact) => contact.id), total: body.pagination.total };
  }
  const countOf = async (id: string) =>
    (await api.get<ContactGroup>(`${path}/${id}`)).body.memberCount;

  it('add and remove each member once, and count them', async () => {
    const group = await makeGroup();
    const ids = await makeContacts(4);
    const [a = '', b = '', c = '', d = ''] = ids;
    const added = await change('POST', group, [a, b, a]);
    expect([added.status, added.body.memberCount]).toEqual([200, 2]);
    expect((await change('POST', group, [b, c])).body.memberCount).toBe(3);
    expect(await members(group)).toEqual({ ids: [c, b, a], total: 3 });
    expect(await members(group, '?limit=2&page=2')).toEqual({ ids: [a], total: 3 });
    const removed = await change('DELETE', group, [b, d]);
    expect([removed.status, removed.body.memberCount]).toEqual([200, 2]);
    expect(await members(group)).toEqual({ ids: [c, a], total: 2 });
    const { body } = await api.get<AuditPage>(`/v1/audit?resource=${group}`);
    expect(body.items.map(({ details }) => details).slice(0, 3)).toEqual([
      { members: { removed: 1 } },
      { members: { added: 1 } },
      { members: { added: 2 } },
    ]);
    await change('POST', group, [a]);
    const again = await api.get<AuditPage>(`/v1/audit?resource=${group}`);
    expect(again.body.items).toHaveLength(body.items.length);
  });

  it('answer 404 for an unknown contact, which they name, and add none', async () => {
    const group = await makeGroup();
    const [a = ''] = await makeContacts(1);
    const unknown = test.app.newId(contactNoun);
    const { status, body } = await change<Refusal>('POST', group, [a, unknown]);
    expect([status, body.resource, body.id]).toEqual([404, 'contact', unknown]);
    expect(await countOf(group)).toBe(0);
  });

  it('take 10,000 members at a time, and reject 10,001 before reading any', async () => {
    const group = await makeGroup();
    await test.app.store.write((trx) =>
      sql`insert into contacts (id, organization_id, is_archived, created_at, updated_at)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
        select 'contact_' || substr(${'0'.repeat(20)}, 1, 20 - length(cast(i as text))) ||
          cast(i as text), ${test.caller.organizationId}, 0, 0, 0 from n`.execute(trx),
    );
    const ids = Array.from(
      { length: 10_000 },
      (_, i) => `contact_${String(i + 1).padStart(20, '0')}`,
    );
    const over = await change<Refusal>('POST', group, [...ids, 7]);
    expect([over.status, over.body.fields]).toEqual([
      422,
      { contactIds: ['must be at most 10000 at a time'] },
    ]);
    expect((await change('POST', group, ids)).body.memberCount).toBe(10_000);
    expect((await api.delete(`${path}/${group}`)).status).toBe(200);
    const { rows } = await sql<{ n: number }>`select (select count(*) from contact_group_members)
      as n`.execute(test.app.store.db);
    expect(Number(rows[0]?.n)).toBe(0);
    expect((await api.get(`/v1/contacts/${ids[0]}`)).status).toBe(200);
  });

  it('lose a contact that is deleted', async () => {
    const groups = [await makeGroup(), await makeGroup()];
    const [a = '', b = ''] = await makeContacts(2);
    for (const group of groups) await change('POST', group, [a, b]);
    expect((await api.delete(`/v1/contacts/${a}`)).status).toBe(200);
    for (const group of groups) {
      expect([await members(group), await countOf(group)]).toEqual([{ ids: [b], total: 1 }, 1]);
    }
  });

  it('have the right count after concurrent changes', async () => {
    const groups = [await makeGroup(), await makeGroup()];
    const ids = await makeContacts(12);
    const work = groups.flatMap((group) => [
      change('POST', group, ids),
      change('POST', group, [...ids].reverse()),
      change('DELETE', group, ids.slice(4, 8)),
      api.delete(`/v1/contacts/${ids[0]}`),
      api.delete(`/v1/contacts/${ids[11]}`),
    ]);
    const statuses = (await Promise.all(work)).map(({ status }) => status);
    expect(statuses.every((status) => status === 200 || status === 404)).toBe(true);
    for (const group of groups) {
      const { ids: there } = await members(group, '?limit=100');
      expect(await countOf(group)).toBe(there.length);
    }
  });
});
