// svc backup and restore: a round trip, and the requests that they refuse to protect data.
import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '../../src/platform/store/migrate.ts';
import { saveBackup } from '../../src/platform/upkeep/backup.ts';
import { digestsOfFile } from '../../src/platform/upkeep/copying/tables.ts';
import { type CliWorkspace, initializedWorkspace, svc } from '../support/cli.ts';

let cli: CliWorkspace;
let store: string;
let backup: string;

beforeEach(async () => {
  cli = await initializedWorkspace();
  store = join(cli.directory, 'data/svc.db');
  backup = join(cli.directory, 'backup.db');
  await cli.json(['orgs', 'create', '--name', 'before', '--plan', 'free']);
});
afterEach(() => cli.close());

async function organizations(): Promise<string[]> {
  const { items } = await cli.json<{ items: { name: string }[] }>(['orgs', 'list']);
  return items.map(({ name }) => name);
}

it('a restore brings back the backed-up store, and keeps the replaced one', async () => {
  const made = await cli.json<{ file: string; bytes: number }>(['backup', 'backup.db']);
  expect(made).toMatchObject({ success: true, file: backup, bytes: statSync(backup).size });
  expect(statSync(backup).mode & 0o777).toBe(0o600);
  await cli.json(['orgs', 'create', '--name', 'after', '--plan', 'free']);

  const restored = await cli.json<{ keptAs: string }>(['restore', 'backup.db', '--yes']);
  expect(await organizations()).toEqual(['default', 'before']);
  const kept = new Database(restored.keptAs, { readonly: true });
  expect(kept.prepare('select name from organizations order by id').pluck().all()).toEqual([
    'default',
    'before',
    'after',
  ]);
  kept.close();
  expect(readdirSync(join(cli.directory, 'data')).filter((name) => /restor/.test(name))).toEqual([
    expect.stringMatching(/^svc\.db\.before-restore-[-\dT.Z]+$/),
  ]);
});

it('a backup, its journal and its log have mode 600 from their first byte', async () => {
  const modes = new Set<string>();
  const note = () => {
    for (const name of readdirSync(cli.directory).filter((file) => file.startsWith('backup.db'))) {
      modes.add((statSync(join(cli.directory, name)).mode & 0o777).toString(8));
    }
  };
  const before = process.umask(0);
  try {
    writeFileSync(`${backup}.partial`, '', { mode: 0o666 });
    writeFileSync(backup, '', { mode: 0o666 });
    const options = { overwrite: true, secret: undefined, onProgress: note };
    const saving = saveBackup({ kind: 'sqlite', file: store }, backup, options);
    rmSync(backup);
    await saving;
    note();
  } finally {
    process.umask(before);
  }
  expect([...modes]).toEqual(['600']);
});

it('a backup of a store under writes succeeds, and leaves no partial file', async () => {
  const writers = ['a', 'b', 'c'].map((name) =>
    cli.json(['orgs', 'create', '--name', name, '--plan', 'free']),
  );
  const result = await cli.run(['backup', 'backup.db']);
  await Promise.all(writers);
  expect(result).toMatchObject({ code: 0, stderr: 'copied 100 %\n' });
  expect(readdirSync(cli.directory).filter((name) => name.startsWith('backup'))).toEqual([
    'backup.db',
  ]);
  const copy = new Database(backup, { readonly: true });
  expect(copy.pragma('integrity_check', { simple: true })).toBe('ok');
  copy.close();
});

it('a backup replaces a file only with --overwrite', async () => {
  writeFileSync(backup, 'precious');
  const refused = await cli.run(['backup', 'backup.db']);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain('exists already: --overwrite replaces it\n');
  expect(readFileSync(backup, 'utf8')).toBe('precious');
  expect((await cli.run(['backup', 'backup.db', '--overwrite'])).code).toBe(0);
  expect(statSync(backup).size).toBeGreaterThan(100_000);
});

it('a restore creates the store in an empty data directory', async () => {
  await cli.run(['backup', 'backup.db', '--with-secret']);
  const env = { SVC_DATA_DIR: join(cli.directory, 'new') };
  expect(await cli.json(['restore', 'backup.db', '--yes'], { env })).toMatchObject({
    keptAs: null,
    secret: 'restored',
  });
  expect(await cli.json(['orgs', 'show', 'before'], { env })).toMatchObject({ name: 'before' });
});

describe('secret.key', () => {
  const secretIn = (name: string) => join(cli.directory, name, 'secret.key');

  it('is left out of a backup, which names it', async () => {
    const { stdout } = await cli.run(['backup', 'backup.db']);
    expect(stdout).toContain(`The backup lacks ${secretIn('data')}`);
    expect(readFileSync(backup).includes(readFileSync(secretIn('data')))).toBe(false);
  });

  it('is carried with --with-secret, into its own file and out of the store', async () => {
    const secret = readFileSync(secretIn('data'));
    const made = await cli.run(['backup', 'backup.db', '--with-secret']);
    expect(made.stdout).not.toContain('The backup lacks');
    const env = { SVC_DATA_DIR: join(cli.directory, 'new') };
    await cli.json(['init'], { env });
    const other = readFileSync(secretIn('new'));
    await cli.json(['restore', 'backup.db', '--yes'], { env });
    expect(readFileSync(secretIn('new'))).toEqual(secret);
    expect(statSync(secretIn('new')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(cli.directory, 'new/svc.db')).includes(secret)).toBe(false);
    const kept = readdirSync(join(cli.directory, 'new')).find((name) =>
      name.startsWith('secret.key.before-restore-'),
    );
    expect(readFileSync(join(cli.directory, 'new', kept ?? ''))).toEqual(other);
  });

  it('is reported as missing after a restore without it', async () => {
    await cli.run(['backup', 'backup.db']);
    const env = { SVC_DATA_DIR: join(cli.directory, 'new') };
    const { code, stderr } = await cli.run(['restore', 'backup.db', '--yes'], { env });
    expect(code).toBe(0);
    expect(stderr).toContain(`${secretIn('new')} is missing`);
    copyFileSync(secretIn('data'), secretIn('new'));
    chmodSync(secretIn('new'), 0o600);
    expect((await cli.run(['orgs', 'show', 'before'], { env })).code).toBe(0);
  });
});

it('backup - writes to standard output, and leaves no copy beside the store', async () => {
  const script = `"${svc}" backup - --with-secret > piped.db`;
  await promisify(execFile)('sh', ['-c', script], { cwd: cli.directory, env: { ...cli.env } });
  expect(await cli.json(['backup', 'verify', 'piped.db'])).toMatchObject({ hasSecret: true });
  const left = readdirSync(join(cli.directory, 'data'));
  expect(left.filter((name) => name.includes('.backup-'))).toEqual([]);
  expect((await cli.run(['backup', '-', '--json'])).code).toBe(2);
});

it("backup verify reports a backup's migration and secret, and does not change it", async () => {
  await cli.run(['backup', 'backup.db']);
  const before = readFileSync(backup);
  expect(await cli.json(['backup', 'verify', 'backup.db'])).toEqual({
    valid: true,
    file: backup,
    migration: migrations.at(-1)?.name,
    hasSecret: false,
    tables: digestsOfFile(store),
  });
  expect(readFileSync(backup)).toEqual(before);
  expect((await cli.run(['backup', 'verify', 'nowhere.db'])).code).toBe(2);
});

it('backup --verify checks the copy before it replaces an earlier one', async () => {
  const made = await cli.json<{ verified: boolean }>(['backup', 'backup.db', '--verify']);
  expect(made.verified).toBe(true);
  const before = readFileSync(backup);
  // Pages without an owner: every row can still be read.
  const damaged = new Database(store);
  damaged.unsafeMode();
  damaged.pragma('writable_schema = on');
  damaged.exec("delete from sqlite_master where type = 'index' and sql is not null");
  damaged.close();
  const refused = await cli.run(['backup', 'backup.db', '--overwrite', '--verify']);
  expect(refused.code).toBe(8);
  expect(refused.stderr).toMatch(/is damaged/);
  expect(readFileSync(backup)).toEqual(before);
  expect(readdirSync(cli.directory).filter((name) => name.includes('partial'))).toEqual([]);
  expect((await cli.run(['backup', '-', '--verify'])).code).toBe(2);
  expect((await cli.run(['backup', 'backup.db', '--overwrite'])).code).toBe(0);
});

it.skipIf(process.getuid?.() !== 0)('a restore by root keeps owner and mode', async () => {
  await cli.run(['backup', 'backup.db', '--with-secret']);
  rmSync(join(cli.directory, 'data/secret.key'));
  chownSync(store, 1234, 2345);
  chmodSync(store, 0o640);
  await cli.json(['restore', 'backup.db', '--yes']);
  const ownerOf = (name: string) => {
    const { uid, gid } = statSync(join(cli.directory, 'data', name));
    return [name, uid, gid];
  };
  expect(statSync(store).mode & 0o777).toBe(0o640);
  expect(['svc.db', 'svc.db.daemon', 'secret.key'].map(ownerOf)).toEqual([
    ['svc.db', 1234, 2345],
    ['svc.db.daemon', 1234, 2345],
    ['secret.key', 1234, 2345],
  ]);
});

it('a restore replaces a damaged store', async () => {
  await cli.run(['backup', 'backup.db']);
  writeFileSync(store, 'no database at all\n'.repeat(1_000));
  expect((await cli.run(['orgs', 'list'])).code).toBe(7);
  expect((await cli.run(['restore', 'backup.db', '--yes'])).code).toBe(0);
  expect(await organizations()).toEqual(['default', 'before']);
});

const unsound: [string, (file: string) => void, RegExp][] = [
  ['is not a database', (file) => writeFileSync(file, 'text\n'.repeat(9_000)), /cannot be read/],
  [
    'is another program’s',
    (file) => new Database(file).exec('create table t (a)').close(),
    /not a store of svc/,
  ],
  [
    'is damaged',
    (file) => {
      copyFileSync(store, file);
      const bytes = readFileSync(file);
      bytes.fill(0xff, 3 * 8192, 20 * 8192);
      writeFileSync(file, bytes);
    },
    /is damaged|cannot be read/,
  ],
  [
    'is of a newer version',
    (file) => {
      copyFileSync(store, file);
      const database = new Database(file);
      database.exec("insert into migrations values ('9999-future', 1)");
      database.close();
    },
    /newer version/,
  ],
  [
    'is of a version from before the first release',
    (file) => {
      copyFileSync(store, file);
      const database = new Database(file);
      database.exec("update migrations set name = '0001-schema'");
      database.close();
    },
    /before the first release.*use commit [0-9a-f]{12}, the last that opens it/,
  ],
];

it.each(unsound)('a restore refuses a file that %s, and changes nothing', async (_, make, why) => {
  make(backup);
  const { code, stderr } = await cli.run(['restore', 'backup.db', '--yes']);
  expect(code).toBe(2);
  expect(stderr).toMatch(why);
  const verified = await cli.run(['backup', 'verify', 'backup.db']);
  expect(verified.code).toBe(8);
  expect(verified.stderr).toMatch(why);
  expect(await organizations()).toEqual(['default', 'before']);
  expect(existsSync(`${store}.restoring`)).toBe(false);
});

it('a restore is refused while another command uses the store', async () => {
  await cli.run(['backup', 'backup.db']);
  const other = new Database(store);
  other.prepare('select count(*) from organizations').get();
  const { code, stderr } = await cli.run(['restore', 'backup.db', '--yes']);
  other.close();
  expect(code).toBe(5);
  expect(stderr).toContain('Another command uses');
  expect(await organizations()).toEqual(['default', 'before']);
});

it('backup and restore of a PostgreSQL that cannot be reached leave nothing behind', async () => {
  await cli.json(['backup', 'good.db']);
  const env = { SVC_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/d' };
  const files = () => [cli.directory, join(cli.directory, 'data')].flatMap((at) => readdirSync(at));
  const before = files();
  for (const command of [
    ['backup', 'backup.db'],
    ['restore', 'good.db', '--yes'],
    ['migrate', 'copy', '--to', 'sqlite:new.db'],
  ]) {
    const { code, stderr } = await cli.run(command, { env });
    expect([code, stderr]).toEqual([7, expect.stringContaining('PostgreSQL cannot be reached')]);
  }
  expect(files()).toEqual(before);
});

it.each([
  ['sqlite:other.db', 'copy it by svc backup'],
  ['mysql://host/db', 'expected postgres://USER@HOST/DATABASE or sqlite:FILE'],
])('migrate copy refuses --to %s', async (to, words) => {
  const { code, stderr } = await cli.run(['migrate', 'copy', '--to', to]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
});

it('migrate status lists the migrations of the store with their times', async () => {
  const { items } = await cli.json<{ items: { appliedAt: string }[] }>(['migrate', 'status']);
  const appliedAt = expect.stringMatching(/Z$/);
  expect(items).toEqual(migrations.map(({ name }) => ({ name, appliedAt })));
});
