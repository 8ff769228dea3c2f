// Contacts over HTTP as CSV and JSON Lines, on both stores, exported and imported again.
import { describe, expect, it } from 'vitest';
import type { Contact, ImportReport } from '../../../src/people/contacts/schema.ts';
import { importContacts } from '../../../src/people/imports/contacts.ts';
import { otherOrganization } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { httpApi } from '../../support/http-client.ts';
import { testApp } from '../../support/test-app.ts';
import { pieces } from '../imports/support.ts';

const path = '/v1/contacts';
const types = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

describe.each(stores)('an export of contacts on %s', (store) => {
  const { test, api } = eachApi({ store });

  const exported = (format: 'csv' | 'ndjson', from = api) =>
    from.get<string>(`${path}/export?format=${format}`);

  async function makeAll(): Promise<void> {
    const named = { name: '=cmd|x', tags: ['+a', 'b'], externalId: '@id' };
    const profile = {
      ...{ firstName: '-A', company: "'quoted'", location: { city: 'a,b"c' } },
      customFields: { size: '=1+1' },
    };
    await api.post(path, {
      identities: ['"a..b"@example.com', 'b@example.com'].map((identifier) => ({
        channel: 'email',
        identifier,
      })),
      ...named,
      profile,
      metadata: { n: 1, on: true },
      preferences: { language: 'de' },
    });
    for (const reason of ['bounce', 'complaint', 'unsubscribe', 'manual']) {
      await api.post(path, { email: `${reason}@example.com` });
      await api.post('/v1/email/blocks', { address: `${reason}@example.com`, reason });
    }
    const { body } = await api.post<Contact>(path, { email: 'archived@example.com' });
    await api.request('PATCH', `${path}/${body.id}`, { body: { status: 'archived' } });
    await api.post('/v1/email/blocks', { address: 'archived@example.com', reason: 'bounce' });
    const lines = Array.from({ length: 1_100 }, (_, i) => `u${i}@example.com,t${i % 3}\n`);
    const file = `email,tags\n${lines.join('')}`;
    await importContacts(test.app, test.caller, pieces(file), { dryRun: false });
  }

  /** Replaces ids and times, which differ by service. */
  const strip = (text: string) =>
    text
      .replace(/\b(contact|idn|blk)_[0-9a-z]+/g, '$1')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then')
      .split('\n')
      .sort();

  it.each(['csv', 'ndjson'] as const)(
    'restores every contact and block from %s',
    async (format) => {
      await makeAll();
      const { status, headers, body } = await exported(format);
      expect([status, headers['content-type']]).toEqual([200, `${types[format]}; charset=utf-8`]);
      const away = await testApp({ store, seed: 2 });
      const awayApi = httpApi(away);
      try {
        const take = () =>
          awayApi.request<ImportReport>('POST', `${path}/import`, {
            body,
            headers: { 'content-type': types[format] },
          });
        expect((await take()).body).toMatchObject({ format: 'svc', created: 1_106, rejected: 0 });
        expect((await take()).body).toMatchObject({ created: 0, updated: 0, unchanged: 1_106 });
        expect(strip((await exported(format, awayApi)).body)).toEqual(strip(body));
      } finally {
        await awayApi.close();
        await away.close();
      }
    },
  );

  it('contains no CSV cell that a spreadsheet would run', async () => {
    await makeAll();
    const { body } = await exported('csv');
    const [header = '', first = ''] = body.split('\n');
    expect(header.split(',').slice(0, 5)).toEqual([
      'id',
      'email',
      'otherEmails',
      'name',
      'displayName',
    ]);
    for (const cell of ["'=cmd|x", "'@id", "'-A", "''quoted'", "'+a,b"]) {
      expect(first).toContain(cell);
    }
    expect(body).not.toMatch(/(^|,)"?[=+\-@]/m);
  });

  it("has the API's objects as JSON Lines", async () => {
    const { body: made } = await api.post<Contact>(path, { email: 'ada@example.com', name: 'Ada' });
    const { body } = await exported('ndjson');
    expect(body.split('\n')).toEqual([JSON.stringify(made), '']);
  });

  it('contains no contact of another organization: a header alone when empty', async () => {
    const { caller } = await otherOrganization(test.app);
    const file = 'email\nada@example.com\n';
    await importContacts(test.app, caller, pieces(file), { dryRun: false });
    expect((await exported('csv')).body.split('\n')).toEqual([expect.stringMatching(/^id,/), '']);
    expect((await exported('ndjson')).body).toBe('');
    expect((await api.get(`${path}/export?format=xml`)).status).toBe(422);
  });
});
