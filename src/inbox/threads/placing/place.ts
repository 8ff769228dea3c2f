// Finds the thread of a message by the keys (keys.ts). A message that names two threads merges them
// if somebody outside of the organization takes part in both (strangers.ts). Runs inside a
// transaction that holds the row of the mailbox.
//
//   mail is  | joins
//   ---------+-------------------------------------------------------------------------------------
//   wanted   | the thread of the nearest parent, else a thread that names the mail as parent;
//            | merges further named threads as strangers.ts allows. Spam and trash do not count
//   wanted   | without a known parent: also the threads of the topic, outside of spam and trash
//   wanted   | if spam and trash have the only such threads: the oldest
//   unwanted | a thread in spam that the ids name; later mail finds it by the Message-ID only
import type { Db } from '../../../platform/store/db.ts';
import { moveActionsOfThread } from '../../approvals/copy-queries.ts';
import type { Folder } from '../folders.ts';
import { copyLabels } from '../marks/label-queries.ts';
import { moveNotes } from '../marks/note-queries.ts';
import {
  deleteThread,
  findThread,
  moveDrafts,
  moveThreadMessages,
  type ThreadRow,
} from '../queries.ts';
import { restateThread } from '../restate.ts';
import type { ThreadKeys } from './keys.ts';
import {
  findReferences,
  insertReferences,
  insertShared,
  moveReferences,
  putReferences,
  type Reference,
} from './reference-queries.ts';
import { type Arriving, mergeable, Participants, withoutStrangers } from './strangers.ts';

const topicMs = 7 * 86_400_000;

/** A message with the keys. */
interface Keyed {
  mailboxId: string;
  keys: ThreadKeys;
  /** Time of the message, ms since 1970. */
  at: number;
  isSpam: boolean;
}

/** A received message for which a thread is searched. */
export interface Seeker extends Keyed, Arriving {}

const hidden: readonly Folder[] = ['spam', 'trash'];

function idsOf(references: readonly Reference[]): string[] {
  return [...new Set(references.map(({ thread_id }) => thread_id))].sort();
}

/** Returns the hashes of all keys of a message. */
export function hashesOf({ own, parents, topic }: ThreadKeys): string[] {
  return [own, ...parents, ...(topic === null ? [] : [topic])];
}

/**
 * Returns the hash of the Message-ID of a mail if strangers can use the same id. Returns null for
 * an id of ours, and for spam.
 */
function foreignId({ keys, isSpam }: Keyed): string | null {
  return keys.isOwnOurs || isSpam ? null : keys.own;
}

/**
 * Tells whether participants must be compared to place a message: it names an id that strangers
 * share, or an earlier message has the same foreign Message-ID.
 */
export function meetsStrangers(seeker: Seeker, named: readonly Reference[]): boolean {
  const own = foreignId(seeker);
  return named.some(
    ({ is_shared, message_id_hash, bearer_id }) =>
      is_shared === 1 || (message_id_hash === own && bearer_id !== null),
  );
}

/**
 * Returns the ids of the threads that a message joins or connects, the thread of the nearest parent
 * first. `named` are the stored references with the hashes of the message.
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
  const threadsOf = Map.groupBy(open, ({ message_id_hash }) => message_id_hash);
  const nearest = [...keys.parents, keys.own].flatMap((hash) => idsOf(threadsOf.get(hash) ?? []));
  const found = [...new Set([...nearest, ...idsOf(byTopic)])];
  return found.length > 0 ? found : idsOf(byId).slice(0, 1);
}

/** Thread of a message, found by the keys. */
export interface FoundPlace {
  /** Thread that the message joins; null if it begins a thread. */
  joins: string | null;
  /** Threads with a message of this Message-ID, if strangers share the id; else empty. */
  sharing: readonly string[];
}

/** Returns the place of a message, and merges the threads that the message connects. */
export async function findPlace(trx: Db, now: number, seeker: Seeker): Promise<FoundPlace> {
  const named = await findReferences(trx, seeker.mailboxId, hashesOf(seeker.keys));
  const people = new Participants(trx, seeker.mailboxId);
  const { references, sharing } = meetsStrangers(seeker, named)
    ? await withoutStrangers(people, seeker, foreignId(seeker), named)
    : { references: named, sharing: [] };
  const [nearest = null, ...others] = joined(seeker, references);
  if (nearest === null || others.length === 0) return { joins: nearest, sharing };
  const waiting = new Set(
    references.flatMap(({ message_id_hash, bearer_id, is_shared, thread_id }) =>
      message_id_hash === seeker.keys.own && bearer_id === null && is_shared === 0 ? thread_id : [],
    ),
  );
  const merged = await mergeable(trx, people, seeker, nearest, others, waiting);
  const [first = nearest, ...rest] = [nearest, ...merged].sort();
  for (const id of rest) await mergeThreads(trx, first, id, now);
  return { joins: first, sharing: sharing.map((id) => (rest.includes(id) ? first : id)) };
}

/** A placed message with the thread. */
export interface Kept extends Keyed {
  threadId: string;
  /** Received message; null for a sent message. */
  messageId: string | null;
  /** Threads with a message of this Message-ID, if strangers share the id; else empty. */
  sharing: readonly string[];
}

/** Stores the keys of these messages, so that later mail finds their threads. */
export async function keepPlaces(trx: Db, kept: readonly Kept[]): Promise<void> {
  const named = kept.flatMap((one) => {
    const { mailboxId, keys, at, isSpam, threadId, messageId } = one;
    const bearerId = foreignId(one) === null ? null : messageId;
    const parents = isSpam ? [] : keys.parents;
    return [
      { mailboxId, hash: keys.own, threadId, at, bearerId },
      ...parents.map((hash) => ({ mailboxId, hash, threadId, at, bearerId: null })),
    ];
  });
  await insertReferences(trx, named);
  const topics = kept.flatMap(({ mailboxId, keys, at, isSpam, threadId }) =>
    keys.topic === null || isSpam
      ? []
      : { mailboxId, hash: keys.topic, threadId, at, bearerId: null },
  );
  await putReferences(trx, topics);
  const shared = kept.flatMap(({ mailboxId, keys, threadId, sharing }) =>
    sharing.length === 0
      ? []
      : [...new Set([...sharing, threadId])].map((id) => ({
          mailbox_id: mailboxId,
          message_id_hash: keys.own,
          thread_id: id,
        })),
  );
  await insertShared(trx, shared);
}

// Merges two threads of a mailbox when a message shows that they belong together. The older thread
// stays and gets the labels, notes and states of the newer thread.

/** Order of preference for the folder of a merged thread. */
const order: readonly Folder[] = ['inbox', 'archive', 'sent', 'drafts', 'trash', 'spam'];

function sooner(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** Merges the fields that cannot be recomputed from messages. */
function together(one: ThreadRow, other: ThreadRow) {
  return {
    folder: order.find((name) => name === one.folder || name === other.folder) ?? one.folder,
    is_read: Math.min(one.is_read, other.is_read),
    is_starred: Math.max(one.is_starred, other.is_starred),
    snoozed_until: sooner(one.snoozed_until, other.snoozed_until),
    last_activity_at: Math.max(one.last_activity_at, other.last_activity_at),
  };
}

/** Moves everything from thread `goneId` to `id` and deletes `goneId`. */
export async function mergeThreads(
  trx: Db,
  id: string,
  goneId: string,
  now: number,
): Promise<void> {
  const [stays, goes] = [await findThread(trx, id), await findThread(trx, goneId)];
  if (!stays || !goes) return;
  await moveThreadMessages(trx, goneId, id);
  await moveReferences(trx, goneId, id);
  await copyLabels(trx, goneId, id);
  await moveNotes(trx, goneId, id);
  await moveDrafts(trx, goneId, id);
  await moveActionsOfThread(trx, goneId, id);
  await deleteThread(trx, goneId);
  await restateThread(trx, id, now, together(stays, goes));
}
