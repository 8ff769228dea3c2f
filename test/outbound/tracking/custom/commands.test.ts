// svc tracking as typed: the answers of HTTP, in text for people.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CliWorkspace, initializedWorkspace } from '../../../support/cli.ts';

let cli: CliWorkspace;
beforeAll(async () => {
  cli = await initializedWorkspace();
  await cli.run(['domains', 'add', 'acme.example', '--dkim', 'ed25519']);
  await cli.run(['domains', 'verify', 'acme.example', '--force']);
});
afterAll(() => cli.close());

it('svc tracking explains a domain that was never enabled, and recheck is a conflict', async () => {
  const never = await cli.run(['tracking', 'show', 'acme.example']);
  expect(never).toMatchObject({ code: 0 });
  expect(never.stdout).toContain('No tracking host. Enable one: svc tracking enable');
  expect(await cli.run(['tracking', 'recheck', 'acme.example'])).toMatchObject({ code: 5 });
});

it('svc tracking enables, shows and disables a host by the name of its domain', async () => {
  const enabled = await cli.run(['tracking', 'enable', 'acme.example', '--label', 'links']);
  expect(enabled).toMatchObject({ code: 0, stderr: '' });
  expect(enabled.stdout).toMatch(/status\s+pending/);
  expect(enabled.stdout).toMatch(/name\s+links\.acme\.example\ntype\s+CNAME\nvalue\s+localhost/);
  expect(enabled.stdout).not.toContain('_acme-challenge');
  const shown = await cli.run(['tracking', 'show', 'acme.example', '--json']);
  expect(JSON.parse(shown.stdout)).toMatchObject({
    enabled: true,
    customTracking: { hostname: 'links.acme.example', status: 'pending' },
  });
  const disabled = await cli.run(['tracking', 'disable', 'acme.example', '--json']);
  expect(JSON.parse(disabled.stdout)).toMatchObject({
    enabled: false,
    customTracking: { status: 'tearing-down' },
  });
});
