// Full text over real tables: both engines find the same, and treat input as text only.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  type FullTextDocument,
  wordsOfDocument,
} from '../../../src/platform/full-text/document.ts';
import { fullTextOf } from '../../../src/platform/full-text/full-text.ts';
import { parseQuery } from '../../../src/platform/full-text/query.ts';
import { systemClock } from '../../../src/platform/runtime/clock.ts';
import type { Store } from '../../../src/platform/store/db.ts';
import { migrations } from '../../../src/platform/store/migrate.ts';
import { statementsOf } from '../../../src/platform/store/migration.ts';
import { openStore } from '../../../src/platform/store/open.ts';
import { postgresSchema } from '../../support/postgres.ts';
import { injections } from './injections.ts';
import { foundByReading, mailsOf, placesOfAll, queriesOver } from './ten-scripts.ts';

const fullText = fullTextOf({ table: 'probe_search', column: 'message_id' });
const kinds = ['sqlite', 'postgres'] as const;

/** Opens a store with a separate table, whose documents belong to no message. */
async function openWithTable(kind: (typeof kinds)[number]) {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-full-text-'));
  const schema = kind === 'postgres' ? await postgresSchema(inject('postgresUrl')) : null;
  const store = await openStore({ url: schema?.url ?? 'sqlite:svc.db' }, dataDir, systemClock);
  await store.write(async (trx) => {
    const statements = migrations.flatMap((one) => statementsOf(one, kind));
    for (const text of statements.filter((one) => /\bthread_search(?!_waiting)/.test(one))) {
      const own = text
        .replaceAll('thread_search', 'probe_search')
        .replace('references messages on delete cascade', '');
      await sql.raw(own).execute(trx);
    }
  });
  const close = async () => {
    await store.close();
    await schema?.drop();
    rmSync(dataDir, { recursive: true });
  };
  return { store, close };
}

const plain = { subject: '', from: [], text: '', hasAttachment: false };
const textOf = (text: string): FullTextDocument => ({ ...plain, text });

async function put(store: Store, documents: Record<string, FullTextDocument>, scope = 'box') {
  const entries = Object.entries(documents).map(([key, document]) => {
    return { scope, key, words: wordsOfDocument(document) };
  });
  await store.write((trx) => fullText.index(trx, entries));
}

/** Searches in both ways: among all documents, and among named ones. */
async function search(store: Store, q: string, scope = 'box'): Promise<string[]> {
  const question = { scope, query: parseQuery(q) };
  const found = await fullText.find(store.db, question, 10_000);
  const { rows } = await sql<{ id: string }>`select message_id as id from probe_search`.execute(
    store.db,
  );
  const all = rows.map(({ id }) => id);
  const matching = await fullText.matching(store.db, question, all);
  expect(matching).toEqual(new Set(found));
  return found.sort((a, b) => (a < b ? -1 : 1));
}

describe.each(kinds)('full text on %s', (kind) => {
  let store: Store;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ store, close } = await openWithTable(kind));
  });
  afterAll(() => close());

  it('matches all words in one document, in any order and case', async () => {
    await put(store, { m1: textOf('Berlin in the Spring'), m2: textOf('spring'), m3: textOf('') });
    expect(await search(store, 'SPRING berlin')).toEqual(['m1']);
    expect(await search(store, 'spring')).toEqual(['m1', 'm2']);
    expect(await search(store, 'spring autumn')).toEqual([]);
    expect(await search(store, '  !? ')).toEqual([]);
  });

  it('matches a phrase within one part of a mail, never across two', async () => {
    const mail = { ...plain, subject: 'The annual', from: ['Ann Report'], text: 'report of today' };
    await put(store, { p1: mail }, 'phrases');
    const found = (q: string) => search(store, q, 'phrases');
    expect(await found('"report of"')).toEqual(['p1']);
    expect(await found('"annual report"')).toEqual([]);
    expect(await found('annual report')).toEqual(['p1']);
    expect(await found('"the annual" "of tod"*')).toEqual(['p1']);
    expect(await found('"annual the"')).toEqual([]);
  });

  it('searches sender, subject and attachment alone on request', async () => {
    const fromJoe = { ...plain, subject: 'Plan', from: ['joe@example.com', 'Joe Bloggs'] };
    const toJoe = {
      ...plain,
      subject: 'Joe',
      text: 'plan for joe@example.com',
      hasAttachment: true,
    };
    await put(store, { f1: fromJoe, f2: toJoe }, 'fields');
    const found = (q: string) => search(store, q, 'fields');
    expect(await found('joe')).toEqual(['f1', 'f2']);
    expect(await found('from:joe')).toEqual(['f1']);
    expect(await found('from:"joe bloggs"')).toEqual(['f1']);
    expect(await found('from:blog*')).toEqual(['f1']);
    expect(await found('from:example.com')).toEqual(['f1']);
    expect(await found('from:joe@example.com')).toEqual(['f1']);
    expect(await found('from:jo@example.com')).toEqual([]);
    expect(await found('subject:joe')).toEqual(['f2']);
    expect(await found('SUBJECT:plan')).toEqual(['f1']);
    expect(await found('joe@example.com')).toEqual(['f1', 'f2']);
    expect(await found('<Joe@Example.com>,')).toEqual(['f1', 'f2']);
    expect(await found('has:attachment')).toEqual(['f2']);
    expect(await found('has:attachment from:joe')).toEqual([]);
    expect(await found('attachment')).toEqual([]);
  });

  it('accepts a * after three characters, in four words at most', () => {
    const refusal = (q: string) => {
      try {
        parseQuery(q);
        return null;
      } catch (error) {
        return String(error);
      }
    };
    expect(['abc*', 'from:abc*', '"a abc*"', '"a abc"*', '東京都*', '東*'].map(refusal)).toEqual(
      Array(6).fill(null),
    );
    for (const q of ['ab*', 'from:ab*', 'subject:a*', '"abc a*"', 'joe@ex*']) {
      expect(refusal(q)).toContain('3 characters or more before a *');
    }
    expect(refusal('aaa* bbb* ccc* ddd* eee')).toBeNull();
    expect(refusal('aaa* aaa* bbb* ccc* ddd*')).toBeNull();
    expect(refusal('aaa* bbb* ccc* ddd* eee*')).toContain('more than 4 words with *');
  });

  it('keeps scopes separate', async () => {
    await put(store, { s1: textOf('shared secret') }, 'one');
    await put(store, { s2: textOf('shared') }, 'two');
    expect(await search(store, 'shared', 'one')).toEqual(['s1']);
    expect(await search(store, 'secret', 'two')).toEqual([]);
    expect(await search(store, 'sha*', 'two')).toEqual(['s2']);
  });

  it('replaces a document, and deletes it with its words', async () => {
    await put(store, { r1: textOf('before'), r2: textOf('before') }, 'changes');
    await put(store, { r1: textOf('after') }, 'changes');
    expect(await search(store, 'before', 'changes')).toEqual(['r2']);
    expect(await search(store, 'after', 'changes')).toEqual(['r1']);
    await store.write((trx) => fullText.remove(trx, ['r1']));
    expect(await search(store, 'after', 'changes')).toEqual([]);
    await put(store, { r3: textOf('later') }, 'changes');
    expect(await search(store, 'after', 'changes')).toEqual([]);
    expect(await search(store, 'later', 'changes')).toEqual(['r3']);
  });

  it('keeps 255 positions of a word on both engines', async () => {
    const before = 'again '.repeat(254);
    await put(
      store,
      { w1: textOf(`${before}again end`), w2: textOf(`${before}again again end`) },
      'w',
    );
    expect(await search(store, '"again end"', 'w')).toEqual(['w1']);
    expect(await search(store, 'again end', 'w')).toEqual(['w1', 'w2']);
  });

  it.runIf(kind === 'sqlite')('deletes words that no document has any more', async () => {
    const words = async () =>
      (await sql`select rowid from probe_search_words order by 1`.execute(store.db)).rows.length;
    const documents = async () =>
      (await sql`select id from probe_search`.execute(store.db)).rows.length;
    await put(store, { g1: textOf('one'), g2: textOf('two'), g3: textOf('three') }, 'gone');
    expect(await words()).toBe(await documents());
    await store.write((trx) => fullText.remove(trx, ['g1', 'g3']));
    expect(await words()).toBe(await documents());
  });

  it('bounds words, positions and the whole beyond the limits of an engine', async () => {
    const many = Array.from({ length: 30_000 }, (_, i) => `w${i}`).join(' ');
    const wide = Array.from({ length: 9_000 }, (_, i) => `${'語'.repeat(3)}\u{20000}${i}`).join(
      ' ',
    );
    await put(
      store,
      {
        b1: textOf(`${'again '.repeat(20_000)} end`),
        b2: textOf(many),
        b3: textOf(wide),
        b4: textOf(`${'x'.repeat(100_000)} tail`),
        b5: textOf('@'.repeat(200_000)),
        b6: textOf('a@b.c '.repeat(30_000)),
        b7: { ...plain, subject: 'ﷺ'.repeat(100_000), from: ['ﷺ'.repeat(100_000)] },
        b8: textOf('ﷺ'.repeat(200_000)),
      },
      'bounds',
    );
    const found = (q: string) => search(store, q, 'bounds');
    expect(await found('again')).toEqual(['b1']);
    expect(await found('"again again"')).toEqual(['b1']);
    expect(await found('w7000')).toEqual(['b2']);
    expect(await found('w9000')).toEqual([]);
    expect(await found(`${'x'.repeat(64)}`)).toEqual(['b4']);
    expect(await found(`${'x'.repeat(70)}`)).toEqual(['b4']);
    expect(await found('tail')).toEqual(['b4']);
    expect(await found('a@b.c')).toEqual(['b6']);
  });

  it.each(injections)('treats %j as text', async (q) => {
    const documents = {
      i1: textOf(`before ${q} after`),
      i2: textOf('nothing of it, by one'),
      i3: { ...plain, subject: 'one', from: ['two'], hasAttachment: true },
    };
    await put(store, documents, 'text');
    const read = placesOfAll(documents);
    const found = await search(store, q, 'text');
    expect(found).toEqual(foundByReading(read, q));
    expect(await search(store, 'nothing', 'text')).toContain('i2');
  });
});

describe('the two engines', () => {
  const seed = Number(process.env.FULL_TEXT_SEED ?? 19);
  const [mails, queries] = process.env.FULL_TEXT === 'whole' ? [5_000, 200] : [500, 60];

  it(`find the same in ${mails} mails of ten scripts (seed ${seed})`, {
    timeout: 600_000,
  }, async () => {
    const documents = mailsOf(seed, mails);
    const read = placesOfAll(documents);
    const asked = queriesOver(documents, seed, queries);
    const opened = await Promise.all(kinds.map(openWithTable));
    try {
      for (const { store } of opened) await put(store, documents);
      const rows: string[] = [];
      for (const { q, includes } of asked) {
        const [sqlite, postgres] = await Promise.all(opened.map(({ store }) => search(store, q)));
        expect(sqlite, `${q} (seed ${seed})`).toEqual(postgres);
        expect(sqlite, `${q} (seed ${seed})`).toEqual(foundByReading(read, q));
        if (includes) expect(sqlite, `${q} (seed ${seed})`).toContain(includes);
        rows.push(`${sqlite?.length}`);
      }
      // Most queries must have matches.
      expect(rows.filter((count) => count !== '0').length).toBeGreaterThan(queries / 2);
    } finally {
      for (const { close } of opened) await close();
    }
  });
});
