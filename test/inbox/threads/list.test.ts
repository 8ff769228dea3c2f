// The list of threads: its order, its filters in any combination, its cursor, and a walk while
// others gain activity.
import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Folder } from '../../../src/inbox/threads/folders.ts';
import type { ThreadRow } from '../../../src/inbox/threads/queries.ts';
import { bothStores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { testStart } from '../../support/test-app.ts';
import { arrive, mailboxOf, type ThreadApi, threadsOver } from './mails.ts';

const seed = Number(process.env.SEED ?? 19);
type Refusal = { fields?: Record<string, string[]> };

/** The traits of a thread that filters test. */
interface Made {
  id: string;
  folder: Folder;
  at: number;
  read: boolean;
  starred: boolean;
  snoozedUntil: number | null;
  label: string | null;
}

const folder = fc.constantFrom<Folder>('inbox', 'archive', 'sent', 'drafts', 'spam', 'trash');

describe.each(bothStores)('the threads of a mailbox, on %s', (store) => {
  const { test, api } = eachApi({ store });
  let threads: ThreadApi;
  let mailboxId: string;
  beforeEach(async () => {
    threads = await threadsOver(test.app, api);
    mailboxId = await mailboxOf(test.app);
  });

  /** Inserts threads without messages into the store directly. */
  async function make(all: readonly Made[]): Promise<void> {
    const { app, caller } = test;
    await app.store.write(async (trx) => {
      await sql`delete from threads`.execute(trx);
      for (const one of all) {
        const row: Partial<ThreadRow> = {
          is_read: Number(one.read),
          is_starred: Number(one.starred),
        };
        await sql`insert into threads (id, organization_id, mailbox_id, folder, is_read, is_starred,
            last_activity_at, snoozed_until, priority, message_count, attachment_count, created_at,
            updated_at)
          values (${one.id}, ${caller.organizationId}, ${mailboxId}, ${one.folder}, ${row.is_read},
            ${row.is_starred}, ${one.at}, ${one.snoozedUntil}, 'normal', 0, 0, 0, 0)`.execute(trx);
        if (one.label === null) continue;
        await sql`insert into thread_labels (thread_id, folded, label, mailbox_id, last_activity_at)
          values (${one.id}, ${one.label}, ${one.label}, ${mailboxId}, ${one.at})`.execute(trx);
      }
    });
  }

  const idOf = (n: number) => `thread_${String(n).padStart(24, '0')}`;

  const made = fc
    .array(
      fc.record({
        folder,
        at: fc.integer({ min: 0, max: 5 }).map((n) => testStart + n * 1_000),
        read: fc.boolean(),
        starred: fc.boolean(),
        snoozedUntil: fc.constantFrom(null, testStart - 1, testStart + 1),
        label: fc.constantFrom(null, 'one', 'two'),
      }),
      { maxLength: 25 },
    )
    .map((all) => all.map((one, n): Made => ({ id: idOf(n), ...one })));

  const flag = fc.constantFrom(undefined, true, false);
  const edge = fc.constantFrom(undefined, 1, 3, 5);
  const filters = fc.record({
    folder: fc.option(folder, { nil: undefined }),
    unread: flag,
    starred: flag,
    snoozed: flag,
    label: fc.constantFrom(undefined, 'ONE', 'two'),
    after: edge,
    before: edge,
  });
  type Filters = typeof filters extends fc.Arbitrary<infer T> ? T : never;

  function expected(all: readonly Made[], wanted: Filters): string[] {
    const is = (flagged: boolean | undefined, value: boolean) =>
      flagged === undefined || flagged === value;
    const edgeOf = (n: number) => testStart + n * 1_000;
    return all
      .filter((one) =>
        wanted.folder ? one.folder === wanted.folder : !['spam', 'trash'].includes(one.folder),
      )
      .filter((one) => is(wanted.unread, !one.read) && is(wanted.starred, one.starred))
      .filter((one) => is(wanted.snoozed, (one.snoozedUntil ?? 0) > testStart))
      .filter((one) => wanted.label === undefined || one.label === wanted.label.toLowerCase())
      .filter((one) => wanted.after === undefined || one.at >= edgeOf(wanted.after))
      .filter((one) => wanted.before === undefined || one.at < edgeOf(wanted.before))
      .toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
      .map(({ id }) => id);
  }

  function queryOf(wanted: Filters, limit: number): string {
    const edgeOf = (n: number | undefined) =>
      n === undefined ? undefined : new Date(testStart + n * 1_000).toISOString();
    const all = { ...wanted, after: edgeOf(wanted.after), before: edgeOf(wanted.before), limit };
    const given = Object.entries(all).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams();
    for (const [name, value] of given) search.set(name, String(value));
    return `?${search}`;
  }

  /** Reads all pages. */
  async function walk(query: string, between: () => Promise<unknown> = async () => {}) {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await threads.list(`${query}${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
      await between();
    }
    return seen;
  }

  it(`are filtered by any combination and paged, latest activity first (seed ${seed})`, {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        made,
        filters,
        fc.integer({ min: 1, max: 7 }),
        async (all, wanted, limit) => {
          await make(all);
          expect(await walk(queryOf(wanted, limit))).toEqual(expected(all, wanted));
        },
      ),
      { seed, numRuns: store === 'sqlite' ? 120 : 60 },
    );
  });

  it(`are each listed at most once in a walk while others gain activity (seed ${seed})`, {
    timeout: 120_000,
  }, async () => {
    for (let n = 0; n < 8; n += 1) {
      await arrive(test.app, { subject: `walk ${n}`, id: `walk${n}@x` });
      await test.clock.advance(1_000);
    }
    const steps = fc.array(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }), {
      minLength: 4,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 3 }), async (gains, limit) => {
        const before = (await threads.list('?limit=100')).items.map(({ id }) => id);
        const gained = new Set<string>();
        const seen = await walk(`?limit=${limit}`, async () => {
          for (const n of gains.shift() ?? []) {
            await test.clock.advance(1_000);
            await arrive(test.app, { subject: `walk ${n}`, inReplyTo: `walk${n}@x` });
            const [newest] = (await threads.list('?limit=1')).items;
            gained.add(newest?.id ?? '');
          }
        });
        expect(seen.length).toBe(new Set(seen).size);
        // Every thread that keeps its place is listed.
        expect(seen).toEqual(expect.arrayContaining(before.filter((id) => !gained.has(id))));
      }),
      { seed, numRuns: store === 'sqlite' ? 12 : 5 },
    );
  });

  it('refuse a bad filter by its name', async () => {
    for (const [query, field] of [
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['folder=attic', 'folder'],
      ['unread=perhaps', 'unread'],
      ['after=yesterday', 'after'],
      ['before=1', 'before'],
      ['label=', 'label'],
      ['q=', 'q'],
      ['page=2', 'page'],
      ['cursor=nonsense', 'cursor'],
    ] as const) {
      const { status, body } = await api.get<Refusal>(`${threads.path}?${query}`);
      expect([query, status, Object.keys(body.fields ?? {})]).toEqual([query, 422, [field]]);
    }
  });

  it('are continued by a cursor with the same filters alone', async () => {
    await arrive(test.app, { subject: 'one' });
    await arrive(test.app, { subject: 'two' });
    const { nextCursor } = await threads.list('?limit=1&unread=true');
    const again = await threads.list(`?limit=5&unread=true&cursor=${nextCursor}`);
    expect(again).toMatchObject({ items: [{ subject: 'one' }], nextCursor: null });
    for (const other of [
      'unread=false',
      'starred=false&unread=true',
      'folder=inbox',
      'q=one',
      '',
    ]) {
      const { status, body } = await api.get<Refusal>(
        `${threads.path}?${other}&cursor=${nextCursor}`,
      );
      expect([other, status, Object.keys(body.fields ?? {})]).toEqual([other, 422, ['cursor']]);
    }
  });

  it('are ordered by their latest activity within a label too', async () => {
    for (const subject of ['one', 'two']) {
      await arrive(test.app, { subject, id: `${subject}@x` });
      await test.clock.advance(1_000);
    }
    for (const { id } of (await threads.list()).items) {
      await api.post(`${threads.path}/${id}/labels`, { labels: ['fruit'] });
    }
    const order = async () =>
      (await threads.list('?label=fruit')).items.map(({ subject }) => subject);
    expect(await order()).toEqual(['two', 'one']);
    await arrive(test.app, { subject: 'Re: one', inReplyTo: 'one@x' });
    expect(await order()).toEqual(['one', 'two']);
  });

  it('list their messages oldest first, paged, with their position', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      ids.push(await arrive(test.app, { id: `${n}@x`, inReplyTo: n > 0 ? '0@x' : 'none@x' }));
      if (n % 2 === 0) await test.clock.advance(1_000);
    }
    const threadId = (await threads.list()).items[0]?.id ?? '';
    const seen: [string, number][] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await threads.messages(threadId, `?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(
        ...page.items.map(({ id, threadPosition }): [string, number] => [id, threadPosition]),
      );
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(ids.map((id, n) => [id, n]));
  });
});
