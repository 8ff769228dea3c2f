// svc status: the service on one screen, and the wait of supervisors for a ready daemon.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { program } from '../../src/platform/runtime/program.ts';
import type { ServiceStatus } from '../../src/service/status.ts';
import { type CliWorkspace, initializedWorkspace } from '../support/cli.ts';
import { freePort } from '../support/pebble.ts';

let cli: CliWorkspace;
beforeAll(async () => {
  const port = await freePort();
  cli = await initializedWorkspace({ SVC_HTTP_PORT: String(port) });
});
afterAll(() => cli.close());

describe('without a daemon', () => {
  it('shows the store, and ends with 7', async () => {
    const { code, stdout, stderr } = await cli.run(['status']);
    expect([code, stderr]).toEqual([7, expect.stringContaining('The daemon is not ready')]);
    expect(stdout).toMatch(/^daemon +not ready: http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/m);
    expect(stdout).not.toMatch(/^version/m);
    expect(stdout).toMatch(/^mode +capture$/m);
    expect(stdout).toMatch(/^queue +ready 0 /m);
    expect(stdout).toMatch(/^backup +none yet: svc backup$/m);
  });

  it('ends the wait with 8 at the time-out', async () => {
    const { code, stderr } = await cli.run(['status', '--wait', '--timeout', '1s']);
    expect([code, stderr]).toEqual([8, expect.stringContaining('the daemon is not ready')]);
  });

  it.each([[['--timeout', '1s']], [['--wait', '--timeout', 'soon']]])(
    'refuses %j',
    async (flags) => {
      expect((await cli.run(['status', ...flags])).code).toBe(2);
    },
  );
});

describe('beside a daemon', () => {
  beforeAll(async () => {
    await cli.json(['domains', 'add', 'example.com', '--dkim', 'ed25519']);
    await cli.json(['backup', 'copy.db']);
  });

  it('waits until the daemon is ready, and shows what it has', async () => {
    const waited = cli.json<ServiceStatus>(['status', '--wait', '--timeout', '60s']);
    cli.start(['daemon']);
    expect(await waited).toMatchObject({
      daemon: { isReady: true, problem: null, ...program },
      mode: 'capture',
      domains: { pending: 1 },
      endpoints: { active: 0, failing: 0 },
      findings: [],
      jobs: expect.arrayContaining([
        {
          name: 'sweep audit',
          nextAt: expect.stringMatching(/T02:17:00\.000Z$/),
          lastRunAt: null,
          isRunning: false,
          lastError: null,
        },
      ]),
      lastBackup: { file: expect.stringMatching(/copy\.db$/) },
    });
    const { code, stdout } = await cli.run(['status']);
    expect(code).toBe(0);
    const commit = program.commit === null ? '' : `, commit ${program.commit.slice(0, 10)}`;
    expect(stdout).toContain(`\nversion   ${program.version}${commit}\n`);
    expect(stdout).toMatch(/^jobs {6}\d+ scheduled, next [a-z ]+ at 20\S+Z$/m);
  });
});
