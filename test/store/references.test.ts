// A row that is deleted is looked for in every table that refers to its own: by an index, or the deletion
// takes as long as the table is large. Asked of the definitions, for all references there are.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import { repository } from '../support/cli.ts';
import { emptyTestApp, stores } from '../support/test-app.ts';

/** Nothing is ever deleted from these. */
const keptForGood = ['organizations', 'mailboxes', 'mailbox_namespaces'];

interface Reference {
  child: string;
  column: string;
  parent: string;
  isIndexed: boolean;
}

async function sqliteReferences({ store }: App): Promise<Reference[]> {
  const { rows } = await sql<Reference>`
    select child.name as child, reference."from" as "column", reference."table" as parent,
      exists (select 1 from pragma_index_list(child.name) indexes
        join pragma_index_info(indexes.name) part
        where part.seqno = 0 and part.name = reference."from" and indexes.partial = 0) as "isIndexed"
    from sqlite_schema child join pragma_foreign_key_list(child.name) reference
    where child.type = 'table'`.execute(store.db);
  return rows.map((row) => ({ ...row, isIndexed: Boolean(row.isIndexed) }));
}

async function postgresReferences({ store }: App): Promise<Reference[]> {
  const { rows } = await sql<Reference>`
    select conrelid::regclass::text as child, attname as "column",
      confrelid::regclass::text as parent,
      exists (select 1 from pg_index where indrelid = conrelid and indkey[0] = conkey[1]
        and indpred is null) as "isIndexed"
    from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
    where contype = 'f' and connamespace = current_schema::regnamespace`.execute(store.db);
  return rows;
}

describe.each(stores)('references on %s', (store) => {
  it('are found by an index, where what they refer to can be deleted', async () => {
    const { app, close } = await emptyTestApp({ store });
    try {
      const read = store === 'sqlite' ? sqliteReferences : postgresReferences;
      const references = await read(app);
      const named = references.map(({ child, column }) => `${child}.${column}`);
      expect(named).toEqual(
        expect.arrayContaining(['deliveries.message_id', 'recipients.message_id']),
      );
      const searched = references.filter(
        ({ parent, isIndexed }) => !(isIndexed || keptForGood.includes(parent)),
      );
      expect(searched).toEqual([]);
    } finally {
      await close();
    }
  });
});

it('no statement deletes from the tables that are kept for good', () => {
  const files = readdirSync(join(repository, 'src'), { recursive: true, encoding: 'utf8' });
  const deletions = files
    .filter((path) => path.endsWith('queries.ts'))
    .flatMap((path) => [
      ...readFileSync(join(repository, 'src', path), 'utf8').matchAll(
        /deleteFrom\('(\w+)'\)|delete from (\w+)/g,
      ),
    ])
    .map(([, built, written]) => built ?? written);
  expect(deletions).toContain('messages');
  expect(deletions.filter((table) => keptForGood.includes(table ?? ''))).toEqual([]);
});
