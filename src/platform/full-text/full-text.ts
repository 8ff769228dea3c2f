// Full-text index on both engines: stores documents by key, and returns the keys that match a
// query. The tokenizer is our own (words.ts), so that both engines find the same documents. Only
// this file knows the tables and the query syntax of the engines; no text of a user reaches that
// syntax.
//
// engine     | documents                               | words
// -----------+-----------------------------------------+----------------------------------------------
// SQLite     | a row for each key, numbered            | FTS5 without contents, by that number
// PostgreSQL | a row for each key, with its `tsvector` | GIN index of the `tsvector`
//
// Each word begins with five characters of a hash of the scope. The word of a scope (such as a
// mailbox) is then found fast, even if many documents of further scopes contain the word. Two
// scopes may share the five characters: the caller must check the scope of each result.
import { hash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { amongOf, type Db, engineOf, type Untyped } from '../store/db.ts';
import { compiledOnce } from '../store/rows/statement.ts';
import { type DocumentWords, gap, placesOfWords } from './document.ts';
import type { FullTextQuery } from './query.ts';
import type { Phrase } from './words.ts';

/** A document for the index. `key` is unique over all scopes. */
export interface FullTextEntry {
  scope: string;
  key: string;
  words: DocumentWords;
}

/** A query for the documents of a scope. */
export interface FullTextQuestion {
  scope: string;
  query: FullTextQuery;
}

const scopeCharacters = 5;
/** Pages of the index that a call of `merge` writes, in about a millisecond. */
const mergedPages = 16;

function prefixOf(scope: string): string {
  const digest = hash('sha256', scope, 'buffer');
  return digest.readUIntBE(0, 6).toString(36).padStart(10, '0').slice(-scopeCharacters);
}

/**
 * Returns the words in order for FTS5, each after the prefix of the scope. A gap becomes the prefix
 * alone. No query contains the prefix alone, so no phrase spans the gap.
 */
function fts5Text({ scope, words }: FullTextEntry): string {
  return words.replaceAll(' ', ` ${prefixOf(scope)}`);
}

/**
 * Returns the words with their positions as text of a `tsvector`. Words contain no `'` and no `\`,
 * so they need no escaping.
 */
function tsvectorText({ scope, words }: FullTextEntry): string {
  const prefix = prefixOf(scope);
  const places = new Map<string, number[]>();
  for (const [index, word] of placesOfWords(words).entries()) {
    if (word === gap) continue;
    const at = places.get(word);
    if (at) at.push(index + 1);
    else places.set(word, [index + 1]);
  }
  return [...places].map(([word, at]) => `'${prefix}${word}':${at.join()}`).join(' ');
}

function fts5Query({ scope, query }: FullTextQuestion): string {
  const prefix = prefixOf(scope);
  const phrase = ({ words, isPrefix }: Phrase) =>
    `"${words.map((word) => prefix + word).join(' ')}"${isPrefix ? ' *' : ''}`;
  return query.map(phrase).join(' AND ');
}

function tsquery({ scope, query }: FullTextQuestion): string {
  const prefix = prefixOf(scope);
  const phrase = ({ words, isPrefix }: Phrase) => {
    const quoted = words.map((word) => `'${prefix}${word}'`).join(' <-> ');
    return `(${quoted}${isPrefix ? ':*' : ''})`;
  };
  return query.map(phrase).join(' & ');
}

class FullText {
  readonly #table: string;
  readonly #key: string;
  readonly #insertKeys;
  readonly #insertWords;
  readonly #insertVectors;

  constructor(table: string, key: string) {
    this.#table = table;
    this.#key = key;
    this.#insertKeys = compiledOnce<Untyped, [keys: string], { id: number; key: string }>(
      (db, keys) => {
        const column = sql.ref(key);
        // Because of the update, `returning` also yields existing rows.
        const insertion = sql<{
          id: number;
          key: string;
        }>`insert into ${sql.table(table)} (${column})
          select value from json_each(${keys}) where true
          on conflict (${column}) do update set ${column} = excluded.${column}
          returning id, ${column} as key`;
        return { compile: () => insertion.compile(db) };
      },
    );
    this.#insertWords = compiledOnce<Untyped, [id: number, words: string], unknown>(
      (db, rowid, words) => db.insertInto(wordsTable(table)).orReplace().values({ rowid, words }),
    );
    this.#insertVectors = compiledOnce<Untyped, [all: string], unknown>((db, all) => {
      const column = sql.ref(key);
      const insertion = sql`insert into ${sql.table(table)} (${column}, words)
        select value ->> 0, (value ->> 1)::tsvector
        from json_array_elements(${all}::json) as entry (value)
        on conflict (${column}) do update set words = excluded.words`;
      return { compile: () => insertion.compile(db) };
    });
  }

  /** Adds or replaces documents by key; of equal keys the last document counts. */
  async index(db: Db, entries: readonly FullTextEntry[]): Promise<void> {
    const byKey = new Map(entries.map((entry) => [entry.key, entry]));
    const sorted = [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    if (engineOf(db) === 'postgres') {
      const all = sorted.map((entry) => [entry.key, tsvectorText(entry)]);
      if (all.length > 0) await this.#insertVectors(db, [JSON.stringify(all)]);
      return;
    }
    if (sorted.length === 0) return;
    // Inserts all keys before the words: FTS5 flushes pending words before each statement that may
    // fail half-way.
    const keys = JSON.stringify(sorted.map(({ key }) => key));
    const { rows } = await this.#insertKeys(db, [keys]);
    const ids = new Map(rows.map(({ id, key }) => [key, id]));
    for (const entry of sorted) {
      await this.#insertWords(db, [ids.get(entry.key) ?? 0, fts5Text(entry)]);
    }
  }

  /** Removes documents by key. Not needed for rows that a cascade of a foreign key deletes. */
  async remove(db: Db, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await sql`delete from ${sql.table(this.#table)}
      where ${amongOf(db, this.#key, keys)}`.execute(db);
  }

  /**
   * Returns the keys of matching documents, unordered. If `limit` keys are returned, there may be
   * more.
   */
  async find(db: Db, question: FullTextQuestion, limit: number): Promise<string[]> {
    if (question.query.length === 0) return [];
    const [table, key] = [sql.table(this.#table), sql.ref(this.#key)];
    if (engineOf(db) === 'postgres') {
      return keysOf(
        db,
        sql`select ${key} as key from ${table}
          where words @@ ${tsquery(question)}::tsquery limit ${limit}`,
      );
    }
    const words = sql.table(wordsTable(this.#table));
    return keysOf(
      db,
      sql`select ${key} as key from ${words} cross join ${table} on id = ${words}.rowid
        where ${words} match ${fts5Query(question)} limit ${limit}`,
    );
  }

  /** Returns the keys among `keys` of documents that match. */
  async matching(
    db: Db,
    question: FullTextQuestion,
    keys: readonly string[],
  ): Promise<Set<string>> {
    if (question.query.length === 0 || keys.length === 0) return new Set();
    const [table, key] = [sql.table(this.#table), sql.ref(this.#key)];
    const these = amongOf(db, this.#key, keys);
    if (engineOf(db) === 'postgres') {
      // The `case` keeps the planner from reading all matches by the index.
      const asked = sql`case when words @@ ${tsquery(question)}::tsquery then 1 else 0 end = 1`;
      const found = await keysOf(
        db,
        sql`select ${key} as key from ${table} where ${these} and ${asked}`,
      );
      return new Set(found);
    }
    const words = sql.table(wordsTable(this.#table));
    const matches = sql`${words} match ${fts5Query(question)}`;
    // FTS5 collects all words with the prefix at each evaluation, so it is evaluated only once.
    const isGathered = question.query.some(({ isPrefix }) => isPrefix);
    const asked = isGathered
      ? sql`select ${key} as key from ${table}
          where ${these} and id in (select rowid from ${words} where ${matches})`
      : sql`select ${key} as key from ${table} cross join ${words} on ${words}.rowid = id
          where ${these} and ${matches}`;
    return new Set(await keysOf(db, asked));
  }

  /**
   * Only for SQLite: rewrites some pages of the index without the words of deleted documents, which
   * FTS5 only marks as deleted. Returns true if no pages remain to rewrite. The first call
   * (`isBegun` false) starts a merge of all segments.
   */
  async merge(trx: Db, isBegun: boolean): Promise<boolean> {
    const before = await totalChanges(trx);
    const words = sql.table(wordsTable(this.#table));
    const pages = isBegun ? mergedPages : -mergedPages;
    const name = sql.ref(wordsTable(this.#table));
    await sql`insert into ${words} (${name}, rank) values ('merge', ${pages})`.execute(trx);
    // The statement itself counts as a change (https://sqlite.org/fts5.html, 6.8).
    return (await totalChanges(trx)) - before < 2;
  }
}

async function totalChanges(trx: Db): Promise<number> {
  const { rows } = await sql<{ n: number }>`select total_changes() as n`.execute(trx);
  return rows[0]?.n ?? 0;
}

async function keysOf(db: Db, query: RawBuilder<unknown>): Promise<string[]> {
  const { rows } = await (query as RawBuilder<{ key: string }>).execute(db);
  return rows.map(({ key }) => key);
}

/** Returns the full-text index of a table. `column` has the keys: `fullTextOf(own.column(…))`. */
export function fullTextOf({ table, column }: { table: string; column: string }): FullText {
  return new FullText(table, column);
}

/** Returns the name of the FTS5 table for the words on SQLite. */
function wordsTable(table: string): string {
  return `${table}_words`;
}
