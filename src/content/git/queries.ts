// All SQL on `git_objects` and `git_refs`. Reads and writes rows, decides nothing.
import { sql } from 'kysely';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { ObjectType } from './objects.ts';

export interface ObjectRow {
  /** Id of the template. */
  repository_id: string;
  oid: string;
  organization_id: string;
  type: ObjectType;
  /** Size of the object in bytes, before compression. */
  size: number;
  /** Compressed bytes, as a pack has them. */
  content: Buffer;
  /**
   * Number of a commit in the history of main, from 1. Trees and files have the number of the first
   * commit that contains them. Null for objects that await a merge.
   */
  position: number | null;
  /** 1 for a commit with every earlier commit among the ancestors. */
  closes_history: number;
}

export interface RefRow {
  repository_id: string;
  name: string;
  organization_id: string;
  oid: string;
  /** Commits in the history of the repository. */
  commits: number;
}

interface GitTables {
  git_objects: ObjectRow;
  git_refs: RefRow;
}

const own = ownTables<GitTables>();

/**
 * Returns the number and compressed bytes of git objects for each organization. Reads the whole
 * table.
 */
export const sumObjects = own.all((db) =>
  db
    .selectFrom('git_objects')
    .select('organization_id')
    .select([
      sql<number>`cast(count(*) as bigint)`.as('count'),
      sql<number>`cast(coalesce(sum(octet_length(content)), 0) as bigint)`.as('bytes'),
    ])
    .groupBy('organization_id'),
);

/** Rows of an insert, so that SQLite blocks the event loop for only a few ms. */
const rowsAtOnce = 50;

/** Inserts objects. An object that awaited a merge gets a position; existing objects stay. */
export async function insertObjects(trx: Db, rows: readonly ObjectRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    await tables<GitTables>(trx)
      .insertInto('git_objects')
      .values(rows.slice(at, at + rowsAtOnce))
      .onConflict((conflict) =>
        conflict
          .columns(['repository_id', 'oid'])
          .doUpdateSet(({ ref }) => ({
            position: ref('excluded.position'),
            closes_history: ref('excluded.closes_history'),
          }))
          .where('git_objects.position', 'is', null),
      )
      .execute();
  }
}

export type StoredObject = Pick<ObjectRow, 'oid' | 'type' | 'size' | 'content'>;

/** Finds objects by id, including objects that await a merge. */
export const findObjects = own.all((db, repositoryId: string, oids: readonly string[]) =>
  db
    .selectFrom('git_objects')
    .select(['oid', 'type', 'size', 'content'])
    .where('repository_id', '=', repositoryId)
    .where('oid', ...isOneOf(db, oids)),
);

/** Finds objects of main by id, without their content. */
export const findPlaces = own.all((db, repositoryId: string, oids: readonly string[]) =>
  db
    .selectFrom('git_objects')
    .select(['oid', 'type', 'size', 'position', 'closes_history'])
    .where('repository_id', '=', repositoryId)
    .where('oid', ...isOneOf(db, oids))
    .where('position', 'is not', null),
);

/** Returns up to `limit` commits of main with a position under `below`, newest first. */
export const selectCommits = own.all((db, repositoryId: string, below: number, limit: number) =>
  db
    .selectFrom('git_objects')
    .select(['oid', 'size', 'content', 'position'])
    .where('repository_id', '=', repositoryId)
    .where('position', '<', below)
    .where('type', '=', 'commit')
    .orderBy('position', 'desc')
    .limit(limit),
);

/** Counts the objects of main in a range of positions, and their compressed bytes. */
export async function countAfter(db: Db, repositoryId: string, after: number, to: number) {
  const { objects, bytes } = await tables<GitTables>(db)
    .selectFrom('git_objects')
    .select(({ fn }) => [
      fn.countAll<number>().as('objects'),
      sql<number | null>`sum(length(content))`.as('bytes'),
    ])
    .where('repository_id', '=', repositoryId)
    .where('position', '>', after)
    .where('position', '<=', to)
    .executeTakeFirstOrThrow();
  return { objects: Number(objects), bytes: Number(bytes ?? 0) };
}

/**
 * Returns up to `limit` objects of main in the order of position and id: objects that follow
 * `after` in this order, up to the position `to`.
 */
export async function selectAfter(
  db: Db,
  repositoryId: string,
  after: { position: number; oid: string },
  to: number,
  limit: number,
): Promise<(StoredObject & { position: number })[]> {
  const rows = await tables<GitTables>(db)
    .selectFrom('git_objects')
    .select(['oid', 'type', 'size', 'content', 'position'])
    .where('repository_id', '=', repositoryId)
    .where(sql<boolean>`(position, oid) > (${sql.val(after.position)}, ${sql.val(after.oid)})`)
    .where('position', '<=', to)
    .orderBy('position')
    .orderBy('oid')
    .limit(limit)
    .execute();
  return rows as (StoredObject & { position: number })[];
}

/** Sets the position of all objects that await a merge. */
export const placePending = own.run((db, repositoryId: string, position: number) =>
  db
    .updateTable('git_objects')
    .set({ position })
    .where('repository_id', '=', repositoryId)
    .where('position', 'is', null),
);

/** Sets the position of a commit in the history of main. */
export const placeCommit = own.run((db, repositoryId: string, oid: string, position: number) =>
  db
    .updateTable('git_objects')
    .set({ position })
    .where('repository_id', '=', repositoryId)
    .where('oid', '=', oid),
);

/** Deletes the objects that await a merge. */
export const deletePending = own.run((db, repositoryId: string) =>
  db
    .deleteFrom('git_objects')
    .where('repository_id', '=', repositoryId)
    .where('position', 'is', null),
);

export const insertRef = own.run((db, row: RefRow) =>
  db.insertInto('git_refs').values({
    repository_id: row.repository_id,
    name: row.name,
    organization_id: row.organization_id,
    oid: row.oid,
    commits: row.commits,
  }),
);

export const findRef = own.first((db, repositoryId: string, name: string) =>
  db
    .selectFrom('git_refs')
    .select(['oid', 'commits'])
    .where('repository_id', '=', repositoryId)
    .where('name', '=', name),
);

/** Moves a ref if it is still at `from`; returns the number of changed rows. */
export const moveRef = own.change(
  (db, repositoryId: string, name: string, from: string, to: string, commits: number) =>
    db
      .updateTable('git_refs')
      .set({ oid: to, commits })
      .where('repository_id', '=', repositoryId)
      .where('name', '=', name)
      .where('oid', '=', from),
);

export async function deleteRows(trx: Db, repositoryId: string): Promise<void> {
  const db = tables<GitTables>(trx);
  await db.deleteFrom('git_refs').where('repository_id', '=', repositoryId).execute();
  await db.deleteFrom('git_objects').where('repository_id', '=', repositoryId).execute();
}
