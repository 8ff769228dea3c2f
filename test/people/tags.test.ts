// Tags in any case, on both stores: every request that takes a tag compares it folded, and each
// answer shows the tag as it was first written.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { routes } from '../../daemon/http/routes.ts';
import { countFates } from '../../src/campaigns/audience/fates.ts';
import type { Page } from '../../src/core/api/pagination.ts';
import { createSearchFiller } from '../../src/outbound/messages/lists/search.ts';
import type { Contact } from '../../src/people/contacts/schema.ts';
import type { Conversation } from '../../src/people/conversations/schema.ts';
import { foldCase } from '../../src/platform/runtime/fold-case.ts';
import {
  ledgerOf,
  makeCampaign,
  makeRun,
  readRun,
  whileWalking,
} from '../campaigns/walk/fixtures.ts';
import { payload, send } from '../outbound/messages/fixtures.ts';
import { bothStores } from '../support/command.ts';
import { eachApi } from '../support/each-app.ts';

/** A tag as it was written, and as it is asked for. */
const pairs: [string, string][] = [
  ['VIP', 'vip'],
  ['vip', 'VIP'],
  ['NewsLetter 2026', 'newsletter 2026'],
  ['Ärzte', 'ÄRZTE'],
  ['ärzte', 'Ärzte'],
  ['Größe L', 'GRÖSSE L'],
  ['STRASSE', 'straße'],
  ['Кафе', 'КАФЕ'],
  ['ΟΔΟΣ', 'οδος'],
  ['Cafe\u0301', 'CAFÉ'],
  ['Say "Hi"', 'say "hi"'],
  ['Back\\Slash', 'back\\slash'],
  ['100% _Off', '100% _OFF'],
  ['\u{1F600} Smile', '\u{1F600} SMILE'],
  ['\u212A2', 'k2'],
];
const others = ['vi', 'vip2', 'VIP Kunde', 'arzte', 'V.I.P', 'grosse'];

/** Each field of a request that takes a tag, by its route. */
const places = [
  'addContactTags body tags',
  'addConversationTags body tags',
  'createCampaign body excludeTags',
  'createCampaign body includeTags',
  'createContact body tags',
  'createContactGroup body tag',
  'createConversation body tags',
  'listContacts query tag',
  'listConversations query tag',
  'listMessages query tag',
  'removeContactTags body tags',
  'removeConversationTags body tags',
  'scheduleMessage body tags',
  'sendMessage body tags',
  'updateCampaign body excludeTags',
  'updateCampaign body includeTags',
  'updateContact body tags',
  'updateContactGroup body tag',
  'updateConversation body tags',
];

function tagFieldsOf(name: string, part: string, schema: z.ZodType | undefined): string[] {
  if (!schema) return [];
  const json = JSON.stringify(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  const names = [...json.matchAll(/"(tags?|\w*Tags?)":\{/g)].map(([, field]) => field);
  return [...new Set(names)].map((field) => `${name} ${part} ${field}`);
}

it('every field of a request that takes a tag is tested here', () => {
  const found = routes.flatMap(({ name, query, body }) => [
    ...tagFieldsOf(name, 'query', query),
    ...tagFieldsOf(name, 'body', body),
  ]);
  expect(new Set(found)).toEqual(new Set(places));
});

describe('foldCase', () => {
  it.each(pairs)('folds %s and %s alike, also twice', (a, b) => {
    expect(foldCase(a)).toBe(foldCase(b));
    expect(foldCase(foldCase(a))).toBe(foldCase(a));
    const lowered = a.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
    expect(foldCase(lowered)).toBe(foldCase(a));
  });
});

describe.each(bothStores)('tags on %s', (store) => {
  const { test, api } = eachApi({ store });

  const make = async (name: string, tags: string[]) => {
    const { status, body } = await api.post<Contact>('/v1/contacts', {
      ...{ email: `${name}@example.com`, tags },
    });
    expect(status).toBe(201);
    return body;
  };
  const list = async (path: string, query: string) =>
    (await api.get<Page<{ id: string }>>(`${path}?${query}`)).body;
  const tagged = (tag: string, more = '') =>
    list('/v1/contacts', `tag=${encodeURIComponent(tag)}${more}`);
  const patch = async (id: string, tags: string[]) =>
    (await api.request<Contact>('PATCH', `/v1/contacts/${id}`, { body: { tags } })).body.tags;

  it('find contacts by every filter, in any case', async () => {
    for (const other of others) await make(`o${others.indexOf(other)}`, [other]);
    for (const [index, [written, asked]] of pairs.entries()) {
      const { id, tags } = await make(`contact${index}`, [written]);
      expect(tags).toEqual([written]);
      for (const more of ['', '&status=active', '&q=con', `&email=contact${index}@example.com`]) {
        const { items, pagination } = await tagged(asked, more);
        const found = items.filter((one) => one.id === id);
        expect([asked, more, found.length, pagination.total]).toEqual([
          asked,
          more,
          1,
          items.length,
        ]);
      }
    }
  });

  it('occur once on a contact, as first written', async () => {
    const { id, tags } = await make('ada', ['VIP', 'vip', 'New', 'Vip', 'NEW']);
    expect(tags).toEqual(['VIP', 'New']);
    const add = await api.post<Contact>(`/v1/contacts/${id}/tags`, {
      tags: ['vip', 'ÄRZTE', 'ärzte'],
    });
    expect(add.body.tags).toEqual(['VIP', 'New', 'ÄRZTE']);
    expect(await patch(id, ['new', 'Vip', 'new', 'x'])).toEqual(['New', 'VIP', 'x']);
    expect((await tagged('vip')).pagination.total).toBe(1);
    const less = await api.request<Contact>('DELETE', `/v1/contacts/${id}/tags`, {
      body: { tags: ['vIP', 'X', 'absent'] },
    });
    expect(less.body.tags).toEqual(['New']);
    expect((await tagged('VIP')).pagination.total).toBe(0);
    // Written anew after it was removed.
    expect(await patch(id, ['vip'])).toEqual(['vip']);
    expect((await tagged('New')).pagination.total).toBe(0);
  });

  it('are counted once, also by a contact that goes', async () => {
    const a = await make('a', ['VIP']);
    await make('b', ['vip']);
    expect((await tagged('Vip')).pagination.total).toBe(2);
    await api.delete(`/v1/contacts/${a.id}`);
    expect((await tagged('VIP')).pagination.total).toBe(1);
    const { rows } = await sql`select tag, count from contact_counts
      where tag <> '' and count <> 0`.execute(test.app.store.db);
    expect(rows).toEqual([{ tag: 'vip', count: 1 }]);
  });

  it('are merged by an import', async () => {
    const { id } = await make('ada', ['VIP', 'Old']);
    const body = 'email,tags\nada@example.com,"vip,OLD,New,new"\nbob@example.com,"Vip,VIP"\n';
    for (const result of [
      { created: 1, updated: 1 },
      { created: 0, updated: 0, unchanged: 2 },
    ]) {
      const headers = { 'content-type': 'text/csv' };
      const answer = await api.request('POST', '/v1/contacts/import', { body, headers });
      expect(answer.body).toMatchObject(result);
    }
    const { body: ada } = await api.get<Contact>(`/v1/contacts/${id}`);
    expect(ada.tags).toEqual(['VIP', 'Old', 'New']);
    const { items } = await tagged('vip');
    expect(items).toMatchObject([{ tags: ['Vip'] }, { tags: ['VIP', 'Old', 'New'] }]);
  });

  it('find members of groups by query', async () => {
    for (const other of others) await make(`o${others.indexOf(other)}`, [other]);
    const ids = new Map<string, string>();
    for (const [index, [written]] of pairs.entries()) {
      const { id } = await make(`c${index}`, ['First', written, 'last']);
      ids.set(written, id);
    }
    const group = async (query: object) => {
      const made = await api.post<{ id: string; query: object }>('/v1/contact-groups', {
        ...{ name: 'Found', query },
      });
      expect(made.body.query).toEqual(query);
      return list(`/v1/contact-groups/${made.body.id}/members`, 'limit=100');
    };
    for (const [written, asked] of pairs) {
      const found = await group({ tag: asked });
      const among = await group({ any: [{ tag: asked }, { status: 'bounced' }] });
      const both = await group({ all: [{ tag: asked }, { tag: 'FIRST' }] });
      for (const { items } of [found, among, both]) {
        expect([asked, items.map(({ id }) => id)]).toEqual([
          asked,
          expect.arrayContaining([ids.get(written)]),
        ]);
      }
      expect(found.pagination.total).toBe(among.pagination.total);
    }
    const rest = await group({ not: { tag: 'LAST' } });
    expect(rest.pagination.total).toBe(others.length);
  });

  it.each([
    ['each contact', {}],
    ['an index alone', { judgedEach: 0 }],
  ])('include and exclude in an estimate that judges %s', async (_, sizes) => {
    for (const other of others) await make(`o${others.indexOf(other)}`, [other]);
    for (const [written, asked] of pairs) {
      const { id } = await make(`c${pairs.findIndex(([one]) => one === written)}`, [
        written,
        'Both',
      ]);
      const question = (audience: object) => ({
        organizationId: test.caller.organizationId,
        unsubscribeGroupId: null,
        audience: {
          ...{ includeTags: [], excludeTags: [], contactIds: [], groupIds: [] },
          ...{ queries: [], at: test.app.clock.now(), ...audience },
        },
      });
      const count = (audience: object) => countFates(test.app.store, question(audience), sizes);
      const equal = pairs.filter(([one]) => foldCase(one) === foldCase(asked)).length;
      const own = await count({ includeTags: [asked, written, asked] });
      expect([asked, own.total >= 1, own.total <= equal]).toEqual([asked, true, true]);
      expect(await count({ contactIds: [id], excludeTags: [asked] })).toMatchObject({
        ...{ total: 1, dispatch: 0, skipped: { excluded: 1 } },
      });
      expect(await count({ includeTags: ['BOTH'], excludeTags: ['both'] })).toMatchObject({
        dispatch: 0,
      });
      expect(await count({ queries: [{ tag: asked }] })).toMatchObject({ total: own.total });
    }
  });

  it('include and exclude in the walk of a run', async () => {
    const { app, operator } = test;
    const ids: string[] = [];
    for (const [index, [written]] of pairs.entries())
      ids.push((await make(`c${index}`, [written])).id);
    const out = await make('out', ['VIP', 'No Mail']);
    const audience = { includeTags: pairs.map(([, asked]) => asked), excludeTags: ['NO MAIL'] };
    const campaign = await makeCampaign(app, operator, { audience });
    const run = await makeRun(app, operator, campaign);
    await whileWalking(app, (loop) => loop.idle());
    expect(await readRun(app, operator, run)).toMatchObject({
      ...{ status: 'completed', dispatchedCount: ids.length, skippedCount: 1 },
    });
    const ledger = await ledgerOf(app, run.id);
    expect(new Set(ledger.map((row) => row.contact_id))).toEqual(new Set([...ids, out.id]));
  });

  it('are refused as an audience that excludes all that it includes in another case', async () => {
    const campaign = (audience: object) =>
      api.post<{ id: string }>('/v1/campaigns', {
        ...{ name: 'News', channel: 'email', email: { subject: 'a', text: 'b' }, audience },
        transactional: true,
      });
    expect((await campaign({ includeTags: ['VIP'], excludeTags: ['vip'] })).status).toBe(422);
    const { body } = await campaign({ includeTags: ['VIP'] });
    const changed = await api.request('PATCH', `/v1/campaigns/${body.id}`, {
      body: { audience: { includeTags: ['VIP', 'Vip'], excludeTags: ['vip'] } },
    });
    expect(changed.status).toBe(422);
  });

  it('find conversations, which have each once', async () => {
    for (const [written, asked] of pairs) {
      const { body } = await api.post<Conversation>('/v1/conversations', {
        ...{ title: written, tags: [written, asked, 'Billing', 'BILLING'] },
      });
      expect(body.tags).toEqual([written, 'Billing']);
      for (const more of ['', '&status=active']) {
        const { items } = await list(
          '/v1/conversations',
          `tag=${encodeURIComponent(asked)}${more}`,
        );
        expect(items.map(({ id }) => id)).toContain(body.id);
      }
      const path = `/v1/conversations/${body.id}`;
      const added = await api.post<Conversation>(`${path}/tags`, { tags: ['billing', asked] });
      expect(added.body.tags).toEqual([written, 'Billing']);
      const changed = await api.request<Conversation>('PATCH', path, {
        body: { tags: [asked, asked] },
      });
      expect(changed.body.tags).toEqual([written]);
      const less = await api.request<Conversation>('DELETE', `${path}/tags`, {
        body: { tags: [asked] },
      });
      expect(less.body.tags).toEqual([]);
      const { items } = await list('/v1/conversations', `tag=${encodeURIComponent(written)}`);
      expect(items.map(({ id }) => id)).not.toContain(body.id);
    }
    expect((await list('/v1/conversations', 'tag=billing')).pagination.total).toBe(0);
  });

  it('find messages in any case of A to Z, and keep the writing', async () => {
    const { id, tags } = await send(api, payload({}, { tags: ['VIP', 'vip', 'Ärzte'] }));
    expect(tags).toEqual(['VIP', 'vip', 'Ärzte']);
    const surroundings = { isPressing: () => false, isWorking: () => false };
    await createSearchFiller(test.app, surroundings).fill();
    for (const tag of ['vip', 'VIP', 'Vip', 'Ärzte', 'ÄrZTe']) {
      const { items } = await list('/v1/messages', `tag=${encodeURIComponent(tag)}`);
      expect([tag, items.map((one) => one.id)]).toEqual([tag, [id]]);
    }
    await api.delete(`/v1/messages/${id}`);
    expect((await list('/v1/messages', 'tag=vip')).items).toEqual([]);
  });

  it('are published as first written', async () => {
    const { id } = await make('ada', ['VIP', 'vip']);
    await api.post(`/v1/contacts/${id}/tags`, { tags: ['vip', 'New'] });
    const { body } = await api.get<{ items: { type: string; data: { tags: string[] } }[] }>(
      `/v1/events?subject=${id}&order=asc`,
    );
    const tags = body.items.map(({ data }) => data.tags);
    expect(tags).toEqual([['VIP'], ['VIP', 'New']]);
  });
});
