// Files that cannot be written, for every command that writes files: the error names the file and
// the cause.
// Slow: each command that writes a file meets each obstacle.
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { commandsFolder, listCommandIds } from '../../commands/base/input/typed.ts';
import { canMount, mountDisk, type SmallDisk } from '../e2e/disk-room.ts';
import { type CliWorkspace, finished, initializedWorkspace, svc } from '../support/cli.ts';
import { postgresSchema } from '../support/postgres.ts';

/** Commands that write a file that they are given, with the words for it. */
const toPaths: Readonly<Record<string, (path: string) => string[]>> = {
  backup: (path) => [path],
  'blocks:export': (path) => ['--output', path],
  'contacts:export': (path) => ['--output', path],
  init: (path) => ['--production', '--domain', 'example.com', '--config', path],
  'templates:clone': (path) => ['welcome', path],
  'templates:render': (path) => ['welcome', '--output', path],
};

/**
 * Commands that write beside the store, into a folder of their own or where another command has
 * written.
 */
const elsewhere: Readonly<Record<string, string>> = {
  'dev:reset': 'the store',
  'migrate:copy': 'a copy of the store',
  rehearse: 'TMPDIR',
  restore: 'the store',
  'storage:compact': 'the store',
  'templates:pull': 'the folder of templates:clone',
  'templates:push': 'the folder of templates:clone',
};

const writes =
  /\b(?:writeFileSync|writeFile|writeTextFile|writeFiles|mkdtempSync|saveBackup|restoreBackup|restoreToPostgres|emptyStore|compactSqlite|writeState|runProduction)\(/;

let cli: CliWorkspace;
const disks: SmallDisk[] = [];
beforeAll(async () => {
  cli = await initializedWorkspace();
  const texts = ['--subject', 'Hello', '--html', '<p>first</p>'];
  await cli.json(['templates', 'create', '--slug', 'welcome', ...texts]);
  await cli.json(['templates', 'publish', 'welcome']);
  await cli.json(['contacts', 'create', '--data', '{"email":"ada@example.com"}']);
  await cli.json(['backup', 'backup.db', '--with-secret']);
  mkdirSync(join(cli.directory, 'folder/full'), { recursive: true });
  writeFileSync(join(cli.directory, 'file'), '');
  if (!canMount) return;
  const full = mountDisk(join(cli.directory, 'full'), 1);
  full.fill();
  const readOnly = mountDisk(join(cli.directory, 'read-only'), 1);
  readOnly.makeReadOnly();
  disks.push(full, readOnly);
});
afterAll(() => {
  for (const disk of disks) disk.unmount();
  cli.close();
});

it('every command that writes a file is listed', () => {
  const found = listCommandIds().filter((id) =>
    writes.test(readFileSync(join(commandsFolder, `${id.replaceAll(':', '/')}.ts`), 'utf8')),
  );
  expect(found).toEqual([...Object.keys(toPaths), ...Object.keys(elsewhere)].toSorted());
});

const places: [string, string, boolean][] = [
  ['in a missing folder', 'none/made', true],
  ['below a file', 'file/made', true],
  ['that is a folder with files', 'folder', true],
  ['on a read-only disk', 'read-only/made', canMount],
  ['on a full disk', 'full/made', canMount],
];

describe.each(Object.keys(toPaths))('svc %s', (id) => {
  it.each(places.filter(([, , isPossible]) => isPossible))('names a file %s', async (_, place) => {
    const path = join(cli.directory, place);
    const words = [...id.split(':'), ...(toPaths[id]?.(path) ?? [])];
    // It makes a missing folder.
    const isMade = id === 'templates:clone' && place.startsWith('none');
    const { code, stderr } = await cli.run([...words, '--json']);
    if (isMade) {
      expect(code).toBe(0);
      rmSync(join(cli.directory, 'none'), { recursive: true });
      return;
    }
    const { _tag: tag, message } = JSON.parse(stderr) as { _tag: string; message: string };
    expect({ tag, code, message }).toMatchObject({
      tag: expect.stringMatching(
        /^(?:UnreachableError|ValidationError|ConflictError|ConfigError)$/,
      ),
      message: expect.stringContaining(path),
    });
    expect(code).toBe(tag === 'UnreachableError' ? 7 : tag === 'ConflictError' ? 5 : 2);
    expect(existsSync(`${path}.partial`)).toBe(false);
  });
});

describe.skipIf(!canMount)('on a full disk', () => {
  const onFull = (name: string) => join(cli.directory, 'full', name);
  const failure = (stderr: string) =>
    JSON.parse(stderr.slice(stderr.indexOf('{'))) as { _tag: string; message: string };

  it('svc restore says so, and leaves nothing there', async () => {
    const env = { SVC_DATABASE_URL: `sqlite:${onFull('svc.db')}` };
    const { code, stderr } = await cli.run(['restore', 'backup.db', '--yes', '--json'], { env });
    expect([code, failure(stderr)]).toEqual([
      7,
      { _tag: 'UnreachableError', message: expect.stringContaining(onFull('svc.db')) },
    ]);
    expect(existsSync(onFull('svc.db'))).toBe(false);
  });

  it('svc restore to PostgreSQL and svc backup from it say so', async () => {
    const [schema, other] = [
      await postgresSchema(inject('postgresUrl')),
      await postgresSchema(inject('postgresUrl')),
    ];
    try {
      const env = { SVC_DATABASE_URL: schema.url };
      await cli.json(['restore', 'backup.db', '--yes'], { env });
      const saved = await cli.run(['backup', onFull('copy.db'), '--json'], { env });
      expect([saved.code, failure(saved.stderr)]).toEqual([
        7,
        { _tag: 'UnreachableError', message: expect.stringContaining(onFull('copy.db')) },
      ]);
      const restored = await cli.run(['restore', 'backup.db', '--yes', '--json'], {
        env: { SVC_DATABASE_URL: other.url, SVC_DATA_DIR: onFull('') },
      });
      expect([restored.code, failure(restored.stderr)._tag]).toEqual([7, 'UnreachableError']);
    } finally {
      await schema.drop();
      await other.drop();
    }
  });

  it('svc rehearse says so', async () => {
    const child = spawn(svc, ['rehearse', '--json'], {
      cwd: cli.directory,
      env: { ...cli.env, TMPDIR: join(cli.directory, 'full') },
    });
    const { code, stderr } = await finished(child);
    expect([code, failure(stderr)._tag]).toEqual([7, 'UnreachableError']);
  });
});

it.skipIf(!canMount)(
  'a store on a read-only disk is named by the commands that rewrite it',
  async () => {
    const folder = mkdtempSync(join(cli.directory, 'store-'));
    const disk = mountDisk(join(folder, 'disk'), 20);
    try {
      cpSync(join(cli.directory, 'data'), join(folder, 'disk/data'), { recursive: true });
      disk.makeReadOnly();
      const env = { SVC_DATA_DIR: join(folder, 'disk/data') };
      for (const words of [
        ['dev', 'reset', '--yes'],
        ['storage', 'compact'],
        ['restore', 'backup.db', '--yes'],
        ['keys', 'list'],
      ]) {
        const { code, stderr } = await cli.run([...words, '--json'], { env });
        const { _tag: tag } = JSON.parse(stderr.slice(stderr.indexOf('{'))) as { _tag: string };
        expect([words, code, tag]).toEqual([words, 7, 'UnreachableError']);
      }
    } finally {
      disk.unmount();
    }
  },
);

it.skipIf(!canMount)('svc templates pull names a clone on a read-only disk', async () => {
  await cli.json(['templates', 'clone', 'welcome', 'other']);
  const disk = mountDisk(join(cli.directory, 'clones'), 2);
  try {
    const clone = join(cli.directory, 'clones/one');
    await cli.json(['templates', 'clone', 'welcome', clone]);
    disk.makeReadOnly();
    writeFileSync(join(cli.directory, 'other/body.html'), '<p>second</p>');
    await cli.json(['templates', 'push', 'other']);
    const { code, stderr } = await cli.run(['templates', 'pull', clone, '--json']);
    expect([code, JSON.parse(stderr)]).toEqual([
      7,
      { _tag: 'UnreachableError', message: expect.stringContaining(clone) },
    ]);
  } finally {
    disk.unmount();
  }
});
