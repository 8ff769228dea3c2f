// The `git` of this machine, without its settings, and repositories for it.
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflateSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { readObjects } from '../../../src/content/git/repository.ts';
import type { Db } from '../../../src/platform/store/db.ts';

const run = promisify(execFile);

/** Whether this machine has git. */
export const hasGit = spawnSync('git', ['--version']).status === 0;
if (!hasGit) process.stderr.write('git is not installed: its tests are skipped\n');

const env = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
  LC_ALL: 'C',
};

/** Makes a folder for the running test. */
export function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'svc-git-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Runs git in a folder; returns what it prints, on both streams. Throws if it fails. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await run('git', args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  return (stdout + stderr).trim();
}

/** Runs git, which must fail; returns its complaint. */
export async function failingGit(cwd: string, ...args: string[]): Promise<string> {
  return git(cwd, ...args).then(
    (text) => {
      throw new Error(`git ${args.join(' ')} succeeded: ${text}`);
    },
    (error: { stderr?: string }) => error.stderr ?? '',
  );
}

/**
 * Writes objects of a stored repository as loose files, with main at `head`; returns the folder.
 */
export async function looseRepository(
  db: Db,
  repositoryId: string,
  head: string,
  oids: readonly string[],
): Promise<string> {
  const dir = scratch();
  await git(dir, 'init', '--bare', '--initial-branch=main', '.');
  for (const { oid, type, body } of (await readObjects(db, repositoryId, oids)).values()) {
    const whole = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
    if (createHash('sha1').update(whole).digest('hex') !== oid) throw new Error(`${oid} is wrong`);
    mkdirSync(join(dir, 'objects', oid.slice(0, 2)), { recursive: true });
    writeFileSync(join(dir, 'objects', oid.slice(0, 2), oid.slice(2)), deflateSync(whole));
  }
  writeFileSync(join(dir, 'refs', 'heads', 'main'), `${head}\n`);
  return dir;
}
