// Finds the thread of a message by its keys (keys.ts). A message that names two threads merges them, so the
// order of arrival does not change the result. Runs inside a transaction that holds the row of the mailbox.
//
//   mail is  | joins
//   ---------+--------------------------------------------------------------------------------------
//   wanted   | all threads that its ids name outside of spam and trash, merged; else the oldest there
//   wanted   | without a known parent: the threads of its topic, outside of spam and trash
//   unwanted | a thread in spam that its ids name; later mail finds it by its own id only
import type { Db } from '../../platform/store/db.ts';
import type { Folder } from './folders.ts';
import type { ThreadKeys } from './keys.ts';
import { mergeThreads } from './merge.ts';
import {
  findReferences,
  insertReferences,
  putReferences,
  type Reference,
} from './reference-queries.ts';

const topicMs = 7 * 86_400_000;

/** A message for which a thread is searched. */
export interface Seeker {
  mailboxId: string;
  keys: ThreadKeys;
  /** Time of the message, ms since 1970. */
  at: number;
  isSpam: boolean;
}

const hidden: readonly Folder[] = ['spam', 'trash'];

function idsOf(references: readonly Reference[]): string[] {
  return [...new Set(references.map(({ thread_id }) => thread_id))].sort();
}

/** Returns all hashes that place a message. */
export function hashesOf({ own, parents, topic }: ThreadKeys): string[] {
  return [own, ...parents, ...(topic === null ? [] : [topic])];
}

/**
 * Returns the ids of the threads that the message joins, oldest first. `named` are the matches of its hashes.
 */
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

/** Returns the thread that a message joins, and merges several into one. Null if it begins a new thread. */
export async function findPlace(trx: Db, now: number, seeker: Seeker): Promise<string | null> {
  const named = await findReferences(trx, seeker.mailboxId, hashesOf(seeker.keys));
  const [first = null, ...others] = joined(seeker, named);
  if (first !== null) for (const id of others) await mergeThreads(trx, first, id, now);
  return first;
}

/** A message with its thread. */
export interface Kept extends Seeker {
  threadId: string;
}

/** Stores the keys of these messages, so that later mail finds their threads. */
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
