// docs/install.md, typed on a fake machine: install, upgrade, downgrade and uninstall move the
// links as the page says, and leave nothing of the service at the end. git, npm, systemctl, userdel
// and the program itself are stubs.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { thisMachine } from '../../commands/base/production/machine.ts';
import { planInstallation } from '../../commands/base/production/plan.ts';
import { type FakeMachine, fakeMachine } from '../support/fake-machine.ts';
import { readMarkdown, section, tableRows } from './markdown.ts';

const page = readMarkdown('docs/install.md');
const tried = page.fences.filter(({ marks }) => marks.join(' ') === 'tried in install.test.ts');
const [install, upgrade, downgrade, uninstall, erase] = tried.map(({ text }) => text);

let machine: FakeMachine;
let stubs: string;
beforeAll(() => {
  machine = fakeMachine();
  stubs = join(machine.folder, 'stubs');
  const at = (path: string) => join(machine.folder, path);
  for (const folder of [stubs, at('usr/local/bin'), at('root')])
    mkdirSync(folder, { recursive: true });
  const stub = (name: string, script = '') => {
    const text = `#!/bin/sh\necho ${name} "$@" >> ${stubs}/log\n${script}\n`;
    writeFileSync(join(stubs, name), text, { mode: 0o755 });
  };
  for (const name of ['npm', 'systemctl', 'userdel', 'svc']) stub(name);
  // A clone has the files that the account must be able to read.
  const { home } = machine;
  const files = ['bin', 'node_modules', 'package.json'].map((name) => join(home, name)).join(' ');
  stub('git', `mkdir -p "$3"; cp -R ${files} "$3"; install ${stubs}/svc "$3/bin/svc"`);
});
afterAll(() => machine.close());

/** Runs a block below the folder of the machine, and returns the words of the stubs. */
function type(block = ''): string[] {
  const below = (line: string) =>
    line.replaceAll(/(?<=^| )\/(?:opt|etc|var|usr|root)\//g, (path) => `${machine.folder}${path}`);
  writeFileSync(join(stubs, 'log'), '');
  const script = ['set -e', ...block.split('\n').map(below)].join('\n');
  execFileSync('/bin/sh', ['-c', script], { env: { PATH: `${stubs}:/usr/bin:/bin` } });
  const log = readFileSync(join(stubs, 'log'), 'utf8').replaceAll(machine.folder, '');
  return log.trim().split('\n');
}

const current = () => realpathSync(join(machine.folder, 'opt/svc/current'));

it('the table names every place of an installation', () => {
  const listed = tableRows(section(page, 'The folders')).map(([paths = '']) => paths);
  const { config, dataDir, unit } = thisMachine.places;
  const places = [config, dataDir, unit, '/opt/svc/current', '/usr/local/bin/svc'];
  for (const place of places) expect(listed.join()).toContain(`\`${place}\``);
});

it('install, upgrade, downgrade and uninstall do what the page says', async () => {
  const { folder, home } = machine;
  const release = (name: string) => join(folder, 'opt/svc/releases', name);
  expect(type(install).at(-1)).toBe('svc init --production');
  expect(current()).toBe(release('VERSION'));
  expect(realpathSync(join(folder, 'usr/local/bin/svc'))).toBe(join(release('VERSION'), 'bin/svc'));

  const flags = { json: false, domain: 'example.com' };
  const surroundings = { machine, ask: null, home: release('VERSION'), env: {} };
  const { before, behind } = await planInstallation(flags, surroundings);
  for (const step of [...before, ...behind]) machine.perform(step);
  const unit = readFileSync(machine.places.unit, 'utf8');
  expect(unit).toContain(`ExecStart=${folder}/opt/svc/current/bin/svc daemon`);

  expect(type(upgrade)).toEqual(
    expect.arrayContaining([
      'svc config check --config /etc/svc/config.yaml',
      'svc backup /root/before-upgrade.db',
      'systemctl restart svc',
    ]),
  );
  expect(current()).toBe(release('NEW'));
  // The old daemon still finds its own sources.
  expect(existsSync(join(release('VERSION'), 'bin/run.js'))).toBe(true);

  mkdirSync(release('OLD'));
  expect(type(downgrade)).toEqual([
    'systemctl stop svc',
    'svc restore /root/before-upgrade.db --yes',
    'systemctl start svc',
  ]);
  expect(current()).toBe(release('OLD'));

  expect(type(uninstall)).toEqual(['systemctl disable --now svc', 'systemctl daemon-reload']);
  expect([home, machine.places.unit].map(existsSync)).toEqual([false, false]);
  expect([machine.places.config, machine.places.dataDir].map(existsSync)).toEqual([true, true]);
  expect(type(erase)).toEqual(['userdel svc']);
  const left = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  expect(left.filter((path) => path.includes('svc') && !path.startsWith('stubs'))).toEqual([]);
});
