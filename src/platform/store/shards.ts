// Shards of counters: several rows for each count, so that transactions on PostgreSQL do not wait
// for the same row. Readers sum the rows. SQLite has a single writer, so it uses a single shard.
import { hostname } from 'node:os';
import { type Db, engineOf } from './db.ts';

/** Most rows of a count. */
const shards = 32;

/** Shard of counts that transactions change in sequence anyway, and of all counts on SQLite. */
export const commonShard = 0;

/** Hash of host and pid, from which the shards follow: processes rarely share shards. */
const ofProcess = [...`${hostname()} ${process.pid}`].reduce(
  (sum, character) => (sum * 31 + character.charCodeAt(0)) % 65_521,
  0,
);

/** Number of each connection, in the order of first use. */
const connections = new WeakMap<Db, number>();
let count = 0;

/**
 * Returns the shard that this transaction changes, by its connection. Two connections may share a
 * shard.
 */
export function shardOf(trx: Db): number {
  if (engineOf(trx) === 'sqlite') return commonShard;
  let number = connections.get(trx);
  if (number === undefined) {
    number = count++;
    connections.set(trx, number);
  }
  // A process uses few connections at once, so the shards of processes are five apart.
  return (ofProcess * 5 + number) % shards;
}

/** Returns one of eight shards for the transaction, for counts with many rows. */
export function shardOfEight(trx: Db): number {
  return shardOf(trx) % 8;
}

/** Returns the shard of this process, for counts that the process adds to in sequence. */
export function shardOfProcess(trx: Db): number {
  return engineOf(trx) === 'sqlite' ? commonShard : ofProcess % shards;
}
