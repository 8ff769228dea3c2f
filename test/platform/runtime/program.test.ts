// The commit of a clone, read from the files of git: every form that git gives HEAD and references.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createMetrics } from '../../../src/platform/runtime/metrics.ts';
import { program, readCommit } from '../../../src/platform/runtime/program.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-program-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function git(folder: string, ...words: string[]): string {
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const env = { PATH: process.env.PATH, HOME: directory, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', [...author, ...words], { cwd: folder, env, encoding: 'utf8' }).trim();
}

/** Makes a clone with two commits on a branch with a slash. */
function clone(name: string, ...options: string[]): string {
  const folder = join(directory, name);
  mkdirSync(folder);
  git(folder, 'init', '-q', '-b', 'release/one', ...options);
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'First');
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'Second');
  return folder;
}

const forms: Record<string, () => string> = {
  'a branch': () => clone('branch'),
  'a packed branch': () => {
    const folder = clone('packed');
    git(folder, 'pack-refs', '--all');
    return folder;
  },
  'a branch that moved after it was packed': () => {
    const folder = clone('moved');
    git(folder, 'pack-refs', '--all');
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'Third');
    return folder;
  },
  'a detached HEAD': () => {
    const folder = clone('detached');
    git(folder, 'checkout', '-q', '--detach', 'HEAD~1');
    return folder;
  },
  'a symbolic reference': () => {
    const folder = clone('symbolic');
    git(folder, 'symbolic-ref', 'refs/heads/current', 'refs/heads/release/one');
    git(folder, 'symbolic-ref', 'HEAD', 'refs/heads/current');
    return folder;
  },
  'a worktree': () => {
    const folder = join(directory, 'worktree');
    const main = clone('main');
    git(main, 'worktree', 'add', '-q', '-b', 'topic', folder, 'HEAD~1');
    git(main, 'pack-refs', '--all');
    return folder;
  },
  'object names of SHA-256': () => clone('sha256', '--object-format=sha256'),
};

it.each(Object.entries(forms))('readCommit reads %s', (_form, make) => {
  const folder = make();
  expect(readCommit(folder)).toBe(git(folder, 'rev-parse', 'HEAD'));
});

it.each([
  ['no clone', null],
  ['an unborn branch', 'ref: refs/heads/main\n'],
  ['a loop of references', 'ref: HEAD\n'],
  ['an unknown content', 'deadbeef\n'],
])('readCommit is null for %s', (name, head) => {
  const folder = join(directory, name);
  mkdirSync(join(folder, '.git'), { recursive: true });
  if (head !== null) writeFileSync(join(folder, '.git', 'HEAD'), head);
  expect(readCommit(folder)).toBeNull();
});

it('the metrics name the running version and commit', async () => {
  const { version, commit } = program;
  expect(await createMetrics().registry.metrics()).toContain(
    `svc_build_info{version="${version}",commit="${commit ?? ''}"} 1\n`,
  );
});
