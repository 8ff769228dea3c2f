// Shards of counters: several rows for a count, so that transactions on PostgreSQL do not wait for
// the same row. Readers add them up. SQLite has a single writer, and a single shard.
import { hostname } from 'node:os';
import { type Db, engineOf } from './db.ts';

/** Each count has at most as many rows. */
const shards = 32;

/** The shard of counts for which all processes wait in turn. */
export const commonShard = 0;

/**
 * Where this process begins to count connections, so that processes rarely have the same
 * shards.
 */
const ofProcess = [...`${hostname()} ${process.pid}`].reduce(
  (sum, character) => (sum * 31 + character.charCodeAt(0)) % 65_521,
  0,
);

/** Number of each connection, in the order of their first use. */
const connections = new WeakMap<Db, number>();
let count = 0;

/**
 * Returns the shard to which the transaction adds: the shard of the connection. Two connections may
 * have the same.
 */
export function shardOf(trx: Db): number {
  if (engineOf(trx) === 'sqlite') return commonShard;
  let number = connections.get(trx);
  if (number === undefined) {
    number = count++;
    connections.set(trx, number);
  }
  // A process uses few connections at once: five lie between the shards of two processes.
  return (ofProcess * 5 + number) % shards;
}

/** Returns the shard of the transaction among eight, for counts with many rows. */
export function shardOfEight(trx: Db): number {
  return shardOf(trx) % 8;
}

/** Returns the shard of this process, for counts that a process writes in turn. */
export function shardOfProcess(trx: Db): number {
  return engineOf(trx) === 'sqlite' ? commonShard : ofProcess % shards;
}
