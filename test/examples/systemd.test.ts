// The systemd unit of README: its rights, and the signal of a reload. A unit is judged without being started.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository } from '../support/cli.ts';

const file = join(repository, 'examples/systemd/svc.service');
const unit = readFileSync(file, 'utf8');
const analyze = '/usr/bin/systemd-analyze';

it('the unit is the one that README installs', () => {
  const readme = readFileSync(join(repository, 'README.md'), 'utf8');
  expect(readme).toContain('install -m 644 /opt/svc/examples/systemd/svc.service /etc/systemd/');
});

it('the unit restarts the daemon after every end', () => {
  expect(unit).toMatch(/^Restart=always$/m);
});

it('the unit reloads by SIGHUP', () => {
  expect(unit).toMatch(/^ExecReload=.*kill -HUP \$MAINPID/m);
});

it.skipIf(!existsSync(analyze))('the unit has an exposure of 3 at most', () => {
  const args = ['security', '--offline=true', '--threshold=30', '--no-pager', file];
  const judged = execFileSync(analyze, args, { encoding: 'utf8' });
  const [, exposure] = /Overall exposure level for svc\.service: ([\d.]+)/.exec(judged) ?? [];
  expect(Number(exposure)).toBeLessThanOrEqual(3);
});
