// Blobs as files: `blobs/ORGANIZATION/AB/DIGEST`, where AB are the first two characters of the
// digest.
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BlobPlace, NoBlobError, tooLong } from './place.ts';

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * Opens the files below `root`, which the first `put` makes. Only the account of the process may
 * read them.
 */
export function filesystemPlace(root: string): BlobPlace {
  const pathOf = (key: string) => {
    const [organizationId = '', digest = ''] = key.split('/');
    return join(root, organizationId, digest.slice(0, 2), digest);
  };
  return {
    async put(key, bytes) {
      const path = pathOf(key);
      await makeDirectory(dirname(path));
      const partial = `${path}.${randomUUID()}.partial`;
      try {
        await writeDurably(partial, bytes);
        await rename(partial, path);
      } catch (error) {
        await rm(partial, { force: true });
        throw error;
      }
      await syncDirectory(dirname(path));
    },
    async get(key, mostBytes) {
      try {
        const path = pathOf(key);
        await using file = await open(path, 'r');
        const { size } = await file.stat();
        if (size > mostBytes) throw tooLong(key, mostBytes);
        return await file.readFile();
      } catch (error) {
        throw isMissing(error) ? new NoBlobError(key) : error;
      }
    },
    async has(key) {
      try {
        await stat(pathOf(key));
        return true;
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
    },
    async remove(key) {
      await rm(pathOf(key), { force: true });
    },
  };
}

async function writeDurably(path: string, bytes: Buffer): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(bytes);
  await file.sync();
}

/**
 * Makes a directory and all directories above it. Syncs the parent of each new directory, so that
 * the entry is durable.
 */
async function makeDirectory(path: string): Promise<void> {
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) {
    await syncDirectory(dirname(made));
  }
}

async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}
