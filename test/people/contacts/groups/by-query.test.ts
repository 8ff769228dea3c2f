// Groups by query, on both stores: their members as contacts change, and the refusals.
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { campaigns } from '../../../../src/campaigns/setup/queries.ts';
import { campaignNoun } from '../../../../src/campaigns/setup/schema.ts';
import type { Page } from '../../../../src/core/api/pagination.ts';
import type { ContactGroup } from '../../../../src/people/contacts/groups/schema.ts';
import type { Contact } from '../../../../src/people/contacts/schema.ts';
import { stores } from '../../../support/command.ts';
import { eachApi } from '../../../support/each-app.ts';
import { testStart } from '../../../support/test-app.ts';

const path = '/v1/contact-groups';
const dayMs = 86_400_000;
/** A name that would change the prototype of an object. */
const forbidden = '__proto__';
type Refusal = { message: string; resource: string; id: string; fields?: Record<string, string[]> };

describe.each(stores)('a group by query on %s', (store) => {
  const { test, api } = eachApi({ store });

  async function makeGroup(query: object): Promise<string> {
    const { status, body } = await api.post<ContactGroup>(path, { name: 'Found', query });
    expect(status).toBe(201);
    return body.id;
  }
  async function makeContact(fields: object = {}): Promise<string> {
    const { status, body } = await api.post<Contact>('/v1/contacts', { identities: [], ...fields });
    expect(status).toBe(201);
    return body.id;
  }
  async function membersOf(id: string, query = '') {
    const { body } = await api.get<Page<Contact>>(`${path}/${id}/members${query}`);
    return { ids: body.items.map((contact) => contact.id), total: body.pagination.total };
  }
  const foundBy = async (query: object) => (await membersOf(await makeGroup(query))).ids;

  it('has the contacts that match now, newest first', async () => {
    const group = await makeGroup({
      any: [{ tag: 'vip' }, { field: 'profile.company', is: 'Acme' }],
    });
    const a = await makeContact({ tags: ['vip'] });
    const b = await makeContact({ profile: { company: 'Acme' } });
    const c = await makeContact({ profile: { company: 'acme' } });
    expect(await membersOf(group)).toEqual({ ids: [b, a], total: 2 });
    await api.request('PATCH', `/v1/contacts/${c}`, { body: { tags: ['vip'] } });
    await api.request('PATCH', `/v1/contacts/${a}`, { body: { tags: [] } });
    expect(await membersOf(group, '?limit=1&page=1')).toEqual({ ids: [c], total: 2 });
    expect(await membersOf(group, '?limit=1&page=2')).toEqual({ ids: [b], total: 2 });
    await api.delete(`/v1/contacts/${b}`);
    expect(await membersOf(group)).toEqual({ ids: [c], total: 1 });
  });

  it('shows its query, and counts its members when it is shown alone', async () => {
    const query = { all: [{ tag: 'vip' }, { not: { status: 'archived' } }] };
    const id = await makeGroup(query);
    await makeContact({ tags: ['vip'] });
    await makeContact({ tags: ['vip'], status: 'archived' });
    const { body } = await api.get<ContactGroup>(`${path}/${id}`);
    expect(body).toMatchObject({ query, memberCount: 1 });
    const { body: listed } = await api.get<Page<ContactGroup>>(path);
    expect(listed.items).toMatchObject([{ id, query, memberCount: null }]);
  });

  it('follows a change of its query', async () => {
    const id = await makeGroup({ tag: 'a' });
    const contact = await makeContact({ tags: ['b'] });
    const { status, body } = await api.request<ContactGroup>('PATCH', `${path}/${id}`, {
      body: {
        query: { tag: 'b' },
      },
    });
    expect([status, body.query]).toEqual([200, { tag: 'b' }]);
    expect((await membersOf(id)).ids).toEqual([contact]);
  });

  it('takes and loses no members by hand', async () => {
    const id = await makeGroup({ tag: 'a' });
    const contactIds = [await makeContact()];
    for (const method of ['POST', 'DELETE'] as const) {
      const answer = await api.request<Refusal>(method, `${path}/${id}/members`, {
        body: { contactIds },
      });
      expect([answer.status, answer.body.resource]).toEqual([409, 'contact-group']);
      expect(answer.body.message).toContain('change the query');
    }
    expect((await membersOf(id)).ids).toEqual([]);
  });

  it('is not made of a group with members by hand', async () => {
    const { body } = await api.post<ContactGroup>(path, { name: 'Testers' });
    const answer = await api.request<Refusal>('PATCH', `${path}/${body.id}`, {
      body: { query: { tag: 'a' } },
    });
    expect([answer.status, answer.body.message]).toEqual([
      409,
      'This group has members by hand: create a group with the query',
    ]);
    expect((await api.get<ContactGroup>(`${path}/${body.id}`)).body.query).toBeNull();
  });

  it('names the place of a problem', async () => {
    const query = { all: [{ tag: 'a' }, { field: 'company', is: 'Acme' }] };
    const answer = await api.post<Refusal>(path, { name: 'Found', query });
    expect([answer.status, Object.keys(answer.body.fields ?? {})]).toEqual([
      422,
      ['query.all.1.field'],
    ]);
  });

  it('names an unknown campaign with 404', async () => {
    const campaignId = test.app.newId(campaignNoun);
    const query = { not: { opened: { campaignId, withinDays: 3 } } };
    const refusal = { resource: 'campaign', id: campaignId };
    const made = await api.post<Refusal>(path, { name: 'Found', query });
    expect([made.status, made.body]).toMatchObject([404, refusal]);
    const id = await makeGroup({ tag: 'a' });
    const changed = await api.request<Refusal>('PATCH', `${path}/${id}`, { body: { query } });
    expect([changed.status, changed.body]).toMatchObject([404, refusal]);
  });

  it('knows no campaign of another organization', async () => {
    const campaignId = await makeCampaign('org_other');
    const query = { opened: { campaignId, withinDays: 3 } };
    expect((await api.post(path, { name: 'Found', query })).status).toBe(404);
  });

  async function makeCampaign(organizationId = test.caller.organizationId): Promise<string> {
    const id = test.app.newId(campaignNoun);
    await test.app.store.write(async (trx) => {
      if (organizationId !== test.caller.organizationId) {
        const { rows } = await sql<Record<string, unknown>>`select * from organizations`.execute(
          trx,
        );
        const other = Object.entries({
          ...rows[0],
          id: organizationId,
          name: 'other',
          is_first: 0,
        });
        const columns = sql.join(other.map(([name]) => sql.ref(name)));
        await sql`insert into organizations (${columns}) values (${sql.join(
          other.map(([, value]) => value),
        )})`.execute(trx);
      }
      await campaigns.insert(trx, {
        ...{ id, organization_id: organizationId, name: 'News', channel: 'email' },
        ...{ transactional: 0, conversation_id: null, sender: null, metadata: null },
        ...{ audience: '{}', email: '{}', body: '{}', warnings: '[]' },
        ...{ created_at: 1, updated_at: 1 },
      });
    });
    return id;
  }

  it('finds contacts by their acts on the mail of a campaign', async () => {
    const campaignId = await makeCampaign();
    const [never, got, opened, clicked, failed, before] = [
      ...[await makeContact(), await makeContact(), await makeContact()],
      ...[await makeContact(), await makeContact(), await makeContact()],
    ];
    const [now, long] = [testStart - dayMs, testStart - 31 * dayMs];
    const ledger = [
      ['run_a', got, 'dispatched', now, null, null],
      ['run_a', opened, 'dispatched', long, now, null],
      ['run_b', clicked, 'dispatched', now, now, now],
      ['run_b', failed, 'failed', now, null, null],
      ['run_a', before, 'dispatched', long, long, long],
      ['run_of_another', never, 'dispatched', now, now, now],
    ] as const;
    await test.app.store.write(async (trx) => {
      for (const [run, campaign] of [
        ['run_a', campaignId],
        ['run_b', campaignId],
        ['run_of_another', 'camp_0'],
      ]) {
        await sql`insert into campaign_runs (id, organization_id, campaign_id, status, fingerprint, only_new,
            total_recipients, dispatched_count, failed_count, skipped_count, is_test, created_at, updated_at)
          values (${run}, ${test.caller.organizationId}, ${campaign}, 'completed', '', 0, 0, 0, 0, 0, 0, 1, 1)`.execute(
          trx,
        );
      }
      for (const [run, contact, outcome, at, openedAt, clickedAt] of ledger) {
        await sql`insert into campaign_recipients
          (run_id, contact_id, outcome, created_at, opened_at, clicked_at)
          values (${run}, ${contact}, ${outcome}, ${at}, ${openedAt}, ${clickedAt})`.execute(trx);
      }
    });
    const act = (way: string, withinDays = 30) => ({ [way]: { campaignId, withinDays } });
    expect(await foundBy(act('received'))).toEqual([clicked, got]);
    expect(await foundBy(act('opened'))).toEqual([clicked, opened]);
    expect(await foundBy(act('clicked'))).toEqual([clicked]);
    expect(await foundBy(act('clicked', 31))).toEqual([before, clicked]);
    expect(await foundBy({ all: [act('received'), { not: act('opened') }] })).toEqual([got]);
    const any = (way: string, withinDays = 30) => ({ [way]: { withinDays } });
    expect(await foundBy(any('received'))).toEqual([clicked, got, never]);
    expect(await foundBy(any('opened'))).toEqual([clicked, opened, never]);
    expect(await foundBy(any('clicked'))).toEqual([clicked, never]);
    expect(await foundBy(any('clicked', 31))).toEqual([before, clicked, never]);
    expect(await foundBy({ not: any('received', 3_650) })).toEqual([failed]);
  });

  it('compares addresses in any case', async () => {
    const ada = await makeContact({ identities: undefined, email: 'Ada@Example.com' });
    const bob = await makeContact({ identities: undefined, email: 'bob@example.com' });
    const [none, field] = [await makeContact(), 'email'];
    expect(await foundBy({ field, is: 'ADA@example.com' })).toEqual([ada]);
    expect(await foundBy({ field, isNot: 'ADA@example.com' })).toEqual([none, bob]);
    expect(await foundBy({ field, in: ['BOB@example.com', 'x@example.com'] })).toEqual([bob]);
    expect(await foundBy({ field, startsWith: 'AD' })).toEqual([ada]);
    expect(await foundBy({ field, startsWith: 'da' })).toEqual([]);
    expect(await foundBy({ field, contains: '@EXAMPLE' })).toEqual([bob, ada]);
    expect(await foundBy({ field, exists: true })).toEqual([bob, ada]);
    expect(await foundBy({ field, exists: false })).toEqual([none]);
  });

  it('finds contacts that were made or changed before or after a day', async () => {
    const [made, changed] = [await makeContact(), await makeContact()];
    await test.app.store.write(async (trx) => {
      const days = [Date.parse('2026-04-30T23:59:59.999Z'), Date.parse('2026-05-01')];
      await sql`update contacts set created_at = ${days[0]}, updated_at = ${days[0]}`.execute(trx);
      await sql`update contacts set updated_at = ${days[1]} where id = ${changed}`.execute(trx);
    });
    const found = (field: string, comparison: object) => foundBy({ field, ...comparison });
    expect(await found('createdAt', { after: '2026-04-29' })).toEqual([changed, made]);
    expect(await found('createdAt', { after: '2026-04-30' })).toEqual([]);
    expect(await found('createdAt', { before: '2026-04-30' })).toEqual([]);
    expect(await found('updatedAt', { after: '2026-04-30' })).toEqual([changed]);
    expect(await found('updatedAt', { before: '2026-05-01' })).toEqual([made]);
  });

  it('compares the language, and reads no other preference', async () => {
    const speaks = (language: string) => makeContact({ preferences: { language } });
    const [de, en] = [await speaks('de-AT'), await speaks('en')];
    const zone = await makeContact({ preferences: { timezone: 'de-AT' } });
    const field = 'preferences.language';
    expect(await foundBy({ field, is: 'en' })).toEqual([en]);
    expect(await foundBy({ field, startsWith: 'DE' })).toEqual([de]);
    expect(await foundBy({ field, in: ['fr', 'en', 'de-AT'] })).toEqual([en, de]);
    expect(await foundBy({ field, isNot: 'en' })).toEqual([zone, de]);
    expect(await foundBy({ field, exists: true })).toEqual([en, de]);
  });

  it('finds dates before and after a day', async () => {
    const born = (day: string) => makeContact({ profile: { customFields: { born: day } } });
    const [a, b, c] = [
      await born('1999-12-31'),
      await born('2000-01-01T10:00:00Z'),
      await born('2000-01-02'),
    ];
    await born('unknown');
    await born('');
    await born('0-1-1');
    await makeContact();
    const field = 'profile.customFields.born';
    expect(await foundBy({ field, before: '2000-01-01' })).toEqual([a]);
    expect(await foundBy({ field, after: '2000-01-01' })).toEqual([c]);
    expect(
      await foundBy({
        not: {
          any: [
            { field, after: '2000-01-01' },
            { field, before: '2000-01-01' },
          ],
        },
      }),
    ).toContain(b);
  });

  it('knows no custom field with a name that JSON parsers must refuse', async () => {
    const profile = { customFields: { [forbidden]: 'x' } };
    const email = 'a@example.com';
    expect(await api.post('/v1/contacts', { email, profile })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('forbidden') },
    });
  });

  it('finds any name and value of a custom field, and only these', async () => {
    const texts = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
      .filter((text) => !text.includes('\0') && text.isWellFormed() && text !== forbidden);
    const odd = fc.constantFrom(
      '%',
      '_',
      "'",
      '"',
      '\\',
      '$',
      '[0]',
      '$.a',
      'a.b',
      "' or 1=1 --",
      '*',
      '\n',
      'Ä',
      'ÄB',
      '{"a":"b"}',
      '{a}',
    );
    const one = fc.oneof(texts, odd);
    await fc.assert(
      fc.asyncProperty(one, one, one, async (name, value, other) => {
        const id = await makeContact({ profile: { customFields: { [name]: value } } });
        const field = `profile.customFields.${name}`;
        const lower = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
        const [low, lowOther] = [lower(value), lower(other)];
        const truths: [object, boolean][] = [
          [{ field, is: value }, true],
          [{ field, exists: true }, true],
          [{ field, is: other }, value === other],
          [{ field, isNot: other }, value !== other],
          [{ field, in: [other, `${value}!`] }, value === other],
          [{ field, contains: other }, low.includes(lowOther)],
          [{ field, startsWith: other }, low.startsWith(lowOther)],
          [{ field: `profile.customFields.${other}`, exists: true }, name === other],
        ];
        const all = truths.map(([query, isTrue]) => (isTrue ? query : { not: query }));
        expect(await foundBy({ all })).toContain(id);
        await api.delete(`/v1/contacts/${id}`);
      }),
      { numRuns: store === 'sqlite' ? 40 : 20 },
    );
  });

  it('has no contact of another organization', async () => {
    await makeCampaign('org_other');
    await test.app.store.write((trx) =>
      sql`insert into contacts (id, organization_id, is_archived, tags, created_at, updated_at)
        values ('contact_other', 'org_other', 0, '["vip"]', 1, 1)`.execute(trx),
    );
    expect(await foundBy({ not: { tag: 'a' } })).toEqual([]);
  });
});
