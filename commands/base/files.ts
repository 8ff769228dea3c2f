// Reading and writing of files and pipes for commands, piece by piece.
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ConflictError } from '../../src/platform/errors.ts';
import { UsageError } from './failure.ts';
import type { Progress } from './progress.ts';

/**
 * Yields the bytes of a file, or of standard input for `-`. A pipe has no size, so its progress has
 * no end.
 */
export async function* readFile(name: string, progress: Progress): AsyncGenerator<Buffer> {
  try {
    const size = name === '-' ? 0 : (await stat(name)).size;
    let read = 0;
    for await (const chunk of name === '-' ? process.stdin : createReadStream(name)) {
      read += chunk.length;
      if (size > 0) progress.update(read, size);
      yield chunk;
    }
  } catch (error) {
    throw new UsageError(`${name}: cannot be read (${(error as Error).message})`);
  }
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
  // Readable only by the owner, as the file has addresses of people.
  const file = createWriteStream(name, { flags: overwrite ? 'w' : 'wx', mode: 0o600 });
  await pipeline(texts, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') {
      throw new ConflictError('file', `${name} exists: give another name, or --overwrite`);
    }
    if (error.syscall === undefined) throw error;
    throw new UsageError(`${name}: cannot be written (${error.message})`);
  });
}

/** Tells whether the text names a folder: only one with a slash, so that a slug never does. */
export async function isFolder(name: string): Promise<boolean> {
  if (!name.includes('/') && name !== '.') return false;
  return stat(name).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Writes a text to a file, over another one. @throws UsageError if it cannot be written */
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
