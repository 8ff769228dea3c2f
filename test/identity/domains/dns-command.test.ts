// svc domains dns on the command line: a warning when the records would not name a host.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
  await cli.run(['domains', 'add', 'acme.example']);
});
afterAll(() => cli.close());

it('domains dns prints the records, and warns while delivery.hostname is localhost', async () => {
  const { code, stdout, stderr } = await cli.run(['domains', 'dns', 'acme.example', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).items.length).toBeGreaterThan(0);
  expect(stderr).toMatch(/^warning: delivery\.hostname is localhost/);
  const named = { env: { SVC_DELIVERY_HOSTNAME: 'mail.acme.example' } };
  const quiet = await cli.run(['domains', 'dns', 'acme.example'], named);
  expect(quiet.stderr).toBe('');
  expect(quiet.stdout).toContain('mail.acme.example');
});

it.each([[], ['--json']])('domains add warns as dns does: %j', async (...flags) => {
  const add = ['domains', 'add', `b${flags.length}.example`, '--dkim', 'ed25519', ...flags];
  const { code, stderr } = await cli.run(add);
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/^warning: delivery\.hostname is local/),
  ]);
  const named = { env: { SVC_DELIVERY_HOSTNAME: 'mail.acme.example' } };
  const quiet = ['domains', 'add', `c${flags.length}.example`, '--dkim', 'ed25519', ...flags];
  expect((await cli.run(quiet, named)).stderr).toBe('');
});
