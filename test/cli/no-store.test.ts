// Commands without a store: none creates one, and their errors lead to the right one.
// Slow: each command runs several times.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type CliWorkspace, cliWorkspace, finished, svc } from '../support/cli.ts';
import { postgresSchema } from '../support/postgres.ts';

let cli: CliWorkspace;
beforeEach(() => {
  cli = cliWorkspace();
});
afterEach(() => cli.close());

const inData = (name: string) => join(cli.directory, 'data', name);

describe('a missing store', () => {
  it.each([
    'senders list',
    'keys create --role owner',
    'domains add example.com',
    'messages send --to a@simulator.test --subject S --text T',
    'queue top',
    'orgs list',
    'migrate status',
    'backup copy.db',
    'migrate copy --to postgres://127.0.0.1:1/d',
    'storage move --to filesystem',
    'storage compact',
  ])('makes svc %s end with 7, and is not created', async (words) => {
    const { code, stdout, stderr } = await cli.run(words.split(' '));
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toContain(`There is no store at ${inData('svc.db')}.`);
    expect(existsSync(inData(''))).toBe(false);
  });

  it('is reported with the searched configuration files, and the ways to name another', async () => {
    const { stderr } = await cli.run(['keys', 'list']);
    expect(stderr).toContain(join(cli.directory, 'config.yaml'));
    expect(stderr).toContain(join(cli.directory, '.config/svc/config.yaml'));
    expect(stderr).toContain('/etc/svc/config.yaml');
    for (const way of ['--config FILE', 'SVC_CONFIG', 'SVC_DATA_DIR', '"svc init"']) {
      expect(stderr).toContain(way);
    }
    writeFileSync(join(cli.directory, 'config.yaml'), 'http:\n  port: 0\n');
    const withFile = await cli.run(['keys', 'list', '--json']);
    expect(withFile.code).toBe(7);
    expect(JSON.parse(withFile.stderr)).toEqual({
      _tag: 'UnreachableError',
      message: expect.stringContaining(
        `Configuration file: ${join(cli.directory, 'config.yaml')}.`,
      ),
    });
  });

  it('is named by config show --origin before it exists', async () => {
    const { stdout } = await cli.run(['config', 'show', '--origin']);
    const [store, file, ...places] = stdout.split('\n');
    expect(store).toBe(`store: ${inData('svc.db')} (does not exist yet)`);
    expect(file).toBe('file:  none, using the defaults; looked for');
    expect(places[0]).toBe(`       ${join(cli.directory, 'config.yaml')}`);
    const long = stdout
      .split('\n')
      .filter((line) => line.endsWith('  default') && line.length > 80);
    expect(long.length).toBeLessThan(6);
    await cli.json(['init']);
    expect(await cli.json(['config', 'show', '--origin'])).toMatchObject({
      store: inData('svc.db'),
      file: null,
    });
  });

  it('is also an empty file', async () => {
    await cli.json(['init']);
    writeFileSync(inData('svc.db'), '');
    rmSync(inData('svc.db-wal'), { force: true });
    const { code, stderr } = await cli.run(['keys', 'list']);
    expect(code).toBe(7);
    expect(stderr).toContain('There is no store at');
  });

  it('leaves the database on PostgreSQL empty', async () => {
    const schema = await postgresSchema(inject('postgresUrl'));
    const env = { SVC_DATABASE_URL: schema.url };
    try {
      const { code, stderr } = await cli.run(['keys', 'list'], { env });
      expect(code).toBe(7);
      expect(stderr).toMatch(/There is no store at postgres(ql)?:\/\/[^@\s]+\.\n/);
      await cli.json(['init'], { env });
      expect((await cli.run(['keys', 'list'], { env })).code).toBe(0);
    } finally {
      await schema.drop();
    }
  });
});

describe('a store that this account may not read', () => {
  it('is not reported as missing', async () => {
    mkdirSync(inData(''));
    symlinkSync('svc.db', inData('svc.db'));
    const { code, stderr } = await cli.run(['keys', 'list']);
    expect([code, stderr]).toEqual([
      7,
      expect.stringContaining(`The store ${inData('svc.db')} cannot be read (ELOOP`),
    ]);
    expect(stderr).not.toContain('There is no store');
  });

  // Another account can run the command only where it can read the program: not in a folder of
  // mktemp.
  const isForAll = (statSync(join(svc, '../..')).mode & 0o5) === 0o5;
  it.skipIf(process.getuid?.() !== 0 || !isForAll)(
    'leads to the account of the daemon',
    async () => {
      await cli.json(['init']);
      chmodSync(cli.directory, 0o755);
      const nobody = { uid: 65_534, gid: 65_534 };
      const child = spawn(svc, ['keys', 'list'], { cwd: '/', env: cli.env, ...nobody });
      const { code, stderr } = await finished(child);
      expect([code, stderr]).toEqual([
        7,
        expect.stringMatching(
          /cannot be read \(EACCES.*: run the command as the account of the daemon/,
        ),
      ]);
      expect(stderr).not.toContain('There is no store');
    },
  );
});

it('a store without its secret is not used, and no secret is created', async () => {
  await cli.json(['init']);
  rmSync(inData('secret.key'));
  const { code, stderr } = await cli.run(['keys', 'list']);
  expect(code).toBe(7);
  expect(stderr).toContain(`its secret is missing: ${inData('secret.key')} does not exist`);
  expect(stderr).not.toContain('svc init');
  expect((await cli.run(['init'])).code).toBe(7);
  expect(existsSync(inData('secret.key'))).toBe(false);
});

describe.each(['SQLite', 'PostgreSQL'])('another secret for a store on %s', (engine) => {
  let env: Record<string, string>;
  let drop = async () => {};
  beforeEach(async () => {
    env = { SVC_HTTP_PORT: '0', SVC_SMTP_INBOUND_PORT: '0' };
    if (engine === 'PostgreSQL') {
      const schema = await postgresSchema(inject('postgresUrl'));
      env.SVC_DATABASE_URL = schema.url;
      drop = () => schema.drop();
    }
    await cli.json(['init'], { env });
  });
  afterEach(() => drop());

  it.each(['daemon', 'init'])('is not made by svc %s', async (command) => {
    rmSync(inData('secret.key'));
    const { code, stderr } = await cli.run([command], { env });
    expect([code, stderr]).toEqual([7, expect.stringContaining(inData('secret.key'))]);
    expect(stderr).toContain('Copy it there from the machine that made the store');
    expect(existsSync(inData('secret.key'))).toBe(false);
  });

  it.each(['daemon', 'domains add example.com', 'webhooks list'])(
    'is refused by svc %s with 7',
    async (words) => {
      writeFileSync(inData('secret.key'), Buffer.alloc(32, 7));
      const { code, stdout, stderr } = await cli.run(words.split(' '), { env });
      expect([code, stdout]).toEqual([7, '']);
      expect(stderr).toContain(`${inData('secret.key')} is not the key of this store: copy that`);
    },
  );
});

it('only the daemon and config check need a secret of the daemon', async () => {
  const file = 'delivery:\n  mode: relay\n  relay: {host: smtp.example.com, username: u}\n';
  writeFileSync(join(cli.directory, 'config.yaml'), file);
  await cli.json(['init']);
  for (const words of [
    ['keys', 'list'],
    ['migrate', 'status'],
    ['config', 'show'],
  ]) {
    expect((await cli.run(words)).code).toBe(0);
  }
  const checked = await cli.run(['config', 'check']);
  expect(checked.code).toBe(2);
  expect(checked.stderr).toContain('delivery.relay.password');
  expect((await cli.run(['daemon'])).code).toBe(2);
});

describe('svc init', () => {
  it('creates the store, the secret and an owner key, which it prints', async () => {
    const made = await cli.json<{ apiKey: string }>(['init']);
    expect(made).toEqual({
      created: true,
      store: inData('svc.db'),
      secret: inData('secret.key'),
      file: null,
      apiKey: expect.stringMatching(/^svc_live_[0-9A-Za-z]{38}$/),
    });
    expect(statSync(inData('')).mode & 0o777).toBe(0o700);
    expect(statSync(inData('secret.key')).mode & 0o777).toBe(0o600);
    const { items } = await cli.json<{ items: object[] }>(['keys', 'list']);
    expect(items).toEqual([expect.objectContaining({ name: 'First key', roleName: 'owner' })]);
    const senders = await cli.json<{ items: { email: string }[] }>(['senders', 'list']);
    expect(senders.items.map(({ email }) => email)).toEqual(['hello@sandbox.test']);
  });

  it('prints the created files, and the next step', async () => {
    const { code, stdout } = await cli.run(['init']);
    expect(code).toBe(0);
    expect(stdout).toContain(inData('svc.db'));
    expect(stdout).toMatch(/^ {2}svc_live_[0-9A-Za-z]{38}$/m);
    expect(stdout).toContain('Next: svc daemon');
  });

  it('changes nothing when everything exists', async () => {
    await cli.json(['init']);
    const secret = readFileSync(inData('secret.key'));
    expect(await cli.json(['init'])).toMatchObject({ created: false, apiKey: null });
    expect((await cli.run(['init'])).stdout).toBe(`${inData('svc.db')} exists already.\n`);
    expect(readFileSync(inData('secret.key'))).toEqual(secret);
    expect(await cli.json(['keys', 'list'])).toMatchObject({ pagination: { total: 1 } });
  });
});
