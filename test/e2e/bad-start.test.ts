// Reasons that stop a start: one readable line on standard error, nothing on standard output, the
// exit code of docs/commands.md.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliWorkspace, cliWorkspace, initializedWorkspace } from '../support/cli.ts';
import { canMount, mountDisk } from './disk-room.ts';

describe('a start with an invalid configuration', () => {
  let cli: CliWorkspace;
  beforeAll(() => {
    cli = cliWorkspace();
  });
  afterAll(() => cli.close());

  const files: [string, string, RegExp][] = [
    [
      'an unknown key',
      'http:\n  prot: 4025\n',
      /^svc: \/\S+\/bad\.yaml:2:3: http\.prot: .*http\.port/,
    ],
    [
      'a wrong type',
      'http:\n  maxInFlight: many\n',
      /^svc: \/\S+\/bad\.yaml:2:16: http\.maxInFlight: found "many", expected /,
    ],
    [
      'an impossible value',
      'log:\n  level: loud\n',
      /^svc: \/\S+\/bad\.yaml:2:10: log\.level: found "loud", expected /,
    ],
    ['broken YAML', 'http: [\n', /^svc: \/\S+\/bad\.yaml:\d+:\d+: /],
    [
      'a relay without a host',
      'delivery:\n  mode: relay\n',
      /^svc: \/\S+\/bad\.yaml:2:9: delivery\.relay\.host: found nothing, expected a host name/,
    ],
  ];
  it.each(files)('ends with 2 and one line for %s in the file', async (_, text, line) => {
    writeFileSync(join(cli.directory, 'bad.yaml'), text);
    const { code, stdout, stderr } = await cli.run(['daemon', '--config', 'bad.yaml']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(line);
    expect(stderr.trimEnd().split('\n'), stderr).toHaveLength(1);
  });

  const variables: [string, Record<string, string>, RegExp][] = [
    ['an unknown name', { SVC_HTTP_PROT: '1' }, /^svc: SVC_HTTP_PROT: .*SVC_HTTP_PORT/],
    ['a wrong type', { SVC_HTTP_PORT: 'many' }, /^svc: SVC_HTTP_PORT: .*found "many", expected/],
    [
      'malformed JSON',
      { SVC_DNS_SERVERS: '127.0.0.1' },
      /^svc: SVC_DNS_SERVERS: .*expected a list/,
    ],
  ];
  it.each(variables)('ends with 2 and one line for %s in a variable', async (_, env, line) => {
    const { code, stdout, stderr } = await cli.run(['daemon'], { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(line);
    expect(stderr.trimEnd().split('\n'), stderr).toHaveLength(1);
  });
});

describe('a start without its resources', () => {
  let cli: CliWorkspace;
  beforeAll(async () => {
    cli = await initializedWorkspace();
  });
  afterAll(() => cli.close());

  async function failingStart(
    env: Record<string, string>,
    expectedCode = 7,
    { run } = cli,
  ): Promise<string> {
    const { code, stdout, stderr } = await run(['daemon'], { env });
    expect({ code, stdout }, stderr).toEqual({ code: expectedCode, stdout: '' });
    expect(stderr.trimEnd().split('\n'), stderr).toHaveLength(1);
    return stderr;
  }

  describe('a port in use', () => {
    let taken: Server;
    let port: number;
    beforeAll(async () => {
      taken = createServer();
      await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
      const address = taken.address();
      port = typeof address === 'object' && address ? address.port : 0;
    });
    afterAll(() => new Promise((resolve) => taken.close(resolve)));

    const anotherListens = (face: string) =>
      new RegExp(`^svc: .*${face} on 127\\.0\\.0\\.1:${port}: another program listens there`);

    it.each([
      ['HTTP', 'SVC_HTTP_PORT'],
      ['SMTP', 'SVC_SMTP_INBOUND_PORT'],
    ])('ends with 7 and one line for %s', async (face, variable) => {
      expect(await failingStart({ [variable]: String(port) })).toMatch(anotherListens(face));
    });

    it('leaves no thread and no timer that keeps the process alive', async () => {
      const alone = await initializedWorkspace(
        { SVC_HTTP_PORT: String(port) },
        { inProcesses: true },
      );
      expect(await failingStart({}, 7, alone)).toMatch(anotherListens('HTTP'));
      alone.close();
    });
  });

  describe('a damaged database', () => {
    /** Copies the data directory and changes the database in the copy. */
    function damaged(name: string, change: (database: Buffer) => Buffer): string {
      const directory = join(cli.directory, name);
      cpSync(join(cli.directory, 'data'), directory, { recursive: true });
      const file = join(directory, 'svc.db');
      writeFileSync(file, change(readFileSync(file)));
      return directory;
    }

    const pageBytes = 8_192;
    const damages: [string, (database: Buffer) => Buffer][] = [
      ['other bytes', () => Buffer.from('no database at all\n'.repeat(1_000))],
      ['cut off in the middle', (file) => file.subarray(0, 3 * pageBytes)],
      ['noise after the first page', (file) => file.fill(0xab, pageBytes)],
      ['noise in the page that lists the migrations', (file) => noiseAt(file, 'migrations')],
      ['noise in the page that lists the organizations', (file) => noiseAt(file, 'organizations')],
    ];

    function noiseAt(file: Buffer, table: string): Buffer {
      const reader = new Database(join(cli.directory, 'data/svc.db'), { readonly: true });
      const root = reader
        .prepare<[string], { rootpage: number }>(
          'select rootpage from sqlite_master where name = ?',
        )
        .get(table);
      reader.close();
      const start = ((root?.rootpage ?? 1) - 1) * pageBytes;
      return file.fill(0xab, start, start + pageBytes);
    }

    it.each(damages)('ends with 7 and one line for %s', async (name, change) => {
      const directory = damaged(name.replaceAll(' ', '-'), change);
      const line = await failingStart({ SVC_DATA_DIR: directory });
      expect(line).toMatch(/^svc: The store .*(malformed|not a database)/);
    });
  });

  it('ends with 2 for a data directory that cannot be created', async () => {
    writeFileSync(join(cli.directory, 'file'), '');
    const line = await failingStart({ SVC_DATA_DIR: join(cli.directory, 'file/data') }, 2);
    expect(line).toMatch(/^svc: \S+\/file\/data\/secret\.key cannot be read \(ENOTDIR\)/);
  });

  it.runIf(canMount)('ends with 2 for a data directory that cannot be written', async () => {
    const disk = mountDisk(join(cli.directory, 'read-only'), 4);
    disk.makeReadOnly();
    try {
      const line = await failingStart({ SVC_DATA_DIR: disk.directory }, 2);
      expect(line).toMatch(/^svc: \S+\/read-only\/secret\.key cannot be created \(EROFS\)/);
    } finally {
      disk.unmount();
    }
  });

  it.runIf(canMount)('ends with 7 for a store on a file system that became read-only', async () => {
    const disk = mountDisk(join(cli.directory, 'frozen'), 4);
    const data = join(disk.directory, 'data');
    cpSync(join(cli.directory, 'data'), data, { recursive: true });
    disk.makeReadOnly();
    try {
      expect(await failingStart({ SVC_DATA_DIR: data })).toMatch(/^svc: .*(read-?only|EROFS)/i);
    } finally {
      disk.unmount();
    }
  });
});
