// The tests that are held to plain words: their titles (titles.test.ts) and comments
// (comments.test.ts).
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** Entries of `test/` whose titles and comments are held to plain words: all but the benches. */
export const plainTests = readdirSync(join(root, 'test')).filter((name) => name !== 'bench');

/** Empties quotations: tests on words quote them. */
export const unquoted = (text: string) => text.replaceAll(/"[^"\n]*"/g, '""');

/** Lists the files under a path of the repository that end as `ends` says, or the path itself. */
export function filesUnder(path: string, ends: RegExp): string[] {
  if (ends.test(path)) return [path];
  return readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
    .filter((name) => ends.test(name))
    .map((name) => join(path, name));
}
