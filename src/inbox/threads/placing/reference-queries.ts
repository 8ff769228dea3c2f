// All SQL on `thread_references` and `shared_references`. The first has the keys by which mail
// finds a thread (keys.ts); the second has the threads of each id that strangers share
// (strangers.ts).
import { sql } from 'kysely';
import { type Db, engineOf, isOneOf, tables } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';
import type { Folder } from '../folders.ts';

interface ReferenceTables {
  thread_references: {
    mailbox_id: string;
    message_id_hash: string;
    thread_id: string;
    at: number;
    bearer_id: string | null;
  };
  shared_references: SharedReference;
  threads: { id: string; folder: Folder; last_activity_at: number };
}

/** A thread with a message that has an id shared by strangers. */
export interface SharedReference {
  mailbox_id: string;
  message_id_hash: string;
  thread_id: string;
}

const own = ownTables<ReferenceTables>();

/** A Message-ID or topic, as a hash, by which later mail finds the thread. */
export interface Reference {
  message_id_hash: string;
  thread_id: string;
  at: number;
  folder: Folder;
  /** First received message with this key as Message-ID; null if none has arrived. */
  bearer_id: string | null;
  /** 1 if strangers share the id, and the thread has a message with it; else 0. */
  is_shared: number;
}

/** Returns the references of a mailbox with any of these hashes, also the shared references. */
export const findReferences = own.all((db, mailboxId: string, hashes: readonly string[]) =>
  db
    .selectFrom('thread_references')
    .innerJoin('threads', 'threads.id', 'thread_references.thread_id')
    .select([
      'thread_references.message_id_hash',
      'thread_references.thread_id',
      'thread_references.at',
      'threads.folder',
      'thread_references.bearer_id',
      sql<number>`0`.as('is_shared'),
    ])
    .where('thread_references.mailbox_id', '=', mailboxId)
    .where('thread_references.message_id_hash', ...isOneOf(db, hashes))
    .unionAll(
      db
        .selectFrom('shared_references')
        .innerJoin('threads', 'threads.id', 'shared_references.thread_id')
        .select([
          'shared_references.message_id_hash',
          'shared_references.thread_id',
          'threads.last_activity_at as at',
          'threads.folder',
          sql<string | null>`null`.as('bearer_id'),
          sql<number>`1`.as('is_shared'),
        ])
        .where('shared_references.mailbox_id', '=', mailboxId)
        .where('shared_references.message_id_hash', ...isOneOf(db, hashes)),
    ),
);

/** A hash to store as a key of the thread. */
export interface Named {
  mailboxId: string;
  hash: string;
  threadId: string;
  at: number;
  /** Received message with this id as Message-ID; else null. */
  bearerId: string | null;
}

/**
 * Builds an insert of many rows as a single statement; `onConflict` decides about existing rows.
 */
function insertNamed(onConflict: string) {
  return own.run((db, named: string) => {
    const isPostgres = engineOf(db) === 'postgres';
    const list = isPostgres
      ? sql`json_array_elements(${named}::json) as named (value)`
      : sql`json_each(${named})`;
    const at = isPostgres ? sql`(value ->> 3)::bigint` : sql`value ->> 3`;
    const insertion = sql`insert into thread_references
      (mailbox_id, message_id_hash, thread_id, at, bearer_id)
      select value ->> 0, value ->> 1, value ->> 2, ${at}, value ->> 4 from ${list} where true
      on conflict (mailbox_id, message_id_hash) ${sql.raw(onConflict)}`;
    return { compile: () => insertion.compile(db) };
  });
}

const insertNew = insertNamed('do nothing');
const insertBorne = insertNamed(
  `do update set bearer_id = excluded.bearer_id where thread_references.bearer_id is null`,
);
const put = insertNamed('do update set thread_id = excluded.thread_id, at = excluded.at');

function packed(named: Iterable<Named>): string {
  const rows = [...named].map(({ mailboxId, hash, threadId, at, bearerId }) => [
    mailboxId,
    hash,
    threadId,
    at,
    bearerId,
  ]);
  return JSON.stringify(rows);
}

/**
 * Stores these keys. An existing key keeps the thread, and gets `bearerId` only if it has no bearer
 * yet.
 */
export async function insertReferences(db: Db, named: readonly Named[]): Promise<void> {
  // Only a single mail of a batch may bear an id, as an insert may touch a row only once.
  const borne = named.filter(({ bearerId }) => bearerId !== null);
  const others = named.filter(({ bearerId }) => bearerId === null);
  if (borne.length > 0) await insertBorne(db, packed(borne));
  if (others.length > 0) await insertNew(db, packed(others));
}

/**
 * Stores threads that have a message with a shared Message-ID: mails without a common participant
 * bear the same id (strangers.ts). Existing rows stay.
 */
export async function insertShared(db: Db, rows: readonly SharedReference[]): Promise<void> {
  if (rows.length === 0) return;
  await tables<ReferenceTables>(db)
    .insertInto('shared_references')
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Stores these keys, and moves existing keys to the new thread. Of equal keys the last counts. */
export async function putReferences(db: Db, named: readonly Named[]): Promise<void> {
  const last = new Map(named.map((one) => [`${one.mailboxId} ${one.hash}`, one]));
  if (last.size > 0) await put(db, packed(last.values()));
}

/** Moves the keys of a thread to the thread `to`. */
export async function moveReferences(db: Db, from: string, to: string): Promise<void> {
  await tables<ReferenceTables>(db)
    .updateTable('thread_references')
    .set({ thread_id: to })
    .where('thread_id', '=', from)
    .execute();
  // Copies the rows of the former thread; the old rows are deleted with that thread.
  await tables<ReferenceTables>(db)
    .insertInto('shared_references')
    .columns(['mailbox_id', 'message_id_hash', 'thread_id'])
    .expression((from_) =>
      from_
        .selectFrom('shared_references')
        .select(['mailbox_id', 'message_id_hash', sql<string>`${to}`.as('thread_id')])
        .where('thread_id', '=', from),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
