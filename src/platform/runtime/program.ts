// Version and commit of this program, as its files were at the start of the process.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Version of package.json, and the commit of a clone of git; null without a clone. */
export interface Program {
  version: string;
  commit: string | null;
}

/** A symbolic reference may name another symbolic reference. */
const mostReferences = 5;
const objectName = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const root = resolve(import.meta.dirname, '..', '..', '..');

/** Returns the content of a file without surrounding spaces; null if it cannot be read. */
function textOf(...path: string[]): string | null {
  try {
    return readFileSync(join(...path), 'utf8').trim();
  } catch {
    return null;
  }
}

/** Returns the value of a reference in `packed-refs`: lines of an object name and a reference. */
function packedValue(folder: string, reference: string): string | null {
  const lines = textOf(folder, 'packed-refs')?.split('\n') ?? [];
  const line = lines.find((line) => line.endsWith(` ${reference}`));
  return line?.split(' ')[0] ?? null;
}

/**
 * Returns the commit checked out in a folder, or null. Reads the files of git: a server may lack
 * the command, and the command refuses a clone of a different account.
 */
export function readCommit(folder: string): string | null {
  const own = join(folder, '.git');
  const link = textOf(own)?.match(/^gitdir: (.+)$/)?.[1];
  const gitFolder = link === undefined ? own : resolve(folder, link);
  // A worktree has its own HEAD and shares the branches with the clone.
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

/** The running program: an upgrade of the files below a daemon leaves it as it is. */
export const program: Program = { version, commit: readCommit(root) };
