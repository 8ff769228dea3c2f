// svc init --production with --config: the configuration file, the store, the first domain, and the
// refusals. Without --config it could install the service (init-install.test.ts).
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Domain } from '../../src/identity/domains/schema.ts';
import { type CliWorkspace, cliWorkspace } from '../support/cli.ts';

let cli: CliWorkspace;
beforeEach(() => {
  cli = cliWorkspace();
});
afterEach(() => cli.close());

const elsewhere = ['init', '--production'];
const production = [...elsewhere, '--config', 'config.yaml'];
const file = () => join(cli.directory, 'config.yaml');
/** The environment of a server: no variable overrides the file. */
const bare = { env: { SVC_DATA_DIR: '', SVC_HTTP_PORT: '', SVC_SMTP_INBOUND_PORT: '' } };

it('writes a commented configuration, creates the store, and shows the records of the domain', async () => {
  const { code, stdout } = await cli.run([...production, '--domain', 'Example.com'], bare);
  expect(code).toBe(0);
  expect(parse(readFileSync(file(), 'utf8'))).toEqual({
    dataDir: join(cli.directory, 'data'),
    http: { publicUrl: 'https://mail.example.com' },
    smtp: { inbound: { host: '0.0.0.0', port: 25 } },
    delivery: { mode: 'direct', hostname: 'mail.example.com' },
  });
  const lines = readFileSync(file(), 'utf8').split('\n');
  for (const [at, line] of lines.entries()) {
    if (/^ *\w+: \S/.test(line)) expect(lines[at - 1]).toMatch(/^ *# \S/);
  }
  for (const part of [
    /svc_live_\w{38}/,
    /10 mail\.example\.com/,
    /svc daemon --config/,
    /No service was installed: --config names/,
  ]) {
    expect(stdout).toMatch(part);
  }
  expect((await cli.run(['config', 'check'], bare)).code).toBe(0);
  const [domain] = (await cli.json<{ items: Domain[] }>(['domains', 'list'], bare)).items;
  expect(domain?.domain).toBe('example.com');
});

it('takes a smarthost, other names and another place', async () => {
  const flags = [
    ...['--domain', 'example.org', '--hostname', 'mx.example.net', '--mode', 'relay'],
    ...['--relay-host', 'smtp.example.net', '--public-url', 'https://api.example.net'],
    ...['--data-dir', 'store', '--config', 'svc.yaml'],
  ];
  const made = await cli.json<{ apiKey: string; domain: Domain }>([...elsewhere, ...flags], bare);
  expect([made.apiKey, made.domain.domain]).toEqual([
    expect.stringMatching(/^svc_live_/),
    'example.org',
  ]);
  expect(parse(readFileSync(join(cli.directory, 'svc.yaml'), 'utf8'))).toMatchObject({
    dataDir: join(cli.directory, 'store'),
    http: { publicUrl: 'https://api.example.net' },
    delivery: { mode: 'relay', hostname: 'mx.example.net', relay: { host: 'smtp.example.net' } },
  });
  expect(existsSync(join(cli.directory, 'store/svc.db'))).toBe(true);
});

it.each([
  ['no domain without a terminal', [], '--domain'],
  ['a public suffix', ['--domain', 'co.uk'], 'domain: is a public suffix'],
  ['no smarthost in mode relay', ['--domain', 'example.com', '--mode', 'relay'], '--relay-host'],
  ['another mode', ['--domain', 'example.com', '--mode', 'carrier-pigeon'], '--mode'],
  [
    'a host name that is none',
    ['--domain', 'example.com', '--hostname', 'a b'],
    'delivery.hostname',
  ],
])('refuses %s, and leaves nothing behind', async (_name, flags, named) => {
  const { code, stderr } = await cli.run([...production, ...flags], bare);
  expect([code, stderr]).toEqual([2, expect.stringContaining(named)]);
  expect([existsSync(file()), existsSync(join(cli.directory, 'data'))]).toEqual([false, false]);
});

it('never replaces a configuration', async () => {
  writeFileSync(file(), '# mine\n');
  const { code, stderr } = await cli.run([...production, '--domain', 'example.com'], bare);
  expect([code, stderr]).toEqual([2, expect.stringContaining('exists already')]);
  expect(readFileSync(file(), 'utf8')).toBe('# mine\n');
});

it('takes its flags only with --production', async () => {
  expect((await cli.run(['init', '--domain', 'example.com'])).code).toBe(2);
});
