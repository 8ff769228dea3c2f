// Draws from rate-limit buckets that several daemons share on one PostgreSQL. The buckets are rows,
// locked for one short transaction that concurrent draws share, so draws are exact over all
// daemons. Other daemons only take tokens: the bucket in memory is an upper bound and can refuse.
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import { InternalError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { groupWrites } from '../../platform/store/group.ts';
import type { KnownBucket } from './buckets.ts';
import { type Bucket, draw, giveBack, levelAt } from './buckets.ts';
import { deleteRestingBuckets, insertBuckets, lockBuckets, updateBuckets } from './queries.ts';

const mostPerTransaction = 64;

/** Gives back `returned` tokens, then draws `tokens`, from all of the buckets or from none. */
export interface SharedDraw {
  buckets: readonly KnownBucket[];
  returned: number;
  tokens: number;
  /** Tokens that must remain after the draw. */
  leaving: number;
}

/** Result of a draw; null if the row of a bucket is missing. */
type Drawn = { waitMs: number; levels: { level: number; atMs: number }[] } | null;

/**
 * Draws and returns 0, or draws nothing and returns the milliseconds until the draw could succeed.
 */
export type DrawShared = (wanted: SharedDraw) => Promise<number>;

async function drawTogether(app: App, trx: Db, draws: readonly SharedDraw[]): Promise<Drawn[]> {
  const now = app.clock.now();
  const ids = new Set(draws.flatMap(({ buckets }) => buckets.map(({ id }) => id)));
  const rows = new Map((await lockBuckets(trx, [...ids].sort())).map((row) => [row.id, row]));
  const stored = new Map<string, Bucket>();
  for (const own of draws.flatMap(({ buckets }) => buckets)) {
    const row = rows.get(own.id);
    if (!row || stored.has(own.id)) continue;
    const bucket: Bucket = { id: own.id, rate: own.rate, level: row.level, atMs: row.at };
    if (own.unshared) {
      bucket.level = Math.min(levelAt(bucket, now), levelAt(own, now));
      bucket.atMs = Math.max(row.at, now);
    }
    stored.set(own.id, bucket);
  }
  const drawn = draws.map(({ buckets: own, returned, tokens, leaving }): Drawn => {
    const buckets = own.flatMap(({ id }) => stored.get(id) ?? []);
    if (buckets.length < own.length) return null;
    giveBack(buckets, returned, now);
    const waitMs = draw(buckets, tokens, now, leaving);
    return { waitMs, levels: buckets.map(({ level, atMs }) => ({ level, atMs })) };
  });
  await updateBuckets(
    trx,
    [...stored.values()].map(({ id, level, atMs }) => ({ id, level, at: atMs })),
  );
  return drawn;
}

/** Makes the rows of buckets that no daemon has shared before. */
async function shareFirst(app: App, buckets: readonly KnownBucket[]): Promise<void> {
  const now = app.clock.now();
  const rows = buckets.map((bucket) => ({
    id: bucket.id,
    level: levelAt(bucket, now),
    at: now,
  }));
  rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  await app.store.write((trx) => insertBuckets(trx, rows), 'quiet');
}

/**
 * Time without a draw after which a bucket is full: longer than any bucket without debt takes to
 * fill, and than the difference between the clocks of two daemons.
 */
const restMs = 3_600_000;
const mostPerSweep = 1_000;

/** Deletes shared buckets that are full again: a missing bucket counts as full. */
export async function sweepBuckets(app: App): Promise<void> {
  const limit = mostPerSweep;
  const now = await timeOfAge(app, 0);
  const sweep = () =>
    app.store.write((trx) => deleteRestingBuckets(trx, { now, restMs, limit }), 'quiet');
  while ((await sweep()) === limit);
}

/**
 * Creates the function that draws from the rate-limit buckets that all daemons share. Calls of the
 * function reject with CapacityError if the store cannot be written.
 */
export function createSharedDraws(app: App): DrawShared {
  const drawInGroup = groupWrites(
    app.store,
    mostPerTransaction,
    (trx, draws: SharedDraw[]) => drawTogether(app, trx, draws),
    'quiet',
  );
  return async (wanted) => {
    let drawn = await drawInGroup(wanted);
    if (!drawn) {
      await shareFirst(app, wanted.buckets);
      drawn = await drawInGroup(wanted);
    }
    if (!drawn) throw new InternalError('A shared rate limit could not be stored', 'store');
    for (const [index, bucket] of wanted.buckets.entries()) {
      Object.assign(bucket, drawn.levels[index], { unshared: false });
    }
    return drawn.waitMs;
  };
}
