// All SQL on `blobs` and `blob_objects`. Rows only, no decisions.
import { sql } from 'kysely';
import { type Db, isOneOf } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

/** A blob is `data`, followed by the content of the object, if the blob has an object. */
export class BlobRow {
  id!: string;
  organization_id!: string;
  /** Length of the whole blob, including the object. */
  size!: number;
  data!: Buffer;
  object_key!: string | null;
  created_at!: number;
}

/** Kind of storage that holds an object outside the database. */
export type ObjectDriver = 'filesystem' | 's3';

/**
 * State of an object. `writing`: the file may still be missing. `removing`: no blob may refer to
 * the object any more.
 */
export type ObjectState = 'writing' | 'stored' | 'removing';

export class BlobObjectRow {
  /** Key of an object, `ORGANIZATION/DIGEST`: the digest is SHA-256 of the content in hex. */
  key!: string;
  driver!: ObjectDriver;
  state!: ObjectState;
  /** Length of the content before encryption. */
  size!: number;
  /**
   * The key of the object, encrypted with the root key; null for an object that is not encrypted.
   */
  sealed_key!: string | null;
  /** Time since which the object is known to be unused, ms since 1970; else null. */
  unused_at!: number | null;
}

interface BlobTables {
  blobs: BlobRow;
  blob_objects: BlobObjectRow;
}

const own = ownTables<BlobTables>();

/** Sets dates after `latest` of unused objects to the present. */
export const bringUnusedToPresent = own.toPresent('blob_objects', 'unused_at');

export const insertBlobRows = own.bulkInsert('blobs', BlobRow);

/** Returns a blob with the place and the size of the object. */
export const findPlacedBlob = own.first((db, id: string) =>
  db
    .selectFrom('blobs')
    .leftJoin('blob_objects', 'blob_objects.key', 'blobs.object_key')
    .select(['blobs.data', 'blobs.object_key'])
    .select(['blob_objects.driver', 'blob_objects.sealed_key', 'blob_objects.size'])
    .where('blobs.id', '=', id),
);

/** Returns the data of the blobs of at most `mostBytes` that have no object, by id. */
export const findSmallBlobs = own.all(
  (db, ids: readonly string[], mostBytes: number) =>
    db
      .selectFrom('blobs')
      .select(['id', 'data'])
      .where('id', ...isOneOf(db, ids))
      .where('size', '<=', mostBytes)
      .where('object_key', 'is', null),
  (rows) => new Map(rows.map(({ id, data }) => [id, data])),
);

/** Deletes blobs. The sweep finds their unused objects later. */
export const deleteBlobs = own.run((db, ids: readonly string[]) =>
  db.deleteFrom('blobs').where('id', ...isOneOf(db, ids)),
);

export interface StoredBytes {
  organization_id: string;
  /** Number of rows. */
  count: number;
  bytes: number;
}

/**
 * Returns number and bytes of the blobs of each organization. Reads the whole table, but no data.
 */
export const sumBlobs = own.all((db) =>
  db
    .selectFrom('blobs')
    .select('organization_id')
    .select([
      sql<number>`cast(count(*) as bigint)`.as('count'),
      sql<number>`cast(coalesce(sum(size), 0) as bigint)`.as('bytes'),
    ])
    .groupBy('organization_id'),
);

const lockObjects = own.lockerOf('blob_objects', { id: 'key' });

const setUsed = own.change((db, keys: readonly string[]) =>
  db
    .updateTable('blob_objects')
    .set({ state: 'stored', unused_at: null })
    .where('key', ...isOneOf(db, keys))
    .where('state', '<>', 'removing'),
);

/**
 * Locks objects and marks them as used. Returns false if any object is missing or being removed.
 */
export async function useObjects(db: Db, keys: readonly string[]): Promise<boolean> {
  await lockObjects(db, keys);
  return (await setUsed(db, keys)) === keys.length;
}

export const findObject = own.first((db, key: string) =>
  db.selectFrom('blob_objects').selectAll().where('key', '=', key),
);

/** Inserts an object, unless there is an object with the same key. */
export const insertObject = own.change((db, row: BlobObjectRow) =>
  db
    .insertInto('blob_objects')
    .values({
      key: row.key,
      driver: row.driver,
      state: row.state,
      size: row.size,
      sealed_key: row.sealed_key,
      unused_at: row.unused_at,
    })
    .onConflict((conflict) => conflict.column('key').doNothing()),
);

/** Sets the date of an object without a blob to now, so that it is kept for a blob that follows. */
export const wantObject = own.run((db, key: string, now: number) =>
  db
    .updateTable('blob_objects')
    .set({ unused_at: now })
    .where('key', '=', key)
    .where('state', '<>', 'removing')
    .where('unused_at', 'is not', null),
);

const isUnused = sql<boolean>`not exists (
  select 1 from blobs where blobs.object_key = blob_objects.key)`;

/**
 * Returns up to `limit` objects after the key `after`, in the order of keys. `is_unused` is true if
 * no blob refers to the object.
 */
export const findNewlyUnused = own.all((db, after: string, limit: number) =>
  db
    .selectFrom((from) =>
      from
        .selectFrom('blob_objects')
        .select(['key', 'unused_at'])
        .where('key', '>', after)
        .orderBy('key')
        .limit(limit)
        .as('blob_objects'),
    )
    .select(['key', 'unused_at'])
    .select(isUnused.as('is_unused'))
    .orderBy('key'),
);

/** Dates an object as unused since `now`, if no blob refers to it and it has no date yet. */
export const dateUnused = own.run((db, key: string, now: number) =>
  db
    .updateTable('blob_objects')
    .set({ unused_at: now })
    .where('key', '=', key)
    .where('unused_at', 'is', null)
    .where(isUnused),
);

/** Returns keys and drivers of objects unused since before a time, the longest unused first. */
export const findLongUnused = own.all((db, before: number, limit: number) =>
  db
    .selectFrom('blob_objects')
    .select(['key', 'driver'])
    .where('unused_at', '<', before)
    .orderBy('unused_at')
    .limit(limit),
);

/** Marks an object for removal if it is unused since before `before` and no blob refers to it. */
export const beginRemoval = own.change((db, key: string, before: number) =>
  db
    .updateTable('blob_objects')
    .set({ state: 'removing' })
    .where('key', '=', key)
    .where('unused_at', '<', before)
    .where(isUnused),
);

/** Clears `unused_at` if it is before `before`; for an object that a blob refers to again. */
export const clearUnused = own.run((db, key: string, before: number) =>
  db
    .updateTable('blob_objects')
    .set({ unused_at: null })
    .where('key', '=', key)
    .where('unused_at', '<', before)
    .where('state', '<>', 'removing'),
);

/** Deletes the row of an object that was removed from the file store. */
export const endRemoval = own.run((db, key: string) =>
  db.deleteFrom('blob_objects').where('key', '=', key).where('state', '=', 'removing'),
);

/**
 * Returns blobs after `after` that are whole in the database and have at least `leastBytes`, by id.
 */
export const findLargeInside = own.all((db, after: string, leastBytes: number, limit: number) =>
  db
    .selectFrom('blobs')
    .select(['id', 'organization_id', 'size'])
    .where('object_key', 'is', null)
    .where('size', '>=', leastBytes)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit),
);

/** Returns blobs after `after` with an object, by id. */
export const findWithObject = own.all((db, after: string, limit: number) =>
  db
    .selectFrom('blobs')
    .select(['id', 'size', 'object_key'])
    .where('object_key', 'is not', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit),
);

/** Returns objects after the key `after` that any driver but `driver` stores, by key. */
export const findObjectsElsewhere = own.all(
  (db, after: string, driver: ObjectDriver, limit: number) =>
    db
      .selectFrom('blob_objects')
      .selectAll()
      .where('driver', '<>', driver)
      .where('state', '=', 'stored')
      .where('key', '>', after)
      .orderBy('key')
      .limit(limit),
);

/** Moves the data of a blob to an object with the same content. Returns 0 for a changed blob. */
export const putOutside = own.change((db, id: string, key: string) =>
  db
    .updateTable('blobs')
    .set({ data: Buffer.alloc(0), object_key: key })
    .where('id', '=', id)
    .where('object_key', 'is', null),
);

/** Moves the whole content of a blob into the row. Returns 0 for a blob that was changed. */
export const putInside = own.change((db, id: string, key: string, data: Buffer) =>
  db
    .updateTable('blobs')
    .set({ data, object_key: null })
    .where('id', '=', id)
    .where('object_key', '=', key),
);

/**
 * Records that an object is in a different place. Returns 0 for an object that was moved or removed
 * meanwhile.
 */
export const replaceDriver = own.change((db, was: BlobObjectRow, driver: ObjectDriver) =>
  db
    .updateTable('blob_objects')
    .set({ driver })
    .where('key', '=', was.key)
    .where('driver', '=', was.driver)
    .where('state', '=', 'stored'),
);

/** Counts the blobs that `svc storage move` will check. Reads the whole table, without the data. */
export const countBlobs = own.first(
  (db, leastBytes: number) =>
    db
      .selectFrom('blobs')
      .select([
        sql<number>`count(case when object_key is null and size >= ${leastBytes} then 1 end)`.as(
          'inside',
        ),
        sql<number>`count(object_key)`.as('outside'),
      ]),
  (row) => ({ inside: Number(row?.inside ?? 0), outside: Number(row?.outside ?? 0) }),
);

/** Counts the objects that are stored by any driver but `driver`. */
export const countObjectsElsewhere = own.first(
  (db, driver: ObjectDriver) =>
    db
      .selectFrom('blob_objects')
      .select(sql<number>`count(*)`.as('count'))
      .where('driver', '<>', driver)
      .where('state', '=', 'stored'),
  (row) => Number(row?.count ?? 0),
);
