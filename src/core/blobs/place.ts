// Interface to a place of blobs outside the database. The content of a key never changes, only the
// encryption may.

/**
 * Stores bytes by key, as `ORGANIZATION/DIGEST`. Each method may reject with an Error that names
 * the fault.
 */
export interface BlobPlace {
  /** Resolves once the bytes are durable. Replaces the earlier content of the key. */
  put(key: string, bytes: Buffer): Promise<void>;
  /** Returns the bytes of a key. @throws NoBlobError for a missing key; Error above `mostBytes` */
  get(key: string, mostBytes: number): Promise<Buffer>;
  /** Tells whether a key has content, without reading it. */
  has(key: string): Promise<boolean>;
  /** Resolves once the key is gone, also if it was missing. */
  remove(key: string): Promise<void>;
}

/** Reports a key without content. */
export class NoBlobError extends Error {
  constructor(key: string) {
    super(`there is nothing under ${key}`);
  }
}

/** Returns the error for content above the stored length. */
export function tooLong(key: string, mostBytes: number): Error {
  return new Error(`${key} has more than the ${mostBytes} bytes that were stored`);
}
