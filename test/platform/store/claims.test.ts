// Each index over a name has a row in docs/making/claims.md, and each claim there an end, a
// successor and a test. So a new claim without a row is found here.
import { globSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Db } from '../../../src/platform/store/db.ts';
import { codeSpans, readMarkdown, section, tableRows } from '../../docs/markdown.ts';
import { read } from '../../docs/write.ts';
import { repository } from '../../support/cli.ts';
import { type EmptyTestApp, emptyTestApp } from '../../support/test-app.ts';

const page = readMarkdown('docs/making/claims.md');
const rowsBelow = (heading: string) => tableRows(section(page, heading));
const claims = rowsBelow('Claims').map(([claim = '']) => claim);
const tests = new Map(rowsBelow('Tests').map(([claim = '', test = '']) => [claim, test]));
const indexes = rowsBelow('Indexes');
const listed = codeSpans(indexes.map(([index = '']) => index));

/** The text of all tests but this one. */
const written = globSync('test/**/*.test.ts', { cwd: repository })
  .filter((file) => !file.endsWith('store/claims.test.ts'))
  .map(read);

interface IndexColumn {
  index: string;
  isUnique: number;
  table: string;
  column: string;
  type: string;
}

/** Reads the columns of all indexes, in order, without the tables of full-text search. */
async function indexColumns(db: Db): Promise<IndexColumn[]> {
  const { rows } = await sql<IndexColumn>`
    select own.name as "index", own."unique" as "isUnique", owner.name as "table",
      part.name as "column", lower(field.type) as type
    from sqlite_schema owner join pragma_index_list(owner.name) own
      join pragma_index_info(own.name) part
      join pragma_table_info(owner.name) field on field.name = part.name
    where owner.type = 'table' and owner.name not like 'thread_search_words%'
    order by own.name, part.seqno`.execute(db);
  return rows;
}

const isName = ({ column, type }: IndexColumn) => type === 'text' && !/(^|_)id$/.test(column);

/** Returns the indexes that compare names: unique ones, and look-ups that begin with a name. */
async function indexesOfNames(db: Db): Promise<string[]> {
  const indexes = Map.groupBy(await indexColumns(db), ({ index }) => index);
  return [...indexes.values()].flatMap((columns) => {
    const [first] = columns;
    if (!first) return [];
    const compares = first.isUnique === 1 ? columns.some(isName) : isName(first);
    const names = columns.map(({ column }) => column).join(', ');
    return compares ? `${first.table} (${names})` : [];
  });
}

describe('the claims on names', () => {
  let empty: EmptyTestApp;
  beforeAll(async () => {
    empty = await emptyTestApp();
  });
  afterAll(() => empty.close());

  it('have a row for each index over a name', async () => {
    const found = await indexesOfNames(empty.app.store.db);
    expect(found.length).toBeGreaterThan(50);
    expect(found.filter((index) => !listed.includes(index))).toEqual([]);
  });

  it('list no index that is gone', async () => {
    const all = Map.groupBy(await indexColumns(empty.app.store.db), ({ index }) => index);
    const known = [...all.values()].map((columns) => {
      return `${columns[0]?.table} (${columns.map(({ column }) => column).join(', ')})`;
    });
    expect(listed.filter((index) => !known.includes(index))).toEqual([]);
  });

  it('include a planted one', async () => {
    const { store } = empty.app;
    const planted = sql`create table planted (id text primary key, nickname text not null unique)`;
    await store.write((trx) => planted.execute(trx));
    expect(await indexesOfNames(store.db)).toContain('planted (nickname)');
    await store.write((trx) => sql`drop table planted`.execute(trx));
  });

  it('have a test each', () => {
    expect([...tests.keys()]).toEqual(claims);
    const isWritten = (title: string) => written.some((text) => text.includes(`'${title}'`));
    expect([...tests.values()].filter((title) => !isWritten(title))).toEqual([]);
  });

  it('have an index each', () => {
    const compared = new Set(indexes.flatMap(([, compares = '']) => compares.split('; ')));
    expect(claims.filter((claim) => !compared.has(claim))).toEqual([]);
  });
});
