// All SQL on `thread_references`, the keys by which mail finds its thread (keys.ts defines them).
import { sql } from 'kysely';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { Folder } from './folders.ts';

interface ReferenceTables {
  thread_references: {
    mailbox_id: string;
    message_id_hash: string;
    thread_id: string;
    at: number;
  };
  threads: { id: string; folder: Folder };
}

const own = ownTables<ReferenceTables>();

/** A key of a thread. */
export interface Reference {
  message_id_hash: string;
  thread_id: string;
  at: number;
  folder: Folder;
}

/** Returns the threads of a mailbox that these hashes name. */
export const findReferences = own.all((db, mailboxId: string, hashes: readonly string[]) =>
  db
    .selectFrom('thread_references')
    .innerJoin('threads', 'threads.id', 'thread_references.thread_id')
    .select([
      'thread_references.message_id_hash',
      'thread_references.thread_id',
      'thread_references.at',
      'threads.folder',
    ])
    .where('thread_references.mailbox_id', '=', mailboxId)
    .where('thread_references.message_id_hash', ...isOneOf(db, hashes)),
);

/** A hash to store as a key of the thread. */
export interface Named {
  mailboxId: string;
  hash: string;
  threadId: string;
  at: number;
}

/** Builds an insert of many rows as one statement; `onConflict` decides about existing rows. */
function insertNamed(onConflict: string) {
  return own.run((db, named: string) => {
    const isPostgres = engineOf(db) === 'postgres';
    const list = isPostgres
      ? sql`json_array_elements(${named}::json) as named (value)`
      : sql`json_each(${named})`;
    const at = isPostgres ? sql`(value ->> 3)::bigint` : sql`value ->> 3`;
    const insertion = sql`insert into thread_references (mailbox_id, message_id_hash, thread_id, at)
      select value ->> 0, value ->> 1, value ->> 2, ${at} from ${list} where true
      on conflict (mailbox_id, message_id_hash) ${sql.raw(onConflict)}`;
    return { compile: () => insertion.compile(db) };
  });
}

const insertNew = insertNamed('do nothing');
const put = insertNamed('do update set thread_id = excluded.thread_id, at = excluded.at');

function packed(named: Iterable<Named>): string {
  const rows = [...named].map(({ mailboxId, hash, threadId, at }) => [
    mailboxId,
    hash,
    threadId,
    at,
  ]);
  return JSON.stringify(rows);
}

/** Stores these keys. An existing key keeps its thread. */
export async function insertReferences(db: Db, named: readonly Named[]): Promise<void> {
  if (named.length > 0) await insertNew(db, packed(named));
}

/** Stores these keys, and moves existing ones to the new thread. Of equal ones the last counts. */
export async function putReferences(db: Db, named: readonly Named[]): Promise<void> {
  const last = new Map(named.map((one) => [`${one.mailboxId} ${one.hash}`, one]));
  if (last.size > 0) await put(db, packed(last.values()));
}

/** Moves the keys of one thread to another. */
export async function moveReferences(db: Db, from: string, to: string): Promise<void> {
  await tables<ReferenceTables>(db)
    .updateTable('thread_references')
    .set({ thread_id: to })
    .where('thread_id', '=', from)
    .execute();
}
