// Results of `q` for frequent words, on both stores: all matches of rare words, the newest of
// frequent ones.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { listContacts } from '../../../src/people/contacts/contacts.ts';
import { listContactsQuery } from '../../../src/people/contacts/schema.ts';
import { bothStores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const people = 12_000;
/** Number of matches that a search reads. */
const most = 5_000;

/**
 * Leaves outdated statistics, as PostgreSQL has them after a large import: one contact with all
 * addresses, and no words or tags.
 */
async function misleadPlanner(app: App, organizationId: string): Promise<void> {
  await app.store.write(async (trx) => {
    await sql`insert into contacts (id, organization_id, name, is_archived, tags, created_at, updated_at)
      values ('contact_0', ${organizationId}, 'Ada', 0, '[]', 1, 1)`.execute(trx);
    await sql`insert into contact_identities
        (organization_id, folded_identifier, id, contact_id, position, identifier)
      select ${organizationId}, 'u' || i, 'idn_' || i, 'contact_0', 0, 'u' || i
      from generate_series(1, 100) i`.execute(trx);
    await sql`analyze contacts, contact_identities`.execute(trx);
    await sql`delete from contact_identities`.execute(trx);
    await sql`delete from contacts`.execute(trx);
  });
  await sql`analyze contact_words, contact_tags, contacts, contact_identities`.execute(
    app.store.db,
  );
}

/**
 * Adds contacts numbered from 1, the oldest: each an Ada, every second a Lovelace, every thousandth
 * rare.
 */
async function fill({ app, caller: { organizationId } }: TestApp): Promise<void> {
  const numbers =
    app.store.kind === 'postgres'
      ? sql`generate_series(1, ${sql.lit(people)}) i`
      : sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${people})
          select i from n) n`;
  const padded =
    app.store.kind === 'postgres' ? sql`lpad(i::text, 6, '0')` : sql`printf('%06d', i)`;
  const id = sql`'contact_000000000000000000' || ${padded}`;
  const surname = sql`case when i % 1000 = 0 then 'Rareman' when i % 2 = 0 then 'Lovelace'
    else 'Hopper' end`;
  const address = sql`case when i = 3 then 'ada@first.example' else 'u' || i || '@example.com' end`;
  if (app.store.kind === 'postgres') await misleadPlanner(app, organizationId);
  await app.store.write(async (trx) => {
    await sql`insert into contacts (id, organization_id, name, is_archived, tags, created_at, updated_at)
      select ${id}, ${organizationId}, 'Ada ' || ${surname}, 0, '[]', i, i from ${numbers}`.execute(
      trx,
    );
    await sql`insert into contact_identities
        (organization_id, folded_identifier, id, contact_id, position, identifier)
      select ${organizationId}, ${address}, 'idn_' || i, ${id}, 0, ${address} from ${numbers}`.execute(
      trx,
    );
    await sql`insert into contact_words (organization_id, word, contact_id)
      select ${organizationId}, 'ada', ${id} from ${numbers}
      union all select ${organizationId}, lower(${surname}), ${id} from ${numbers}`.execute(trx);
    await sql`insert into contact_tags (organization_id, tag, contact_id)
      select ${organizationId}, 'early', ${id} from ${numbers} where i <= 100`.execute(trx);
  });
}

describe.each(bothStores)('a search among many contacts on %s', (store) => {
  let test: TestApp;
  beforeAll(async () => {
    test = await testApp({ store });
    await fill(test);
  });
  afterAll(() => test.close());

  /** Returns the numbers of the contacts on a page, and the total. */
  async function found(query: object) {
    const { app, caller } = test;
    const { items, pagination } = await listContacts(app, caller, listContactsQuery.parse(query));
    return { numbers: items.map(({ id }) => Number(id.slice(-6))), total: pagination.total };
  }

  it('reads only the newest matches of frequent words', async () => {
    const one = await found({ q: 'ad', limit: 3 });
    // Includes the contact with a matching address.
    expect(one).toEqual({ numbers: [12_000, 11_999, 11_998], total: most + 1 });
    // Whole words: the newest of the longer one. Prefixes: the newest of all, of which half have
    // both.
    const two = await found({ q: 'ada lovelace', limit: 3 });
    expect(two).toEqual({ numbers: [11_998, 11_996, 11_994], total: most });
    const begun = await found({ q: 'ad lov', limit: 3, page: 2 });
    expect(begun).toEqual({ numbers: [11_992, 11_990, 11_988], total: most / 2 - 5 });
    const last = await found({ q: 'ad lov', limit: 100, page: 25 });
    expect(last.numbers.at(-1)).toBe(people - most + 2);
    // A plan that trusts the statistics takes a minute.
  }, 15_000);

  it('finds all matches of a rare word and of a rare address, however old', async () => {
    const rare = Array.from({ length: 12 }, (_, i) => (12 - i) * 1_000);
    expect(await found({ q: 'ada rare' })).toEqual({ numbers: rare, total: 12 });
    expect(await found({ q: 'lovelace rareman' })).toEqual({ numbers: [], total: 0 });
    const address = await found({ q: 'ada', limit: 1, page: most + 1 });
    expect(address).toEqual({ numbers: [3], total: most + 1 });
  });

  it('combines frequent words with another filter, and checks it for rare words', async () => {
    expect((await found({ q: 'ada lovelace', tag: 'early', limit: 100 })).numbers).toHaveLength(50);
    const since = new Date(4_500).toISOString();
    expect(await found({ q: 'rareman', updatedSince: since })).toEqual({
      numbers: [12_000, 11_000, 10_000, 9_000, 8_000, 7_000, 6_000, 5_000],
      total: 8,
    });
    const email = 'u1000@example.com';
    expect(await found({ q: 'ada rareman', email })).toEqual({ numbers: [1_000], total: 1 });
    expect(await found({ q: 'ada hopper', email })).toEqual({ numbers: [], total: 0 });
  });
});
