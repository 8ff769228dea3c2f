// Importing contacts over HTTP, on both stores: created and changed contacts, rejected rows, and
// the same file again, which changes nothing. The exports of other services:
// contact-formats.test.ts.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import type { CreateKey } from '../../../src/access/keys/schema.ts';
import type { Page } from '../../../src/core/api/pagination.ts';
import type { Block } from '../../../src/people/blocks/schema.ts';
import type { Contact, ImportReport } from '../../../src/people/contacts/schema.ts';
import { importContacts } from '../../../src/people/imports/contacts.ts';
import { otherOrganization } from '../../outbound/messages/fixtures.ts';
import { bothStores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { pieces } from './support.ts';

const path = '/v1/contacts';
const csv = { 'content-type': 'text/csv' };
const ndjson = { 'content-type': 'application/x-ndjson' };

type Refusal = { _tag: string; message: string };

describe.each(bothStores)('an import of contacts on %s', (store) => {
  const { test, api } = eachApi({ store });

  async function take(body: string, headers = csv, query = ''): Promise<ImportReport> {
    const answer = await api.request<ImportReport>('POST', `${path}/import${query}`, {
      body,
      headers,
    });
    expect([answer.status, answer.body]).toEqual([200, answer.body]);
    return answer.body;
  }
  const counts = ({ created, updated, unchanged, rejected }: ImportReport) => [
    created,
    updated,
    unchanged,
    rejected,
  ];
  async function one(query: string): Promise<Contact> {
    const { body } = await api.get<Page<Contact>>(`${path}?${query}`);
    expect(body.items).toHaveLength(1);
    return body.items[0] as Contact;
  }
  /** Reads all stored data of contacts, except times of change. */
  async function everything() {
    const found: unknown[] = [];
    for (const name of ['contacts', 'contact_identities', 'contact_tags', 'contact_words']) {
      const { rows } = await sql<object>`select * from ${sql.table(name)}`.execute(
        test.app.store.db,
      );
      found.push(rows.map((row) => JSON.stringify(row)).sort());
    }
    const { rows } = await sql`select * from contact_counts where count <> 0
      order by tag`.execute(test.app.store.db);
    return [...found, rows];
  }

  it('creates contacts with the fields of all columns', async () => {
    const file = [
      'Email Address;First name;Last name;externalId;Company;City;Tags;Shoe size;Language',
      'Ada@example.com;Ada;Lovelace;crm-1;Engines;London;"vip,early";38;en',
      'bob@example.com;;;;;;;;',
    ].join('\r\n');
    expect(await take(file)).toEqual({
      format: 'plain',
      encoding: 'utf-8',
      map: {
        ...{ 'Email Address': 'email', 'First name': 'firstName', 'Last name': 'lastName' },
        ...{ externalId: 'externalId', Company: 'company', City: 'city', Tags: 'tags' },
        ...{ 'Shoe size': 'custom', Language: 'language' },
      },
      dryRun: false,
      created: 2,
      updated: 0,
      unchanged: 0,
      rejected: 0,
      rows: [],
    });
    expect(await one('email=ada@example.com')).toMatchObject({
      name: 'Ada Lovelace',
      externalId: 'crm-1',
      status: 'active',
      identities: [{ identifier: 'Ada@example.com', verified: false }],
      profile: {
        firstName: 'Ada',
        lastName: 'Lovelace',
        company: 'Engines',
        location: { city: 'London', country: null },
        customFields: { 'Shoe size': '38' },
      },
      preferences: { language: 'en' },
      tags: ['vip', 'early'],
    });
    expect((await one('q=lovel')).externalId).toBe('crm-1');
    expect((await one('tag=vip')).externalId).toBe('crm-1');
    expect(await one('email=bob@example.com')).toMatchObject({ name: null, tags: [] });
    const { body } = await api.get<Page<Contact>>(path);
    expect(body.pagination.total).toBe(2);
  });

  it('changes only the fields in a row, by address or external id', async () => {
    const first = 'email,externalId,name,city,tags\na@example.com,x1,Ada,London,t1\n';
    await take(first);
    const before = await one('externalId=x1');
    await test.clock.advance(1_000);
    const again = await everything();
    expect(counts(await take(first))).toEqual([0, 0, 1, 0]);
    expect(await everything()).toEqual(again);
    const changes = [
      'email,externalId,name,city,country,tags',
      'A@EXAMPLE.com,,Ada L.,,UK,t2',
      'a2@example.com,x1,,Paris,,',
    ].join('\n');
    expect(counts(await take(changes))).toEqual([0, 2, 0, 0]);
    const after = await one('externalId=x1');
    expect(after).toEqual({
      ...before,
      name: 'Ada L.',
      tags: ['t1', 't2'],
      profile: {
        ...before.profile,
        location: { ...before.profile.location, city: 'Paris', country: 'UK' },
      },
      identities: [
        { ...before.identities[0], id: after.identities[0]?.id, identifier: 'a2@example.com' },
        before.identities[0],
      ],
      updatedAt: '2026-01-05T12:00:01.000Z',
    });
    expect((await one('q=ada l')).id).toBe(before.id);
    expect(counts(await take(changes))).toEqual([0, 0, 2, 0]);
  });

  it('reads each line of JSON Lines, and reports rejected ones by line and row', async () => {
    const lines = [
      JSON.stringify({ email: 'a@example.com', firstName: 'Ada', tags: ['x', 'y'], age: 36 }),
      'not json',
      '',
      JSON.stringify({ email: 'nobody', name: 'B' }),
      JSON.stringify({ email: 'c@example.com', name: 'C\u0000' }),
      JSON.stringify({ name: 'Nobody' }),
      JSON.stringify({ externalId: 'only-id', name: 'D' }),
    ].join('\n');
    const report = await take(lines, ndjson);
    expect(counts(report)).toEqual([2, 0, 0, 4]);
    expect(report.rows).toEqual([
      { row: 2, line: 2, field: null, reason: 'is not a JSON object' },
      { row: 3, line: 4, field: 'email', reason: expect.any(String) },
      { row: 4, line: 5, field: 'name', reason: expect.stringContaining('control characters') },
      { row: 5, line: 6, field: 'email', reason: 'email or externalId is required' },
    ]);
    expect((await one('email=a@example.com')).profile.customFields).toEqual({ age: '36' });
    expect((await one('externalId=only-id')).identities).toEqual([]);
  });

  it.each(['', '?dryRun=true'])(
    'answers 403 for a row that blocks its address when the key lacks blocks:write%s',
    async (query) => {
      const input = { permissions: { contacts: ['read', 'write'] } } satisfies CreateKey;
      const { key } = await createKey(test.app, test.operator, input);
      const body = 'email,unsubscribed\nada@example.com,no\nbob@example.com,yes';
      const answer = await api.request<Refusal>('POST', `${path}/import${query}`, {
        ...{ body, headers: csv },
        ...{ apiKey: key ?? '' },
      });
      expect([answer.status, answer.body.message]).toEqual([
        403,
        expect.stringMatching(/blocks:write, which line 3 needs/),
      ]);
      const blocks = await sql`select address from blocks`.execute(test.app.store.db);
      expect(blocks.rows).toEqual([]);
    },
  );

  it('accepts rows without a block from a key without blocks:write', async () => {
    const input = { permissions: { contacts: ['read', 'write'] } } satisfies CreateKey;
    const { key } = await createKey(test.app, test.operator, input);
    const answer = await api.request<ImportReport>('POST', `${path}/import`, {
      ...{ body: 'email,unsubscribed\nada@example.com,no', headers: csv },
      ...{ apiKey: key ?? '' },
    });
    expect([answer.status, answer.body.created]).toEqual([200, 1]);
  });

  it('rejects a row that names two contacts, also within one file', async () => {
    const file = [
      'email,externalId',
      'a@example.com,x1',
      'b@example.com,x2',
      'a@example.com,x2',
      'a@example.com,x3',
    ].join('\n');
    const report = await take(file);
    expect(counts(report)).toEqual([2, 0, 0, 2]);
    expect(report.rows.map(({ row, field }) => [row, field])).toEqual([
      [3, 'externalId'],
      [4, 'externalId'],
    ]);
    expect(report.rows[1]?.reason).toContain((await one('externalId=x1')).id);
  });

  it.each([
    ['a tag too long', 'tags', 'x'.repeat(101)],
    ['a line break in a name', 'name', '"A\nBcc: x@y.z"'],
    ['a name too long', 'name', 'x'.repeat(201)],
    ['an unknown status', 'status', 'gold'],
    ['an unclear flag', 'unsubscribed', 'perhaps'],
    ['malformed metadata', 'metadata', '{'],
  ])('rejects %s, and names the field', async (_case, field, value) => {
    const { rows, ...report } = await take(`email,${field}\na@example.com,${value}\n`);
    expect([report.created, report.rejected]).toEqual([0, 1]);
    expect(rows).toMatchObject([{ row: 1, field: expect.stringContaining(field) }]);
  });

  it('blocks unsubscribed and bounced contacts, and never lifts a block', async () => {
    const file = [
      'email,status',
      'a@example.com,Unsubscribed',
      'b@example.com,bounced',
      'c@example.com,active',
      'd@example.com,archived',
    ].join('\n');
    await api.post('/v1/email/blocks', { address: 'c@example.com', reason: 'unsubscribe' });
    expect(counts(await take(file))).toEqual([4, 0, 0, 0]);
    const statuses = ['a', 'b', 'c', 'd'].map(async (name) => {
      const { status } = await one(`email=${name}@example.com`);
      return status;
    });
    expect(await Promise.all(statuses)).toEqual([
      'unsubscribed',
      'bounced',
      'unsubscribed',
      'archived',
    ]);
    const { body } = await api.get<Page<Block>>('/v1/email/blocks');
    expect(body.pagination.total).toBe(3);
    expect(counts(await take(file))).toEqual([0, 0, 4, 0]);
    // An existing contact that unsubscribes now.
    expect(counts(await take('email,unsubscribed\nd@example.com,true\n'))).toEqual([0, 1, 0, 0]);
    expect(counts(await take('email,unsubscribed\nd@example.com,true\n'))).toEqual([0, 0, 1, 0]);
  });

  it('counts one change for an address that its first row blocks', async () => {
    await take('email\nd@example.com\n');
    const file = 'email,unsubscribed\nd@example.com,true\nD@example.com,true\n';
    expect(counts(await take(file))).toEqual([0, 1, 1, 0]);
  });

  it('applies the last row of a contact over the others, under any of its addresses', async () => {
    await take('email,otherEmails\nz@example.com,a@example.com\n');
    // Enough rows that they are not written in the order of the file.
    const others = Array.from({ length: 700 }, (_, i) => `u${i}@example.com,U`);
    await take(['email,name', 'z@example.com,First', ...others, 'a@example.com,Last'].join('\n'));
    expect(await one('email=z@example.com')).toMatchObject({ name: 'Last' });
    await take(['email,name', 'a@example.com,First', ...others, 'z@example.com,Last'].join('\n'));
    expect(await one('email=z@example.com')).toMatchObject({ name: 'Last' });
  });

  /** Builds a file of many batches, with repeats and existing contacts. */
  const many = (size: number) =>
    [
      'email,externalId,name,tags,status',
      ...Array.from({ length: size }, (_, i) =>
        [
          i % 50 === 7 ? 'nobody' : `u${i % (size - 40)}@example.com`,
          (i % (size - 40)) % 3 ? '' : `x${i % (size - 40)}`,
          i > size - 20 ? `Later ${i}` : `Name ${i % (size - 40)}`,
          `t${(i % (size - 40)) % 4}`,
          (i % (size - 40)) % 100 === 3 ? 'unsubscribed' : '',
        ].join(','),
      ),
    ].join('\n');

  it('counts the same in a dry run, which changes nothing', async () => {
    await take('email,name\nu3@example.com,There\nu4@example.com,Name 4\n');
    const before = await everything();
    const dry = await take(many(1_700), csv, '?dryRun=true');
    expect(await everything()).toEqual(before);
    const real = await take(many(1_700));
    expect({ ...dry, dryRun: false }).toEqual(real);
    expect(real.created).toBeGreaterThan(1_500);
    const after = await everything();
    const again = await take(many(1_700));
    expect([again.created, again.rejected]).toEqual([0, real.rejected]);
    expect((await everything())[1]).toEqual(after[1]);
  });

  it('writes one audit entry and one event, and none when nothing changed', async () => {
    const itemsAt = async (url: string) => (await api.get<{ items: object[] }>(url)).body.items;
    const file = many(1_200);
    const { format, created, updated, unchanged, rejected } = await take(file);
    const done = { format, created, updated, unchanged, rejected };
    const audit = await itemsAt('/v1/audit?action=contact.imported');
    expect(audit).toMatchObject([{ actor: { role: 'owner' }, details: done }]);
    expect(await itemsAt('/v1/events?type=contact.imported')).toMatchObject([{ data: done }]);
    expect(await itemsAt('/v1/events?type=contact.created')).toEqual([]);
    await take('email\nu1@example.com\n');
    await take(many(1_200), csv, '?dryRun=true');
    expect(await itemsAt('/v1/audit?action=contact.imported')).toHaveLength(1);
    expect(await itemsAt('/v1/events?type=contact.imported')).toHaveLength(1);
  });

  it('creates each contact once beside a concurrent import of the same contacts', async () => {
    const lines = Array.from({ length: 1_300 }, (_, i) => `u${i}@example.com,x${i},t${i % 5}`);
    const file = (rows: string[]) => ['email,externalId,tags', ...rows].join('\n');
    const reports = await Promise.all([take(file(lines)), take(file([...lines].reverse()))]);
    expect(reports.map(counts).reduce((sum, [created = 0]) => sum + created, 0)).toBe(1_300);
    expect(reports.every(({ rejected }) => rejected === 0)).toBe(true);
    const { body } = await api.get<Page<Contact>>(`${path}?tag=t1`);
    expect(body.pagination.total).toBe(260);
  });

  it('rejects rows that are longer than the header or not text, with their lines', async () => {
    const report = await take(
      'email,name,city\na@example.com,Doe, Jane,Paris\nb@example.com,J\uFFFDrgen,\nc@example.com,C\n',
    );
    expect(counts(report)).toEqual([1, 0, 0, 2]);
    expect(report.rows).toEqual([
      { row: 1, line: 2, field: null, reason: expect.stringContaining('has 4 values under 3') },
      { row: 2, line: 3, field: null, reason: expect.stringContaining('bytes that are not text') },
    ]);
  });

  it('lists at most 1,000 rejected rows', async () => {
    const report = await take(`email\n${'nobody\n'.repeat(1_500)}`);
    expect([report.rejected, report.rows.length]).toEqual([1_500, 1_000]);
  });

  it('stops at an unreadable row, names its line, and keeps the earlier batches', async () => {
    const lines = Array.from({ length: 700 }, (_, i) => `u${i}@example.com,N\n`).join('');
    const { status, body } = await api.request<Refusal>('POST', `${path}/import`, {
      body: `email,name\n${lines}v@example.com,"never closed\n`,
      headers: csv,
    });
    expect([status, body.message]).toEqual([
      422,
      expect.stringMatching(/^Line 702: a quotation mark is not closed\. 500 contacts before it/),
    ]);
    const { body: listed } = await api.get<Page<Contact>>(path);
    expect(listed.pagination.total).toBe(500);
  });

  it.each([
    ['a million columns', `email,${'c,'.repeat(1_000_000)}\n`, csv, 'Line 1'],
    ['501 columns', `email${',c'.repeat(500)}\n`, csv, '501 columns'],
    ['a line of JSON too long', `{"email":"a@b.c","n":"${'x'.repeat(70_000)}"}`, ndjson, 'longer'],
    ['a column twice', 'email,Plan,Plan\na@b.c,x,y\n', csv, 'column Plan twice (2 and 3)'],
    ['an empty file', '', csv, 'empty'],
    ['a file without addresses', 'name,city\nAda,London\n', csv, 'no column email or externalId'],
    ['a spreadsheet', 'PK\u0003\u0004\0\0', csv, 'NUL'],
    ['a JSON document', '[\n{"email":"a@b.c"}]', ndjson, 'JSON Lines'],
  ])('rejects %s as a whole', async (_case, body, headers, text) => {
    const answer = await api.request<Refusal>('POST', `${path}/import`, { body, headers });
    expect([answer.status, answer.body.message]).toEqual([422, expect.stringContaining(text)]);
  });

  it('changes nothing of another organization', async () => {
    const { caller } = await otherOrganization(test.app);
    const file = 'email,externalId\na@example.com,x1\n';
    const options = { dryRun: false };
    await importContacts(test.app, caller, pieces(file), options);
    expect(counts(await take(file))).toEqual([1, 0, 0, 0]);
    expect((await importContacts(test.app, caller, pieces(file), options)).unchanged).toBe(1);
  });
});
