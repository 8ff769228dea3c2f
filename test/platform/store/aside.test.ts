// Reads beside the event loop: they see committed rows, end by their deadline, keep the loop free,
// and leave every organization its place. Slow: reads run into their deadline of 500 ms, many at
// once.
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { CapacityError } from '../../../src/platform/errors.ts';
import { AsideReads, OverdueError } from '../../../src/platform/store/aside.ts';
import type { Db, Store } from '../../../src/platform/store/db.ts';
import { inTime } from '../../../src/platform/store/in-time.ts';
import { openSqliteAside } from '../../../src/platform/store/sqlite/sqlite-aside.ts';
import { bothStores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { longestStallMs } from '../../support/work-time.ts';

/** Runs twice as long as the deadline and more, on both engines: SQLite reads to the end. */
const endless = (db: Db) =>
  sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000000)
    select count(*) as n from n`.execute(db);
/** Runs for about a tenth of a second. */
const slow = (db: Db) =>
  sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 300000)
    select count(*) as n from n`.execute(db);
const quick = async (db: Db) => (await sql<{ n: number }>`select 1 as n`.execute(db)).rows[0]?.n;

describe.each(bothStores)('a read beside the event loop, on %s', (kind) => {
  const test = eachApp({ store: kind, mostReadMs: 500 });
  const store = (): Store => test.app.store;

  it('sees earlier commits', async () => {
    const { rows } = await store().aside('org_a', (db) =>
      sql<{ name: string }>`select name from organizations`.execute(db),
    );
    expect(rows).toEqual([{ name: 'default' }]);
    await store().write((trx) => sql`update organizations set name = 'renamed'`.execute(trx));
    const after = await store().aside('org_a', (db) =>
      sql<{ name: string }>`select name from organizations`.execute(db),
    );
    expect(after.rows).toEqual([{ name: 'renamed' }]);
  });

  it('cannot write', async () => {
    const written = store().aside('org_a', (db) =>
      sql`update organizations set name = 'x'`.execute(db),
    );
    await expect(written).rejects.toThrow();
  });

  it('ends after 500 ms without a halt of the loop', async () => {
    const started = performance.now();
    const read = store().aside('org_a', endless);
    const stalled = longestStallMs(read);
    await expect(read).rejects.toThrow(OverdueError);
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(await stalled).toBeLessThan(250);
  });

  it('starts no further statement once it is overdue', async () => {
    const inner = Promise.withResolvers<unknown>();
    const read = store().aside('org_a', async (db) => {
      try {
        for (let asked = 0; asked < 100; asked += 1) await slow(db);
        inner.resolve('all asked');
      } catch (error) {
        inner.resolve(error);
        // The deadline of the statement and that of the read end in either order.
        throw error;
      }
    });
    await expect(read).rejects.toThrow(OverdueError);
    expect(await inner.promise).toBeInstanceOf(OverdueError);
    expect(await store().aside('org_a', quick)).toBe(1);
  });

  it('of one organization leaves a place to another', async () => {
    // Opens all places first: a thread takes its time to start on a busy machine.
    await Promise.all(['org_a', 'org_b', 'org_c', 'org_d'].map((one) => store().aside(one, quick)));
    const held = Array.from({ length: 6 }, () => store().aside('org_a', endless).catch(String));
    const started = performance.now();
    expect(await store().aside('org_b', quick)).toBe(1);
    expect(performance.now() - started).toBeLessThan(1_000);
    await Promise.all(held);
  });

  it('waits while its organization has all its places in use', async () => {
    const many = Array.from({ length: 40 }, () => store().aside('org_a', quick));
    expect(await Promise.all(many)).toEqual(many.map(() => 1));
  });

  it('is refused with 503 while too many reads of its organization wait', async () => {
    const many = Array.from({ length: 400 }, () => store().aside('org_a', quick));
    const results = await Promise.allSettled(many);
    const refused = results.filter(
      (one) => one.status === 'rejected' && one.reason instanceof CapacityError,
    );
    expect(refused.length).toBeGreaterThan(0);
    expect(results.some(({ status }) => status === 'fulfilled')).toBe(true);
  });

  it('returns its place after a failure', async () => {
    const broken = () => store().aside('org_a', (db) => sql`select nothing from x`.execute(db));
    for (let count = 0; count < 8; count += 1) await expect(broken()).rejects.toThrow();
    expect(await store().aside('org_a', quick)).toBe(1);
  });
});

describe('a statement in a thread of SQLite', () => {
  const test = eachApp({ store: 'sqlite', mostReadMs: 500 });

  it('ends at the deadline where it checks the time', async () => {
    const { dataDir } = test.app.config;
    const place = await openSqliteAside(join(dataDir, 'svc.db'), 0, 500, (error) => error);
    const where = sql.join([...inTime(place.db), sql`i < 10000000`], sql` and `);
    const counted =
      sql`with recursive n (i) as (select 1 union all select i + 1 from n where ${where})
      select count(*) from n`.execute(place.db);
    await expect(counted).rejects.toThrow(OverdueError);
    expect(await quick(place.db)).toBe(1);
    await place.end();
  });
});

describe('the places of reads beside the event loop', () => {
  it('go to the organization with the fewest reads', async () => {
    const begun: string[] = [];
    const reads = new AsideReads(async () => ({
      db: {} as Db,
      finish: async () => true,
      end: async () => {},
    }));
    const start = (holder: string) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const ended = reads.run(holder, async () => {
        begun.push(holder);
        await promise;
      });
      return { end: resolve, ended };
    };
    const all = ['a', 'a', 'a', 'b', 'a', 'a', 'a', 'c'].map(start);
    await expect.poll(() => begun).toEqual(['a', 'a', 'a', 'b']);
    all[0]?.end();
    await expect.poll(() => begun).toHaveLength(5);
    expect(begun.at(-1)).toBe('c');
    for (const { end } of all) end();
    await Promise.all(all.map(({ ended }) => ended));
    await reads.close();
  });
});
