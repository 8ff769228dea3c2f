// The process of all commands, which no command may slow down for the commands after it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { initializedWorkspace } from './cli.ts';
import type { HostedRun } from './cli-host.ts';

it('keeps its priority after svc backup', async () => {
  const cli = await initializedWorkspace();
  const { directory, env } = cli;
  const host = fork(join(import.meta.dirname, 'cli-host.ts'), { serialization: 'advanced' });
  const before = getPriority(host.pid);
  const work: HostedRun = { args: ['backup', 'made.db'], env, directory, input: '' };
  host.send(work);
  const [result] = await once(host, 'message');
  expect(result).toMatchObject({ code: 0 });
  expect(getPriority(host.pid)).toBe(before);
  host.disconnect();
  await once(host, 'exit');
  cli.close();
});
