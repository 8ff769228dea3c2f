// A deletion looks for its row in every table that refers to it: by an index, or in time
// proportional to the size of the table. Checked in the definitions, for all references.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { repository } from '../../support/cli.ts';
import { bothStores } from '../../support/command.ts';
import { emptyTestApp } from '../../support/test-app.ts';

/** Tables whose rows are never deleted: they are emptied at most. */
const keptForGood = ['organizations', 'mailboxes', 'mailbox_namespaces'];

/** References without an index, each with its reason. */
const exceptions: Readonly<Record<string, string>> = {
  'blobs.organization_id': 'no organization is deleted, and no list asks for it',
  'contents.organization_id': 'no organization is deleted, and no list asks for it',
  'git_objects.organization_id': 'no organization is deleted; objects are read by repository',
  'git_refs.organization_id': 'no organization is deleted; refs are read by repository',
  'inbound_reports.organization_id': 'no organization is deleted; rows are few',
  'template_workspaces.organization_id': 'no organization is deleted; one is read by template',
  'thread_notes.organization_id': 'no organization is deleted; notes are listed by thread',
  'threads.organization_id': 'no organization is deleted; threads are listed by mailbox',
  'warming_plans.organization_id': 'no organization is deleted; plans are listed by domain',
  'workspace_answers.organization_id': 'no organization is deleted; one is read by its key',
};

const byText = (a: string, b: string) => (a < b ? -1 : 1);

interface Reference {
  /** `table.column`. */
  name: string;
  parent: string;
  /** Predicates of the indexes that begin with the column; null: all rows. */
  predicates: (string | null)[];
}

/** Accepts a partial index that leaves out only rows without the reference. */
function isServed({ name, predicates }: Reference): boolean {
  const [, column] = name.split('.');
  const notNull = new RegExp(`^\\(*${column} is not null\\)*$`, 'i');
  return predicates.some((predicate) => predicate === null || notNull.test(predicate));
}

async function sqliteReferences({ store }: App): Promise<Reference[]> {
  const { rows } = await sql<{ child: string; column: string; parent: string }>`
    select child.name as child, reference."from" as "column", reference."table" as parent
    from sqlite_schema child join pragma_foreign_key_list(child.name) reference
    where child.type = 'table'`.execute(store.db);
  return Promise.all(
    rows.map(async ({ child, column, parent }) => {
      const { rows: indexes } = await sql<{ partial: number; sql: string | null }>`
        select own.partial, definition.sql from pragma_index_list(${child}) own
          join pragma_index_info(own.name) part
          left join sqlite_schema definition on definition.name = own.name
        where part.seqno = 0 and part.name = ${column}`.execute(store.db);
      const predicates = indexes.map(({ partial, sql: text }) =>
        partial ? (/ where (.*)$/is.exec(text ?? '')?.[1] ?? '').trim() : null,
      );
      return { name: `${child}.${column}`, parent, predicates };
    }),
  );
}

async function postgresReferences({ store }: App): Promise<Reference[]> {
  const { rows } = await sql<Reference>`
    select conrelid::regclass::text || '.' || attname as name, confrelid::regclass::text as parent,
      coalesce((select json_agg(pg_get_expr(indpred, indrelid)) from pg_index
        where indrelid = conrelid and indkey[0] = conkey[1]), '[]'::json) as predicates
    from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
    where contype = 'f' and connamespace = current_schema::regnamespace`.execute(store.db);
  return rows;
}

describe.each(bothStores)('references on %s', (store) => {
  it('have an index that begins with their column, or an exception', async () => {
    const { app, close } = await emptyTestApp({ store });
    try {
      const read = store === 'sqlite' ? sqliteReferences : postgresReferences;
      const references = await read(app);
      expect(references.map(({ name }) => name)).toContain('deliveries.message_id');
      const searched = references.filter((one) => !isServed(one));
      expect(searched.map(({ name }) => name).sort(byText)).toEqual(Object.keys(exceptions));
      expect(searched.filter(({ parent }) => !keptForGood.includes(parent))).toEqual([]);
    } finally {
      await close();
    }
  });
});

it('no statement deletes from the permanent tables', () => {
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
