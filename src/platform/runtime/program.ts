// Version and commit of this program, read from the files when the process started.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Version in package.json, and the commit of the git clone; null without a clone. */
export interface Program {
  version: string;
  commit: string | null;
}

/** Most symbolic references of git to follow: a reference may point to a further reference. */
const mostReferences = 5;
const objectName = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const root = resolve(import.meta.dirname, '..', '..', '..');

/** Returns the text of a file without surrounding white space; null if it cannot be read. */
function textOf(...path: string[]): string | null {
  try {
    return readFileSync(join(...path), 'utf8').trim();
  } catch {
    return null;
  }
}

/**
 * Returns the object name of a reference; null if `packed-refs` lacks the reference. Each line of
 * that file is an object name and a reference.
 */
function packedValue(folder: string, reference: string): string | null {
  const lines = textOf(folder, 'packed-refs')?.split('\n') ?? [];
  const line = lines.find((line) => line.endsWith(` ${reference}`));
  return line?.split(' ')[0] ?? null;
}

/**
 * Returns the commit checked out in a folder, or null. Reads the files of git, because servers may
 * lack the command, and the command refuses a clone of a different account.
 */
export function readCommit(folder: string): string | null {
  const own = join(folder, '.git');
  const link = textOf(own)?.match(/^gitdir: (.+)$/)?.[1];
  const gitFolder = link === undefined ? own : resolve(folder, link);
  // A worktree has a separate HEAD, but shares the branches with the clone.
  const shared = resolve(gitFolder, textOf(gitFolder, 'commondir') ?? '.');
  let value = textOf(gitFolder, 'HEAD');
  for (let followed = 0; value !== null && followed < mostReferences; followed += 1) {
    const reference = value.match(/^ref: (.+)$/)?.[1];
    if (reference === undefined) break;
    value =
      textOf(gitFolder, reference) ?? textOf(shared, reference) ?? packedValue(shared, reference);
  }
  return value !== null && objectName.test(value) ? value : null;
}

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Program;

/** Version and commit of the running program. An upgrade of the files does not change them. */
export const program: Program = { version, commit: readCommit(root) };
