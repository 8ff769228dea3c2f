// The tags of contacts, counted as they change.
import { describe, expect, it } from 'vitest';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { Contact, ContactTag } from '../../../src/people/contacts/schema.ts';
import { otherOrganization } from '../../outbound/messages/fixtures.ts';
import { bothStores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';

describe.each(bothStores)('the tags of contacts on %s', (store) => {
  const { test, api } = eachApi({ store });

  const tags = async (query = '', as = api) => {
    const { status, body } = await as.get<Page<ContactTag>>(`/v1/contacts/tags${query}`);
    expect(status).toBe(200);
    return body;
  };
  const add = async (email: string, ...own: string[]) =>
    (await api.post<Contact>('/v1/contacts', { email, tags: own })).body.id;

  it('are listed in order, as the oldest contact writes them', async () => {
    expect((await tags()).items).toEqual([]);
    const first = await add('ada@example.com', 'VIP', 'beta');
    await add('bo@example.com', 'vip');
    expect(await tags()).toEqual({
      items: [
        { tag: 'beta', contacts: 1 },
        { tag: 'VIP', contacts: 2 },
      ],
      pagination: expect.objectContaining({ total: 2 }),
    });
    await api.request('DELETE', `/v1/contacts/${first}/tags`, { body: { tags: ['vip', 'beta'] } });
    expect((await tags()).items).toEqual([{ tag: 'vip', contacts: 1 }]);
    await api.request('PATCH', `/v1/contacts/${first}`, { body: { tags: ['new'] } });
    await api.post(`/v1/contacts/${first}/tags`, { tags: ['vip'] });
    expect((await tags()).items).toEqual([
      { tag: 'new', contacts: 1 },
      { tag: 'vip', contacts: 2 },
    ]);
    await api.delete(`/v1/contacts/${first}`);
    expect((await tags()).items).toEqual([{ tag: 'vip', contacts: 1 }]);
  });

  it('of an import are counted, and paged', async () => {
    const csv = 'email,tags\na@example.com,"one,two"\nb@example.com,two\n';
    const headers = { 'content-type': 'text/csv' };
    await api.request('POST', '/v1/contacts/import', { body: csv, headers });
    expect((await tags('?limit=1&page=2')).items).toEqual([{ tag: 'two', contacts: 2 }]);
    const { apiKey } = await otherOrganization(test.app);
    expect((await tags('', api.as(apiKey))).items).toEqual([]);
  });
});
