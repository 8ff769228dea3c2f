// Reads and writes files and pipes for the commands. Texts are UTF-8. Large files are processed in
// pieces.
import { createReadStream, fstatSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ConflictError } from '../../../src/platform/errors.ts';
import { heldFile } from '../../../src/platform/runtime/held-files.ts';
import { decodeUtf8 } from '../../../src/platform/runtime/utf8.ts';
import { fileOperation } from '../account/file-broker.ts';
import { UsageError } from '../output/failure.ts';
import type { Progress } from '../output/progress.ts';

/**
 * Most bytes of an input that is kept in memory: more than HTTP accepts in a request by default.
 */
const largestInputBytes = 128 * 1024 * 1024;

/** Returns true for `-` and `@-`, which mean standard input in every flag and argument. */
export function isStandardInput(name: string): boolean {
  return name === '-' || name === '@-';
}

/** Returns the absolute path for an error text: a reader may not know the working directory. */
export function wholePath(name: string): string {
  return isStandardInput(name) ? 'standard input' : resolve(name);
}

const opened = new WeakSet<Readable>();

function openFile(name: string): Readable {
  const fd = heldFile(name);
  if (fd === undefined) return createReadStream(name);
  // A pipe has no position from which reading could start.
  const start = fstatSync(fd).isFile() ? 0 : undefined;
  return createReadStream('', { fd, autoClose: false, ...(start !== undefined && { start }) });
}

function sizeOf(name: string): number {
  if (isStandardInput(name)) return 0;
  const fd = heldFile(name);
  return (fd === undefined ? statSync(name) : fstatSync(fd)).size;
}

/** Opens a file or standard input. @throws UsageError if standard input was opened before. */
function open(name: string): Readable {
  if (!isStandardInput(name)) return openFile(name);
  const { stdin } = process;
  if (opened.has(stdin)) {
    throw new UsageError('standard input can be read only once: name a file for the second text');
  }
  opened.add(stdin);
  return stdin;
}

function unreadable(name: string, error: unknown): UsageError {
  if (error instanceof UsageError) return error;
  return new UsageError(`${wholePath(name)}: cannot be read (${(error as Error).message})`);
}

/**
 * Yields the bytes of a file, or of standard input for `-` and `@-`. Reports progress, except for a
 * pipe, which has no size.
 * @throws UsageError if it cannot be read.
 */
export async function* readFile(name: string, progress: Progress): AsyncGenerator<Buffer> {
  try {
    const size = sizeOf(name);
    let read = 0;
    for await (const chunk of open(name)) {
      read += chunk.length;
      if (size > 0) progress.update(read, size);
      yield chunk;
    }
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** Reads all bytes of a file or of standard input. @throws UsageError where it cannot be read. */
export async function readInput(name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of open(name)) {
      bytes += chunk.length;
      if (bytes > largestInputBytes) throw new UsageError(`${wholePath(name)}: too large`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw unreadable(name, error);
  }
  return Buffer.concat(chunks);
}

/**
 * Returns the text of a file without a byte order mark. @throws UsageError naming the byte that is
 * not UTF-8.
 */
export function textOf(bytes: Buffer, name: string): string {
  const decoded = decodeUtf8(bytes);
  if ('text' in decoded) return decoded.text;
  throw new UsageError(`${wholePath(name)}: ${decoded.problem}: save it as UTF-8`);
}

/**
 * Reads the text of a file or of standard input. @throws UsageError as `readInput` and `textOf` do.
 */
export async function readText(name: string): Promise<string> {
  return textOf(await readInput(name), name);
}

/**
 * Writes a file.
 * @throws ConflictError if the file exists, UsageError if it cannot be written.
 */
export async function writeFile(
  texts: AsyncIterable<string>,
  name: string,
  overwrite: boolean,
): Promise<void> {
  try {
    await fileOperation('open', name, overwrite ? 'w' : 'wx');
    try {
      for await (const piece of inPieces(texts)) await fileOperation('append', name, piece);
    } finally {
      await fileOperation('close', name);
    }
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') {
      throw new ConflictError(
        'file',
        `${wholePath(name)} exists: give another name, or --overwrite`,
      );
    }
    if (syscall === undefined) throw error;
    throw new UsageError(`${wholePath(name)}: cannot be written (${message})`);
  }
}

const pieceLength = 64 * 1024;

/** Joins short texts, so that a file of many rows needs few writes. */
async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** Tells whether a text names an existing folder: `.` or a path with a slash, so never a slug. */
export async function isFolder(name: string): Promise<boolean> {
  if (!name.includes('/') && name !== '.') return false;
  return (await fileOperation('look', name))?.kind === 'folder';
}

/** Writes a text to a file, over an existing file. @throws UsageError if it cannot be written */
export async function writeTextFile(text: string, name: string): Promise<void> {
  await writeFile(
    (async function* () {
      yield text;
    })(),
    name,
    true,
  );
}

/** Writes to standard output. A reader that closes the pipe early (`| head`) causes no error. */
export async function writeOut(texts: AsyncIterable<string>): Promise<void> {
  const isClosed = (error: unknown) => (error as NodeJS.ErrnoException | null)?.code === 'EPIPE';
  const out = new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      process.stdout.write(text, (error) => done(error));
    },
  });
  await pipeline(texts, out).catch((error: unknown) => {
    if (!isClosed(error)) throw error;
  });
}
