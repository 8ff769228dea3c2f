// Files that a command opened as root, before it changed to the account of the store. Functions
// that read a file by path use these descriptors first, because only root may enter some folders.
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';
import { resolve } from 'node:path';

const held = new Map<string, number>();

/** Opens a file and keeps the descriptor. Ignores folders, and paths that cannot be opened. */
export function holdFile(path: string): void {
  const file = resolve(path);
  if (held.has(file)) return;
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return;
  }
  if (fstatSync(descriptor).isDirectory()) closeSync(descriptor);
  else held.set(file, descriptor);
}

/** Closes a held file, so that readers open the path again. */
export function releaseFile(path: string): void {
  const file = resolve(path);
  const descriptor = held.get(file);
  if (descriptor === undefined) return;
  held.delete(file);
  closeSync(descriptor);
}

/**
 * Returns the descriptor of a held file; undefined if the file is not held. The caller must not
 * close the descriptor.
 */
export function heldFile(path: string): number | undefined {
  return held.get(resolve(path));
}

/**
 * Reads a held file from the beginning, even after earlier reads; undefined if the file is not
 * held.
 */
export function readHeldFile(path: string): Buffer | undefined {
  const descriptor = heldFile(path);
  if (descriptor === undefined) return undefined;
  const found = fstatSync(descriptor);
  // A pipe cannot be read from the beginning, so only the remaining bytes are read.
  if (!found.isFile()) return readFileSync(descriptor);
  const bytes = Buffer.alloc(found.size);
  let read = 0;
  while (read < bytes.length) {
    const count = readSync(descriptor, bytes, read, bytes.length - read, read);
    if (count === 0) break;
    read += count;
  }
  return bytes.subarray(0, read);
}

/** Reads a file, through a held descriptor if possible. @throws the errors of `readFileSync` */
export function readNamedFile(path: string): Buffer {
  return readHeldFile(path) ?? readFileSync(path);
}

/** Tells whether the file is held, or exists at the path. */
export function isFileNamed(path: string): boolean {
  return heldFile(path) !== undefined || existsSync(path);
}

const pieceBytes = 1024 * 1024;

/** Copies a file, through a held descriptor if possible. Overwrites `copy`. */
export function copyNamedFile(path: string, copy: string): void {
  const descriptor = heldFile(path);
  if (descriptor === undefined) {
    copyFileSync(path, copy, constants.COPYFILE_FICLONE);
    return;
  }
  const piece = Buffer.alloc(pieceBytes);
  const target = openSync(copy, 'w', 0o600);
  try {
    for (let at = 0; ; ) {
      const count = readSync(descriptor, piece, 0, piece.length, at);
      if (count === 0) return;
      for (let done = 0; done < count; ) {
        done += writeSync(target, piece, done, count - done, at + done);
      }
      at += count;
    }
  } finally {
    closeSync(target);
  }
}
