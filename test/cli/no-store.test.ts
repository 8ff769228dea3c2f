// Commands where nobody has made a store: none makes one, and what they say leads to the right one.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { type CliWorkspace, cliWorkspace } from '../support/cli.ts';
import { postgresSchema } from '../support/postgres.ts';

let cli: CliWorkspace;
beforeEach(() => {
  cli = cliWorkspace();
});
afterEach(() => cli.close());

const inData = (name: string) => join(cli.directory, 'data', name);

describe('without a store', () => {
  test.each([
    'senders list',
    'keys create --role owner',
    'domains add example.com',
    'messages send --to a@simulator.test --subject S --text T',
    'queue top',
    'orgs list',
    'migrate status',
    'backup copy.db',
  ])('svc %s ends with 7 and makes none', async (words) => {
    const { code, stdout, stderr } = await cli.run(words.split(' '));
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toContain(`There is no store at ${inData('svc.db')}.`);
    expect(existsSync(inData(''))).toBe(false);
  });

  test('says where a configuration was looked for, and how to name the daemon’s', async () => {
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

  test('config show --origin says which store would be used, and that it is not there', async () => {
    const { stdout } = await cli.run(['config', 'show', '--origin']);
    const [store, file] = stdout.split('\n');
    expect(store).toBe(`store: ${inData('svc.db')} (does not exist yet)`);
    expect(file).toMatch(/^file: +none, using the defaults; looked for \//);
    await cli.json(['init']);
    expect(await cli.json(['config', 'show', '--origin'])).toMatchObject({
      store: inData('svc.db'),
      file: null,
    });
  });

  test('an empty file is no store', async () => {
    await cli.json(['init']);
    writeFileSync(inData('svc.db'), '');
    rmSync(inData('svc.db-wal'), { force: true });
    const { code, stderr } = await cli.run(['keys', 'list']);
    expect(code).toBe(7);
    expect(stderr).toContain('There is no store at');
  });

  test('on PostgreSQL the database stays empty', async () => {
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

test('without its secret a store is not used, and no secret is made', async () => {
  await cli.json(['init']);
  rmSync(inData('secret.key'));
  const { code, stderr } = await cli.run(['keys', 'list']);
  expect(code).toBe(7);
  expect(stderr).toContain(`its secret is missing: ${inData('secret.key')} does not exist`);
  expect(stderr).not.toContain('svc init');
  expect((await cli.run(['init'])).code).toBe(7);
  expect(existsSync(inData('secret.key'))).toBe(false);
});

test('a secret that only the daemon has is needed by no command but config check', async () => {
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
  test('makes the store, the secret and an owner key, which it prints', async () => {
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

  test('says what it made, and the next step', async () => {
    const { code, stdout } = await cli.run(['init']);
    expect(code).toBe(0);
    expect(stdout).toContain(inData('svc.db'));
    expect(stdout).toMatch(/^ {2}svc_live_[0-9A-Za-z]{38}$/m);
    expect(stdout).toContain('Next: svc daemon');
  });

  test('changes nothing where all is there', async () => {
    await cli.json(['init']);
    const secret = readFileSync(inData('secret.key'));
    expect(await cli.json(['init'])).toMatchObject({ created: false, apiKey: null });
    expect((await cli.run(['init'])).stdout).toBe(`${inData('svc.db')} exists already.\n`);
    expect(readFileSync(inData('secret.key'))).toEqual(secret);
    expect(await cli.json(['keys', 'list'])).toMatchObject({ pagination: { total: 1 } });
  });
});
