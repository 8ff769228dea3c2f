// Blobs: attachments and raw mail. Content of at least `storage.inlineBytes` is an object outside
// the database, if `storage.driver` says so. All remaining content is in the row.
//
// An object is durable before the blob that names it is committed:
//
//   state of an object | event                                        | then
//   -------------------+----------------------------------------------+---------------------------------
//   (none)             | `stageContents` gets new content             | writing, and unused as of now
//   writing            | it is durable, and a blob is committed       | stored, used
//   writing, stored    | no blob has referred to it for a day         | removing (sweep.ts)
//   stored             | the same content of the organization again   | stored: shared, nothing is written
//   removing           | the same content again                       | that blob keeps its content in the row
//   removing           | it is gone from its place                    | (none)
//
// A process that dies on the way leaves an object without a blob, which the sweep removes.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { CapacityError, ExternalServiceError, messageOf } from '../../platform/errors.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { withoutJoining } from '../../platform/store/changes/each-write.ts';
import type { Db } from '../../platform/store/db.ts';
import type { App } from '../app.ts';
import { holdRootKey } from '../root-keys/root-keys.ts';
import { filesystemPlace } from './filesystem.ts';
import { blobKeyBytes, seal, sealedLength, unseal } from './frames.ts';
import { type BlobPlace, NoBlobError } from './place.ts';
import {
  type BlobObjectRow,
  type BlobRow,
  findObject,
  findPlacedBlob,
  insertBlobRows,
  insertObject,
  type ObjectDriver,
  useObjects,
  wantObject,
} from './queries.ts';
import type { Bucket } from './s3.ts';

/** Retry-After in seconds for a request that failed because the file store failed. */
const retryAfterSeconds = 5;

/** Returns the folder for the driver `filesystem`. */
export function blobFolder(dataDir: string): string {
  return join(dataDir, 'blobs');
}

/** Returns the bucket of the configuration; null if a setting of the bucket is missing. */
export function bucketIn({ storage }: App['config']): Bucket | null {
  const { endpoint, bucket, accessKeyId, secretAccessKey, ...others } = storage.s3;
  if (!(endpoint && bucket && accessKeyId && secretAccessKey)) return null;
  return { endpoint, bucket, accessKeyId, secretAccessKey, ...others };
}

const filesOf = perApp((app: App) => filesystemPlace(blobFolder(app.config.dataDir)));

const bucketOf = perApp(async (app: App): Promise<BlobPlace> => {
  const bucket = bucketIn(app.config);
  if (!bucket) throw new Error('storage.s3 has no bucket, but the store has objects there');
  const { s3Place } = await import('./s3.ts');
  return s3Place(bucket, app.clock);
});

/** Returns the file store of a driver. Rejects if the configuration lacks the bucket. */
export async function placeOf(app: App, driver: ObjectDriver): Promise<BlobPlace> {
  return driver === 'filesystem' ? filesOf(app) : bucketOf(app);
}

/** Returns the AES-GCM context that binds the encrypted key of an object to the object. */
export function objectKeyContext(key: string): string {
  return `blobObject:${key}`;
}

/** Returns the decrypted encryption key of an object; null for an object without encryption. */
function openedKey(
  { secrets }: App,
  { key, sealed_key }: Pick<BlobObjectRow, 'key' | 'sealed_key'>,
): Buffer | null {
  return sealed_key === null ? null : secrets.decrypt(sealed_key, objectKeyContext(key));
}

type PlacedObject = Pick<BlobObjectRow, 'key' | 'driver' | 'sealed_key' | 'size'>;

/** Makes the content of an object durable in the file store. */
export async function putObject(app: App, object: PlacedObject, content: Buffer): Promise<void> {
  const place = await placeOf(app, object.driver);
  const objectKey = openedKey(app, object);
  await place.put(object.key, objectKey === null ? content : seal(objectKey, content, app.random));
}

const digestOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

/** Keys of the objects that were made durable for a content, by organization. */
const staged = new WeakMap<Buffer, Map<string, string>>();

/**
 * Stores large contents outside the database, if the configuration says so. `draftBlob` then refers
 * to them. Returns undefined if nothing is to be stored.
 * @throws CapacityError if the file store fails
 */
export function stageContents(
  app: App,
  organizationId: string,
  contents: readonly Buffer[],
): Promise<void> | undefined {
  const { driver, inlineBytes } = app.config.storage;
  if (driver === 'database') return undefined;
  const large = contents.filter(
    (one) => one.length >= inlineBytes && !staged.get(one)?.has(organizationId),
  );
  return large.length === 0 ? undefined : stageAll(app, organizationId, large, driver);
}

async function stageAll(
  app: App,
  organizationId: string,
  contents: readonly Buffer[],
  driver: ObjectDriver,
): Promise<void> {
  // In series: a mail has few large files, and all of them are in memory already.
  for (const content of contents) {
    const key = await storeObject(app, organizationId, content, driver);
    if (key === null) continue;
    const known = staged.get(content) ?? new Map<string, string>();
    staged.set(content, known.set(organizationId, key));
  }
}

/**
 * Makes content durable as an object and returns the key; null while an equal object is being
 * removed.
 * @throws CapacityError if the file store fails
 */
export async function storeObject(
  app: App,
  organizationId: string,
  content: Buffer,
  driver: ObjectDriver,
): Promise<string | null> {
  const key = `${organizationId}/${digestOf(content)}`;
  const row = await withoutJoining(() =>
    app.store.write((trx) => wantedObject(app, trx, key, content.length, driver)),
  );
  if (!row || row.state === 'removing') return null;
  if (row.state === 'stored') return key;
  try {
    await putObject(app, row, content);
  } catch (cause) {
    const text = 'Files of this size cannot be stored now: the storage of files does not take them';
    const why = { cause, reason: 'capacity-storage' } as const;
    throw new CapacityError(text, retryAfterSeconds, why);
  }
  return key;
}

/**
 * Returns the object of a key; inserts a new object if the store has none. Undefined if a
 * concurrent transaction removed the object.
 */
async function wantedObject(
  app: App,
  trx: Db,
  key: string,
  size: number,
  driver: ObjectDriver,
): Promise<BlobObjectRow | undefined> {
  const now = app.clock.now();
  await wantObject(trx, key, now);
  const known = await findObject(trx, key);
  if (known) return known;
  const sealed_key = await newSealedKey(app, trx, key);
  await insertObject(trx, { key, driver, state: 'writing', size, sealed_key, unused_at: now });
  // Another process may have inserted the object first.
  return findObject(trx, key);
}

/** Makes the encryption key of an object, encrypted with the root key; null without encryption. */
async function newSealedKey(app: App, trx: Db, key: string): Promise<string | null> {
  if (!app.config.storage.encrypt) return null;
  await holdRootKey(app, trx);
  return app.secrets.encrypt(app.random.bytes(blobKeyBytes), objectKeyContext(key));
}

/**
 * Drafts the row of a blob with the bytes `front` and `content`. If `content` was staged, the row
 * refers to the object instead.
 */
export function draftBlob(
  app: App,
  organizationId: string,
  content: Buffer,
  front: Buffer = Buffer.alloc(0),
): BlobRow {
  const object_key = staged.get(content)?.get(organizationId) ?? null;
  const inside = object_key === null ? [front, content] : [front];
  return {
    id: app.newId('blob'),
    organization_id: organizationId,
    size: front.length + content.length,
    data: inside.length === 2 && front.length === 0 ? content : Buffer.concat(inside),
    object_key,
    created_at: app.clock.now(),
  };
}

/**
 * Inserts blobs, which marks their objects as used.
 * @throws CapacityError if an object was removed meanwhile
 */
export async function insertBlobs(trx: Db, rows: readonly BlobRow[]): Promise<void> {
  const keys = [...new Set(rows.flatMap(({ object_key }) => object_key ?? []))].sort();
  if (keys.length > 0 && !(await useObjects(trx, keys))) {
    throw new CapacityError('A file was removed while it was stored: try again');
  }
  await insertBlobRows(trx, rows);
}

/**
 * Reads a blob; undefined for a missing blob.
 * @throws ExternalServiceError if the object cannot be read
 */
export async function readBlob(app: App, id: string): Promise<Buffer | undefined> {
  const blob = await findPlacedBlob(app.store.db, id);
  if (!blob) return undefined;
  const { data, object_key: key, driver, sealed_key, size } = blob;
  if (key === null) return data;
  try {
    if (driver === null || size === null) throw new NoBlobError(key);
    return Buffer.concat([data, await readObject(app, { key, driver, sealed_key, size })]);
  } catch (error) {
    if (error instanceof NoBlobError) {
      // The content may have moved since the row was read.
      const now = await findPlacedBlob(app.store.db, id);
      if (now && now.driver !== driver) return readBlob(app, id);
    }
    throw unreadable(app, error);
  }
}

/** Reads the content of an object and compares it with the digest. @throws NoBlobError; Error */
export async function readObject(app: App, object: PlacedObject): Promise<Buffer> {
  const { key, driver, size } = object;
  const objectKey = openedKey(app, object);
  const place = await placeOf(app, driver);
  const bytes = await place.get(key, objectKey === null ? size : sealedLength(size));
  const content = objectKey === null ? bytes : unseal(objectKey, bytes);
  if (!key.endsWith(`/${digestOf(content)}`)) {
    throw new Error(`${key} is not what was stored: ${content.length} of ${size} bytes`);
  }
  return content;
}

function unreadable(app: App, cause: unknown): ExternalServiceError {
  app.log.warn({ err: cause }, `a stored file cannot be read: ${messageOf(cause)}`);
  const text = 'A stored file cannot be read: the storage of files does not give it';
  return new ExternalServiceError('storage', text, { cause });
}
