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

/** By this hash the thread is found. */
export interface Named {
  mailboxId: string;
  hash: string;
  threadId: string;
  at: number;
}

/** An insert of many, all in one text; `onConflict` says what becomes of what is there. */
function insertNamed(onConflict: string) {
  return change((db: Kysely<ReferenceTables>, parameter: ParameterOf<{ named: string }>) => {
    const isPostgres = engineOf(db) === 'postgres';
    const named = parameter('named');
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

/** These name their threads from now on; what names a thread already goes on doing so. */
export async function insertReferences(db: Db, named: readonly Named[]): Promise<void> {
  if (named.length > 0) await insertNew(db, { named: packed(named) });
}

/** These name their threads from now on, whatever they named before; of equal ones the last does. */
export async function putReferences(db: Db, named: readonly Named[]): Promise<void> {
  const last = new Map(named.map((one) => [`${one.mailboxId} ${one.hash}`, one]));
  if (last.size > 0) await put(db, { named: packed(last.values()) });
}

/** What names one thread names another. */
export async function moveReferences(db: Db, from: string, to: string): Promise<void> {
  await tables<ReferenceTables>(db)
    .updateTable('thread_references')
    .set({ thread_id: to })
    .where('thread_id', '=', from)
    .execute();
}
