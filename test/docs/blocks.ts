// The blocks of commands in README.md and the pages for users, and the marks behind their ```sh:
//
//   run              typed as printed by readme-run.test.ts, in order, beside a daemon
//   run stopped      the same, after the daemon was stopped
//   run endless      each line until its first output, then Ctrl-C
//   tried in FILE    run by that test
//   needs …          not run, for one of the reasons below
import { type Fence, userPages } from './markdown.ts';

/** The only reasons for which a block is not run. */
export const reasons: readonly string[] = [
  'needs a clone',
  'needs a real domain',
  'needs a terminal',
  'needs another machine',
  'needs root',
];

export interface Block extends Fence {
  /** File of the page. */
  page: string;
}

/** Returns the fences of all pages, in their order. */
export function allFences(): Block[] {
  return userPages().flatMap(({ name, fences }) =>
    fences.map((fence) => ({ ...fence, page: name })),
  );
}

/** Returns the fault of the mark of a block of commands, or null. `tests` are the known tests. */
export function markFault({ marks }: Fence, tests: ReadonlyMap<string, string>): string | null {
  const mark = marks.join(' ');
  if (['run', 'run stopped', 'run endless'].includes(mark) || reasons.includes(mark)) return null;
  const [, file] = /^tried in (\S+)$/.exec(mark) ?? [];
  if (file === undefined) return `"${mark}" is no mark`;
  return tests.has(file) ? null : `there is no test ${file}`;
}
