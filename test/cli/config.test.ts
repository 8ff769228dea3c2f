// svc config: the values in use, their origins, and the check.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type CliWorkspace,
  cliWorkspace,
  initializedWorkspace,
  repository,
} from '../support/cli.ts';

let cli: CliWorkspace;
beforeAll(() => {
  cli = cliWorkspace({ SVC_DELIVERY_RELAY_PASSWORD: 'hunter2' });
  const file = 'delivery:\n  mode: relay\n  relay:\n    host: smtp.example.com\n    username: u\n';
  writeFileSync(join(cli.directory, 'config.yaml'), file);
});
afterAll(() => cli.close());

it('config show prints every value, and hides secrets', async () => {
  const shown = await cli.run(['config', 'show']);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toMatch(/^delivery\.mode +relay$/m);
  expect(shown.stdout).toMatch(/^delivery\.relay\.password +\*\*\*$/m);
  expect(shown.stdout).not.toContain('hunter2');
});

it('config show --json prints the tree of the file', async () => {
  expect(await cli.json(['config', 'show'])).toMatchObject({
    http: { host: '127.0.0.1', port: 0 },
    delivery: { mode: 'relay', relay: { host: 'smtp.example.com', password: '***' } },
  });
});

it('config show --origin prints the origin of each value', async () => {
  const { stdout } = await cli.run(['config', 'show', '--origin']);
  expect(stdout).toMatch(/^delivery\.mode +relay +config\.yaml:2$/m);
  expect(stdout).toMatch(/^http\.port +0 +env SVC_HTTP_PORT$/m);
  expect(stdout).toMatch(/^http\.host +127\.0\.0\.1 +default$/m);
  const { items } = await cli.json<{ items: object[] }>(['config', 'show', '--origin']);
  expect(items).toContainEqual({
    key: 'delivery.mode',
    value: 'relay',
    origin: 'config.yaml:2',
  });
});

it('config check names the usable file, and its warnings', async () => {
  const { code, stdout } = await cli.run(['config', 'check']);
  expect(code).toBe(0);
  expect(stdout).toContain(`${join(cli.directory, 'config.yaml')} can be used.`);
  expect(await cli.json(['config', 'check'])).toMatchObject({
    valid: true,
    warnings: [
      expect.stringContaining('bounces cannot come back'),
      expect.stringContaining('http.publicUrl is not set'),
      expect.stringContaining('delivery.hostname is localhost'),
      expect.stringContaining('delivery.relay.requireTls'),
      expect.stringMatching(/^the first default sender is hello@sandbox\.test: .* is refused/),
    ],
  });
});

it('config check warns of the default sender until it is of a domain of its own', async () => {
  const sandbox = /default sender is hello@sandbox\.test: .*svc senders create --email/;
  const home = await initializedWorkspace({ SVC_DELIVERY_MODE: 'direct' });
  try {
    const check = async () => (await home.run(['config', 'check'])).stdout;
    expect(await check()).toMatch(sandbox);
    await home.json(['domains', 'add', 'acme.example', '--dkim', 'ed25519']);
    await home.json(['domains', 'verify', 'acme.example', '--force']);
    await home.json([
      'senders',
      'create',
      '--email',
      'hello@acme.example',
      '--name',
      'A',
      '--default',
    ]);
    expect(await check()).not.toMatch(sandbox);
  } finally {
    home.close();
  }
});

it('config check ends with 2 for an invalid variable', async () => {
  const env = { SVC_HTTP_PORT: 'x' };
  const { code, stderr } = await cli.run(['config', 'check', '--json'], { env });
  expect(code).toBe(2);
  expect(JSON.parse(stderr)).toEqual({
    _tag: 'ConfigError',
    message: expect.stringMatching(/^SVC_HTTP_PORT: http\.port: found "x", expected /),
  });
});

it('config example prints config.example.yaml', async () => {
  const { stdout } = await cli.run(['config', 'example']);
  expect(stdout).toBe(readFileSync(join(repository, 'config.example.yaml'), 'utf8'));
});
