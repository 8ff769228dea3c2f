// Blobs in a bucket of an S3 service: AWS, Garage, SeaweedFS, R2, Ceph and similar services. s3mini
// signs the requests (Signature Version 4) and divides large bodies into parts. The store has a row
// for each object. So nothing here lists a bucket, or needs conditional requests, in which the
// services differ.
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
  /** Whether URLs have the bucket in the path; otherwise in the host. */
  pathStyle: boolean;
}

/** Larger bodies are uploaded in parts of this size. */
const partBytes = 16 * 1024 * 1024;
const requestMs = 30_000;
/** Pauses before the second and the third attempt. */
const pausesMs = [200, 800];

/** Opens a bucket without sending anything before the first call. Requests go through `fetch`. */
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
 * Uploads bytes, then asks for their length: some services answer 200 before they notice a failure.
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
    // The throw leaves the loop, which cancels the download.
    if (length > mostBytes) throw tooLong(key, mostBytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length);
}

async function removeOne(s3: S3mini, key: string): Promise<void> {
  try {
    await s3.deleteObject(key);
  } catch (error) {
    // Deleting a missing key succeeds, but some services answer 404.
    if (statusOf(error) !== 404) throw error;
  }
}

/** Repeats a call after temporary faults. @throws NoBlobError; an Error that names the bucket */
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
 * Tells whether a repeat may succeed. A request that timed out is not repeated, because the caller
 * is waiting.
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
