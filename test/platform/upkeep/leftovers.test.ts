// Files that a killed process leaves beside a database: SQLite would apply them to the next
// database of that name. And the lock of a file that two processes write.
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { ConflictError } from '../../../src/platform/errors.ts';
import { systemClock } from '../../../src/platform/runtime/clock.ts';
import { systemRandom } from '../../../src/platform/runtime/random.ts';
import { openStore } from '../../../src/platform/store/open.ts';
import { lockTarget } from '../../../src/platform/store/sqlite/file-lock.ts';
import { saveBackup } from '../../../src/platform/upkeep/backup.ts';
import { copyPostgres } from '../../../src/platform/upkeep/copying/from-postgres.ts';
import { digestsOfFile } from '../../../src/platform/upkeep/copying/tables.ts';
import { loadIntoPostgres } from '../../../src/platform/upkeep/copying/to-postgres.ts';
import { emptyStore } from '../../../src/platform/upkeep/empty-store.ts';
import { restoreBackup } from '../../../src/platform/upkeep/restore.ts';
import { restoreToPostgres } from '../../../src/platform/upkeep/restore-to-postgres.ts';
import { repository } from '../../support/cli.ts';
import { type PostgresSchema, postgresSchema } from '../../support/postgres.ts';

const world = mkdtempSync(join(tmpdir(), 'svc-leftovers-'));
const journal = join(world, 'hot-journal');
const backup = join(world, 'backup.db');
const silent = () => {};
let full: PostgresSchema;
let empty: PostgresSchema;
let directory: string;

/** Makes the journal of a transaction that was killed after it wrote pages. */
function makeHotJournal(): void {
  const file = join(world, 'killed.db');
  const database = new Database(file);
  database.pragma('page_size = 8192');
  database.pragma('cache_size = 5');
  database.exec('create table killed (text text)');
  const insert = database.prepare('insert into killed values (?)');
  const fill = () => {
    for (let n = 0; n < 200; n++) insert.run('x'.repeat(1_000));
  };
  database.transaction(fill)();
  database.exec('begin; update killed set text = text || text');
  fill();
  copyFileSync(`${file}-journal`, journal);
  database.close();
}

beforeAll(async () => {
  makeHotJournal();
  const file = join(world, 'svc.db');
  await (await openStore({ url: `sqlite:${file}` }, world, systemClock)).close();
  await saveBackup({ kind: 'sqlite', file }, backup, { overwrite: false, onProgress: silent });
  full = await postgresSchema(inject('postgresUrl'));
  await loadIntoPostgres(backup, full, silent);
  empty = await postgresSchema(inject('postgresUrl'));
});
afterAll(async () => {
  await full.drop();
  await empty.drop();
  rmSync(world, { recursive: true });
});

beforeEach(() => {
  directory = mkdtempSync(join(world, 'test-'));
});

const target = () => ({
  secretFile: null,
  clock: systemClock,
  random: systemRandom(),
  changes: [],
});
const inDirectory = (name: string) => join(directory, name);
const options = { overwrite: true, digests: true, onProgress: silent };

/** Each work that writes a database of a fixed name, with that name. */
const works: [string, string, (file: string) => Promise<unknown> | unknown, string | null][] = [
  [
    'svc backup',
    'copy.db.partial',
    () => saveBackup({ kind: 'sqlite', file: backup }, inDirectory('copy.db'), options),
    'copy.db',
  ],
  [
    'svc backup from PostgreSQL',
    'copy.db.partial',
    () => {
      const source = { kind: 'postgres', database: full, clock: systemClock } as const;
      return saveBackup(source, inDirectory('copy.db'), options);
    },
    'copy.db',
  ],
  [
    'a copy from PostgreSQL',
    'copy.db',
    (file) => copyPostgres(full, file, { clock: systemClock, onProgress: silent }),
    'copy.db',
  ],
  [
    'svc restore',
    'svc.db.restoring',
    () => restoreBackup(backup, { ...target(), file: inDirectory('svc.db') }),
    'svc.db',
  ],
  [
    'svc restore to PostgreSQL',
    'restoring.db',
    () => {
      const more = { database: empty, dataDir: directory, onProgress: silent };
      return restoreToPostgres(backup, { ...target(), ...more });
    },
    null,
  ],
  [
    'a first start after svc dev reset',
    'svc.db',
    async (file) => {
      writeFileSync(file, '');
      await emptyStore({ url: `sqlite:${file}` }, directory, systemClock);
      copyFileSync(backup, file);
    },
    'svc.db',
  ],
];

describe.each(works)('%s', (_name, file, work, made) => {
  it('ignores the files of a killed process', async () => {
    copyFileSync(journal, inDirectory(`${file}-journal`));
    for (const suffix of ['-wal', '-shm'])
      writeFileSync(inDirectory(`${file}${suffix}`), Buffer.alloc(40_000, 7));
    await work(inDirectory(file));
    if (made === null) return;
    expect(digestsOfFile(inDirectory(made))).toEqual(digestsOfFile(backup));
    expect(readdirSync(directory).filter((name) => name.includes('journal'))).toEqual([]);
  });
});

it('names the files beside a database in one place', () => {
  const found = ['src', 'commands', 'daemon'].flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`)
      .filter((path) =>
        /-(?:shm|journal)\b[`']/.test(readFileSync(join(repository, path), 'utf8')),
      ),
  );
  expect(found).toEqual(['src/platform/store/sqlite/database-files.ts']);
});

describe('the lock of a written file', () => {
  it('refuses a second backup to one file, and leaves the first alone', async () => {
    const copy = inDirectory('copy.db');
    let refused: unknown;
    const onProgress = () => {
      refused ??= saveBackup({ kind: 'sqlite', file: backup }, copy, options).catch(
        (error: unknown) => error,
      );
    };
    await saveBackup({ kind: 'sqlite', file: backup }, copy, { ...options, onProgress });
    const error = await refused;
    expect(error).toBeInstanceOf(ConflictError);
    expect((error as Error).message).toBe(
      `Another backup writes ${copy} now: wait for its end, or name another file`,
    );
    expect(digestsOfFile(copy)).toEqual(digestsOfFile(backup));
    expect(readdirSync(directory)).toEqual(['copy.db']);
  });

  it('refuses a second restore to PostgreSQL beside the first', async () => {
    const lock = lockTarget(inDirectory('restoring.db'));
    const more = { database: empty, dataDir: directory, onProgress: silent };
    await expect(restoreToPostgres(backup, { ...target(), ...more })).rejects.toThrow(
      'Another restore is under way',
    );
    lock?.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('does not outlive a killed process', async () => {
    const module = join(repository, 'src/platform/store/sqlite/file-lock.ts');
    const script = `
      const { lockTarget } = await import(${JSON.stringify(module)});
      globalThis.held = lockTarget(${JSON.stringify(inDirectory('copy.db'))});
      console.log(globalThis.held ? 'held' : 'refused');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    expect(lockTarget(inDirectory('copy.db'))).toBeNull();
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    expect(existsSync(inDirectory('copy.db.lock'))).toBe(true);
    const lock = lockTarget(inDirectory('copy.db'));
    expect(lock).not.toBeNull();
    lock?.release();
    expect(readdirSync(directory)).toEqual([]);
  });
});
