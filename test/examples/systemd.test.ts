// The systemd unit of docs/install.md: its rights, and the signal of a reload. A unit is judged
// without being started.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { composeFile, lastingHome, systemdUnit } from '../../commands/base/nouns/unit.ts';
import { configKeys } from '../../src/core/config/keys.ts';
import { repository } from '../support/cli.ts';

const file = join(repository, 'examples/systemd/svc.service');
const unit = readFileSync(file, 'utf8');
const analyze = '/usr/bin/systemd-analyze';

it('the unit is the one that docs/install.md installs', () => {
  const page = readFileSync(join(repository, 'docs/install.md'), 'utf8');
  const source = '/opt/svc/current/examples/systemd/svc.service';
  expect(page).toContain(`install -m 644 ${source} /etc/systemd/system/svc.service`);
});

it('the unit is what svc daemon unit prints', () => {
  const places = { home: '/opt/svc/current', config: '/etc/svc/config.yaml' };
  expect(unit).toBe(systemdUnit(places));
  expect(unit).toMatch(/^User=svc$/m);
  expect(unit).not.toContain('DynamicUser');
});

it('the unit names the link that an upgrade moves', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-releases-'));
  const [current, first, second] = ['current', 'releases/1', 'releases/2'].map((path) =>
    join(folder, path),
  ) as [string, string, string];
  try {
    for (const release of [first, second]) mkdirSync(release, { recursive: true });
    expect(lastingHome(first)).toBe(first);
    symlinkSync(first, current);
    expect([first, second].map(lastingHome)).toEqual([current, second]);
    expect(lastingHome(folder)).toBe(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('the compose file builds the Dockerfile, with few rights and one volume', () => {
  const { services, volumes } = parse(composeFile({ home: repository, config: '/etc/svc.yaml' }));
  expect(services.svc).toMatchObject({ build: repository, read_only: true, cap_drop: ['ALL'] });
  expect(services.svc.volumes).toEqual(['svc-data:/data', '/etc/svc.yaml:/etc/svc/config.yaml:ro']);
  expect(Object.keys(volumes)).toEqual(['svc-data']);
});

it('the Dockerfile runs the daemon not as root, with one volume, and asks svc status for its health', () => {
  const dockerfile = readFileSync(join(repository, 'Dockerfile'), 'utf8');
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  expect(last).toMatch(/^USER svc$/m);
  // The packages have a Node. Any account may make its store below /data.
  expect(last).toMatch(/^FROM debian:/m);
  expect(last).toContain('install -d -m 1777 /data');
  expect(last).toContain('ln -s /opt/svc/bin/svc /usr/local/bin/svc');
  expect(last.match(/^VOLUME .*$/gm)).toEqual(['VOLUME /data']);
  const [, health = ''] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(last) ?? [];
  expect(JSON.parse(health).slice(0, 3)).toEqual(['/opt/svc/bin/svc', 'status', '--wait']);
  const [, variables = ''] = /^ENV (.*)$/m.exec(last) ?? [];
  const known = configKeys.map(({ variable }) => variable);
  for (const one of variables.split(' ')) expect(known).toContain(one.split('=')[0]);
});

it('the unit restarts the daemon after every end but a mistake in the configuration', () => {
  expect(unit).toMatch(/^Restart=always$/m);
  expect(unit).toMatch(/^RestartPreventExitStatus=2$/m);
});

it('the unit reloads by SIGHUP, after a check of the configuration', () => {
  const steps = [...unit.matchAll(/^ExecReload=(.*)$/gm)].map(([, step]) => step);
  expect(steps).toEqual([
    '/opt/svc/current/bin/svc config check --config /etc/svc/config.yaml',
    '/bin/sh -c "kill -HUP $MAINPID"',
  ]);
});

it.skipIf(!existsSync(analyze))('the unit has an exposure of 3 at most', () => {
  const args = ['security', '--offline=true', '--threshold=30', '--no-pager', file];
  const judged = execFileSync(analyze, args, { encoding: 'utf8' });
  const [, exposure] = /Overall exposure level for svc\.service: ([\d.]+)/.exec(judged) ?? [];
  expect(Number(exposure)).toBeLessThanOrEqual(3);
});
