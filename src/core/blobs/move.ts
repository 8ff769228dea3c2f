// Moves large contents to a different place while daemons run. Each step is a single commit that
// changes a blob or an object only if it is unchanged since it was read. A second run finishes an
// interrupted move.

import { rowsOfPages } from '../../platform/store/rows/row-pages.ts';
import type { App } from '../app.ts';
import { placeOf, putObject, readBlob, readObject, storeObject } from './blobs.ts';
import { NoBlobError } from './place.ts';
import {
  type BlobObjectRow,
  countBlobs,
  countObjectsElsewhere,
  findLargeInside,
  findObject,
  findObjectsElsewhere,
  findWithObject,
  type ObjectDriver,
  putInside,
  putOutside,
  replaceDriver,
  useObjects,
} from './queries.ts';

const perPage = 100;

/** Place of large contents: the database, files below `dataDir`, or a bucket. */
export type StorageDriver = App['config']['storage']['driver'];

export interface Moved {
  files: number;
  bytes: number;
}

/** Called with the number of files checked so far, and of all files. */
export type OnMoved = (done: number, total: number) => void;

/**
 * Moves files of at least `storage.inlineBytes` to a place, or all back into the database.
 * @throws CapacityError if the place fails; Error for a file that cannot be read
 */
export async function moveBlobs(app: App, to: StorageDriver, onMoved: OnMoved): Promise<Moved> {
  const { inside, outside } = await countBlobs(app.store.db, app.config.storage.inlineBytes);
  const moved: Moved = { files: 0, bytes: 0 };
  let done = 0;
  const count = (total: number) => (bytes: number | null) => {
    done += 1;
    if (bytes !== null) {
      moved.files += 1;
      moved.bytes += bytes;
    }
    onMoved(done, Math.max(done, total));
  };
  if (to === 'database') {
    await moveInside(app, count(outside));
  } else {
    const counted = count(inside + (await countObjectsElsewhere(app.store.db, to)));
    await moveOutside(app, to, counted);
    await moveBetween(app, to, counted);
  }
  return moved;
}

/** Called with the size of a moved file; null for a file that was changed or deleted meanwhile. */
type Count = (bytes: number | null) => void;

async function moveInside(app: App, count: Count): Promise<void> {
  const { store } = app;
  const blobs = rowsOfPages(
    (after) => findWithObject(store.db, after, perPage),
    ({ id }) => id,
  );
  for await (const { id, size, object_key: key } of blobs) {
    const data = await readBlob(app, id);
    const isMoved =
      data && key !== null ? await store.write((trx) => putInside(trx, id, key, data)) : 0;
    count(isMoved > 0 ? size : null);
  }
}

async function moveOutside(app: App, to: ObjectDriver, count: Count): Promise<void> {
  const { config, store } = app;
  const blobs = rowsOfPages(
    (after) => findLargeInside(store.db, after, config.storage.inlineBytes, perPage),
    ({ id }) => id,
  );
  for await (const { id, organization_id, size } of blobs) {
    const content = await readBlob(app, id);
    const key = content ? await storeObject(app, organization_id, content, to) : null;
    const isMoved =
      key !== null &&
      (await store.write(async (trx) => {
        if (!(await useObjects(trx, [key]))) return false;
        return (await putOutside(trx, id, key)) > 0;
      }));
    count(isMoved ? size : null);
  }
}

async function moveBetween(app: App, to: ObjectDriver, count: Count): Promise<void> {
  const objects = rowsOfPages(
    (after) => findObjectsElsewhere(app.store.db, after, to, perPage),
    ({ key }) => key,
  );
  for await (const row of objects) count((await moveObject(app, row, to)) ? row.size : null);
}

/** Reads the content of an object; null if it was moved or removed meanwhile. */
async function readUnmoved(app: App, row: BlobObjectRow): Promise<Buffer | null> {
  try {
    return await readObject(app, row);
  } catch (error) {
    const now = error instanceof NoBlobError ? await findObject(app.store.db, row.key) : row;
    if (now?.driver === row.driver) throw error;
    return null;
  }
}

/**
 * Copies an object, then records the new place, then removes the old copy. Parallel moves are safe:
 * the object keeps the key, so all copies are the same. A copy without a row costs only space.
 *
 * A parallel move in the opposite direction uses the same names, so it may remove the copy that
 * this move made. This move therefore makes a missing copy again before it removes the old copy. At
 * the end, if the row names the old place again, this move makes the old copy again.
 */
async function moveObject(app: App, row: BlobObjectRow, to: ObjectDriver): Promise<boolean> {
  const { store } = app;
  const content = await readUnmoved(app, row);
  if (!content) return false;
  const moved = { ...row, driver: to };
  await putObject(app, moved, content);
  if ((await store.write((trx) => replaceDriver(trx, row, to))) === 0) return false;
  if (!(await (await placeOf(app, to)).has(row.key))) await putObject(app, moved, content);
  await (await placeOf(app, row.driver)).remove(row.key);
  const now = await findObject(store.db, row.key);
  if (now?.driver === row.driver) await putObject(app, now, content);
  return true;
}
