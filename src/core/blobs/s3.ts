// Blobs in a bucket of an S3 service: AWS, Garage, SeaweedFS, R2, Ceph and similar services. s3mini
// signs the requests (Signature Version 4) and divides large bodies into parts. Rows of the store
// say what the bucket has, so that nothing here lists a bucket or depends on conditional requests,
// in which the services differ.
import { S3mini, S3ServiceError } from 's3mini';
import { messageOf } from '../../platform/errors.ts';
import { type Clock, sleep } from '../../platform/runtime/clock.ts';
import { type BlobPlace, NoBlobError, tooLong } from './place.ts';

/** A bucket and the access to it. */
export interface Bucket {
  /** URL of the service, without the bucket. */
  endpoint: string;
  region: string | null;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Whether the bucket is in the path of URLs; else it is in their host. */
  pathStyle: boolean;
}

/** Bodies above this are uploaded in parts of this size. */
const partBytes = 16 * 1024 * 1024;
const requestMs = 30_000;
/** Pauses before the second try and the third. */
const pausesMs = [200, 800];

/** Opens a bucket. Nothing is sent before the first call. `fetch` opens the connections. */
export function s3Place(bucket: Bucket, clock: Clock, fetch = globalThis.fetch): BlobPlace {
  const s3 = new S3mini({
    accessKeyId: bucket.accessKeyId,
    secretAccessKey: bucket.secretAccessKey,
    endpoint: urlOf(bucket),
    region: bucket.region ?? 'auto',
    requestAbortTimeout: requestMs,
    minPartSize: partBytes,
    fetch,
  });
  const called = <T>(call: () => Promise<T>) => withRetries(clock, bucket, call);
  return {
    put: (key, bytes) => called(() => putWhole(s3, key, bytes)),
    get: (key, mostBytes) => called(() => getWhole(s3, key, mostBytes)),
    has: (key) => called(async () => (await s3.objectExists(key)) === true),
    async remove(key) {
      await called(() => removeOne(s3, key));
    },
  };
}

function urlOf({ endpoint, bucket, pathStyle }: Bucket): string {
  if (pathStyle) return `${endpoint}/${bucket}`;
  const url = new URL(endpoint);
  url.hostname = `${bucket}.${url.hostname}`;
  return url.href.replace(/\/$/, '');
}

/**
 * Uploads bytes, then asks for their length: some services answer 200 before they know that they
 * failed.
 */
async function putWhole(s3: S3mini, key: string, bytes: Buffer): Promise<void> {
  const answer = await s3.putAnyObject(key, bytes);
  if (answer instanceof Response) await answer.body?.cancel();
  const stored = await s3.getContentLength(key);
  if (stored !== bytes.length) {
    throw new Error(`it has ${stored} of ${bytes.length} bytes of ${key} after the upload`);
  }
}

async function getWhole(s3: S3mini, key: string, mostBytes: number): Promise<Buffer> {
  const answer = await s3.getObjectResponse(key);
  if (!answer?.body) throw new NoBlobError(key);
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of answer.body) {
    length += piece.length;
    // Leaving the loop cancels the download.
    if (length > mostBytes) throw tooLong(key, mostBytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length);
}

async function removeOne(s3: S3mini, key: string): Promise<void> {
  try {
    await s3.deleteObject(key);
  } catch (error) {
    // Some services answer 404 for a missing key.
    if (statusOf(error) !== 404) throw error;
  }
}

/** Repeats a call after faults that pass. @throws NoBlobError; an Error that names the bucket */
async function withRetries<T>(
  clock: Clock,
  { bucket, endpoint }: Bucket,
  call: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (error instanceof NoBlobError) throw error;
      const pauseMs = pausesMs[tries];
      if (pauseMs === undefined || !isPassing(error)) {
        const { host } = new URL(endpoint);
        throw new Error(`bucket ${bucket} at ${host}: ${reasonOf(error)}`, { cause: error });
      }
      await sleep(clock, pauseMs);
    }
  }
}

function statusOf(error: unknown): number | null {
  if (error instanceof S3ServiceError) return error.status;
  return error instanceof Error && error.cause !== undefined ? statusOf(error.cause) : null;
}

/**
 * Tells whether a further try may succeed. A request that outran the time limit is not repeated:
 * the caller waits.
 */
function isPassing(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== null) return status >= 500 || status === 429;
  return !(error instanceof DOMException && error.name === 'TimeoutError');
}

function reasonOf(error: unknown): string {
  const { cause } = error as Error;
  return cause instanceof Error ? `${messageOf(error)} (${messageOf(cause)})` : messageOf(error);
}
