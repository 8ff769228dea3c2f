// Which thread a message belongs to (keys.ts has by what). What names two threads makes one of them, so
// that the order in which mail arrives makes no other threads. Inside a transaction that holds the row of
// the mailbox.
//
//   mail is  | joins
//   ---------+--------------------------------------------------------------------------------------
//   wanted   | what its ids name outside of spam and trash: all of it, made one; else there, the oldest
//   wanted   | without a parent that is known: what its topic names, outside of spam and trash
//   unwanted | what its ids name in spam; it names nothing but itself
import type { Db } from '../store/db.ts';
import type { ThreadKeys } from './keys.ts';
import { mergeThreads } from './merge.ts';
import type { Folder } from './queries.ts';
import {
  findReferences,
  insertReferences,
  putReferences,
  type Reference,
} from './reference-queries.ts';

const topicMs = 7 * 86_400_000;

/** A message as it looks for its thread. */
export interface Seeker {
  mailboxId: string;
  keys: ThreadKeys;
  /** Of the message, ms since 1970. */
  at: number;
  isSpam: boolean;
}

const hidden: readonly Folder[] = ['spam', 'trash'];

function idsOf(references: readonly Reference[]): string[] {
  return [...new Set(references.map(({ thread_id }) => thread_id))].sort();
}

/** By what a message is put in its place. */
export function hashesOf({ own, parents, topic }: ThreadKeys): string[] {
  return [own, ...parents, ...(topic === null ? [] : [topic])];
}

/** The ids of the threads that it joins, the oldest first; `named`: what its hashes name. */
export function joined({ keys, at, isSpam }: Seeker, named: readonly Reference[]): string[] {
  const byId = named.filter(({ message_id_hash }) => message_id_hash !== keys.topic);
  if (isSpam) return idsOf(byId.filter(({ folder }) => folder === 'spam')).slice(0, 1);
  const open = byId.filter(({ folder }) => !hidden.includes(folder));
  const hasParent = byId.some(({ message_id_hash }) => keys.parents.includes(message_id_hash));
  const byTopic = hasParent
    ? []
    : named.filter(
        (one) =>
          one.message_id_hash === keys.topic &&
          Math.abs(at - one.at) <= topicMs &&
          !hidden.includes(one.folder),
      );
  const found = idsOf([...open, ...byTopic]);
  return found.length > 0 ? found : idsOf(byId).slice(0, 1);
}

/** The thread that a message joins, made one where there are several; null where it begins one. */
export async function findPlace(trx: Db, now: number, seeker: Seeker): Promise<string | null> {
  const named = await findReferences(trx, seeker.mailboxId, hashesOf(seeker.keys));
  const [first = null, ...others] = joined(seeker, named);
  if (first !== null) for (const id of others) await mergeThreads(trx, first, id, now);
  return first;
}

/** A message, and the thread that it is in. */
export interface Kept extends Seeker {
  threadId: string;
}

/** From now on each thread is found by what its message names. */
export async function keepPlaces(trx: Db, kept: readonly Kept[]): Promise<void> {
  const named = kept.flatMap(({ mailboxId, keys, at, isSpam, threadId }) => {
    const hashes = isSpam ? [keys.own] : [keys.own, ...keys.parents];
    return hashes.map((hash) => ({ mailboxId, hash, threadId, at }));
  });
  await insertReferences(trx, named);
  const topics = kept.flatMap(({ mailboxId, keys, at, isSpam, threadId }) =>
    keys.topic === null || isSpam ? [] : { mailboxId, hash: keys.topic, threadId, at },
  );
  await putReferences(trx, topics);
}
