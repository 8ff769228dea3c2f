// All SQL on `thread_references`: by what mail finds its thread (keys.ts has what each is made of).
import { type Kysely, sql } from 'kysely';
import {
  change,
  type Db,
  engineOf,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
  tables,
} from '../store/db.ts';
import type { Folder } from './queries.ts';

interface ReferenceTables {
  thread_references: {
    mailbox_id: string;
    message_id_hash: string;
    thread_id: string;
    at: number;
  };
  threads: { id: string; folder: Folder };
}

/** A thread that something names. */
export interface Reference {
  message_id_hash: string;
  thread_id: string;
  at: number;
  folder: Folder;
}

type Wanted = { mailboxId: string; hashes: unknown };

const selectReferences = statement<ReferenceTables, Wanted, Reference>((db, parameter) =>
  db
    .selectFrom('thread_references')
    .innerJoin('threads', 'threads.id', 'thread_references.thread_id')
    .select([
      'thread_references.message_id_hash',
      'thread_references.thread_id',
      'thread_references.at',
      'threads.folder',
    ])
    .where('thread_references.mailbox_id', '=', parameter('mailboxId'))
    .where(isOneOf(db, 'thread_references.message_id_hash', parameter('hashes'))),
);

/** Which threads of a mailbox these name. */
export function findReferences(
  db: Db,
  mailboxId: string,
  hashes: readonly string[],
): Promise<Reference[]> {
  return selectReferences(db, { mailboxId, hashes: idList(db, hashes) });
}

interface Named {
  mailboxId: string;
  threadId: string;
  at: number;
}

const insertNamed = change(
  (db: Kysely<ReferenceTables>, parameter: ParameterOf<Named & { hashes: unknown }>) => {
    const isPostgres = engineOf(db) === 'postgres';
    const hashes = parameter('hashes');
    const at = parameter('at');
    const list = isPostgres
      ? sql`unnest(${hashes}::text[]) as named (value)`
      : sql`json_each(${hashes})`;
    const insertion = sql`insert into thread_references (mailbox_id, message_id_hash, thread_id, at)
      select ${parameter('mailboxId')}, value, ${parameter('threadId')},
        ${isPostgres ? sql`${at}::bigint` : at}
      from ${list} where true on conflict do nothing`;
    return { compile: () => insertion.compile(db) };
  },
);

/** These name the thread from now on; what names a thread already goes on doing so. */
export async function insertReferences(
  db: Db,
  named: Named,
  hashes: readonly string[],
): Promise<void> {
  if (hashes.length === 0) return;
  await insertNamed(db, { ...named, hashes: idList(db, hashes) });
}

const put = change(
  (db: Kysely<ReferenceTables>, parameter: ParameterOf<Named & { hash: string }>) =>
    db
      .insertInto('thread_references')
      .values({
        mailbox_id: parameter('mailboxId'),
        message_id_hash: parameter('hash'),
        thread_id: parameter('threadId'),
        at: parameter('at'),
      })
      .onConflict((conflict) =>
        conflict.columns(['mailbox_id', 'message_id_hash']).doUpdateSet((set) => ({
          thread_id: set.ref('excluded.thread_id'),
          at: set.ref('excluded.at'),
        })),
      ),
);

/** This names the thread from now on, whatever it named before. */
export async function putReference(db: Db, named: Named, hash: string): Promise<void> {
  await put(db, { ...named, hash });
}

/** What names one thread names another. */
export async function moveReferences(db: Db, from: string, to: string): Promise<void> {
  await tables<ReferenceTables>(db)
    .updateTable('thread_references')
    .set({ thread_id: to })
    .where('thread_id', '=', from)
    .execute();
}
