// svc init --production as root under systemd: questions, steps, what stays, and every refusal that
// keeps a service from starting in vain. The machine is a folder; its programs are not run.
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { systemdUnit } from '../../commands/base/nouns/unit.ts';
import { exitCodeOf } from '../../commands/base/output/failure.ts';
import type { Ask, ProductionFlags } from '../../commands/base/production/answers.ts';
import { stepInWords } from '../../commands/base/production/machine.ts';
import { whyNotInstalled } from '../../commands/base/production/plan.ts';
import { runProduction } from '../../commands/base/production/production.ts';
import { type FakeMachine, fakeMachine, serviceOwner } from '../support/fake-machine.ts';

/** Time that a busy machine needs to load the service. */
const loadMs = 300_000;

beforeAll(async () => {
  await import('../../src/service/service.ts');
  await import('../../src/identity/domains/routes.ts');
}, loadMs);

let machine: FakeMachine;
let printed: string;
beforeEach(() => {
  machine = fakeMachine();
  printed = '';
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  machine.close();
});

type Given = Partial<ProductionFlags>;

interface Setting {
  ask?: Ask | null;
  env?: Record<string, string>;
  home?: string;
}

/** Runs the command without a terminal, unless `ask` answers. */
function init(flags: Given = {}, { ask = null, env = {}, home }: Setting = {}): Promise<void> {
  const surroundings = { machine, ask, env, home: home ?? machine.home };
  return runProduction({ json: false, ...flags }, surroundings);
}

/** Expects a refusal by exit code 2 that changed nothing, and returns its text. */
async function refusal(flags: Given = {}, setting: Setting = {}): Promise<string> {
  const before = machine.paths();
  const error: unknown = await init(flags, setting).catch((thrown: unknown) => thrown);
  expect(exitCodeOf(error), String(error)).toBe(2);
  expect([machine.steps, machine.paths()]).toEqual([[], before]);
  return String(error);
}

const domain = 'example.com';
const words = () => machine.steps.map(stepInWords);
const text = (path: string) => readFileSync(path, 'utf8');
const modeOf = (path: string) => statSync(path).mode & 0o777;
const start = ['systemctl daemon-reload', 'systemctl enable --now svc'];

function put(path: string, content: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode });
}

const configOf = ({ places }: FakeMachine, dataDir = places.dataDir) =>
  `dataDir: ${dataDir}\ndelivery:\n  mode: direct\n  hostname: mail.example.com\n`;

describe('as root without flags', () => {
  it('asks host name, mode and domain, installs, and shows what comes next', async () => {
    const asked: string[] = [];
    await init(
      {},
      {
        async ask({ flag, usual }) {
          asked.push(`${flag}: ${usual}`);
          return flag === 'relay-host'
            ? 'smtp.example.net'
            : flag === 'mode'
              ? 'relay'
              : `${usual}`;
        },
      },
    );
    expect(asked).toEqual([
      'hostname: mx1.example.com',
      'mode: direct',
      'relay-host: undefined',
      'domain: example.com',
      'owner: none',
    ]);
    const { config, dataDir, unit } = machine.places;
    expect(words()).toEqual([
      `useradd --system --user-group --home-dir ${dataDir} --shell /usr/sbin/nologin svc`,
      `install -d -o root -g root -m 755 ${dirname(config)}`,
      `write ${config} (640, root:svc)`,
      `install -d -o svc -g svc -m 700 ${dataDir}`,
      `write ${unit} (644, root:root)`,
      ...start,
    ]);
    expect(parse(text(config))).toMatchObject({
      dataDir,
      http: { publicUrl: 'https://mx1.example.com' },
      delivery: { mode: 'relay', hostname: 'mx1.example.com', relay: { host: 'smtp.example.net' } },
    });
    expect([config, dirname(config), dataDir, unit].map(modeOf)).toEqual([
      0o640, 0o755, 0o700, 0o644,
    ]);
    expect(statSync(config).gid).toBe(serviceOwner.gid);
    const made = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
    expect(made).toEqual(expect.arrayContaining(['secret.key', 'svc.db']));
    const owners = ['', ...made].map((name) => statSync(join(dataDir, name)).uid);
    expect(new Set(owners)).toEqual(new Set([serviceOwner.uid]));
    expect(text(unit)).toBe(systemdUnit({ home: machine.home, config }));
    for (const part of [/svc_live_\w{38}/, /10 mx1\.example\.com/, /ready at http:\/\/127/])
      expect(printed).toMatch(part);
    expect(printed.match(/^ {2}svc .*$/gm)?.map((line) => line.trim())).toEqual([
      'svc domains verify example.com',
      'svc doctor --mail',
      'svc keys create --name app --role sender',
    ]);
  });

  it('is refused without a terminal, by every missing flag', async () => {
    expect(await refusal()).toMatch(/no terminal to ask on: give --domain$/);
    expect(await refusal({ mode: 'relay' })).toMatch(/give --domain and --relay-host$/);
  });
});

it('--print shows the steps and changes nothing', async () => {
  const before = machine.paths();
  await init({ domain, print: true });
  expect([machine.steps, machine.paths()]).toEqual([[], before]);
  for (const part of ['useradd --system', 'hostname: mail.example.com', ...start])
    expect(printed).toContain(part);
  await init({ domain });
  for (const step of words()) expect(printed).toContain(`  ${step}\n`);
});

it('--owner invites an owner and prints the link that accepts, a new link at each call', async () => {
  const linkOf = () =>
    /ann@example\.com becomes an owner .*:\n\n {2}(https:\S+)/.exec(printed)?.[1] ?? '';
  await init({ domain, owner: 'Ann@example.com', print: true });
  expect(printed).toContain('invite ann@example.com as an owner, and print the link');
  await init({ domain, owner: 'Ann@example.com' });
  const first = linkOf();
  expect(first).toMatch(/^https:\/\/mail\.example\.com\/console\/\S+$/);
  printed = '';
  await init({ domain, owner: 'Ann@example.com' });
  expect([linkOf() !== '', linkOf() !== first]).toEqual([true, true]);
  expect(await init({ domain, owner: 'ann' }).catch(String)).toMatch(/owner: is not an address/);
});

it('continues after an interruption, and keeps what is there', async () => {
  machine.problem = 'listen EADDRINUSE: 0.0.0.0:25';
  const error: unknown = await init({ domain }).catch((thrown: unknown) => thrown);
  expect(exitCodeOf(error)).toBe(7);
  expect(String(error)).toMatch(/was stopped\. Its last words:\nlisten EADDRINUSE/);
  expect(String(error)).not.toContain('svc_live_');
  expect(words().at(-1)).toBe('systemctl stop svc');
  machine.problem = null;
  machine.steps.length = 0;
  await init({ domain, hostname: `mail.${domain}`, mode: 'direct' });
  expect(words()).toEqual(start);
  expect(printed).toContain('exists already');
  expect(printed).toContain(`10 mail.${domain}`);
});

describe('with a configuration', () => {
  it('keeps it, and lets the account read it', async () => {
    const { config } = machine.places;
    put(config, configOf(machine), 0o600);
    chmodSync(dirname(config), 0o700);
    await init({ domain });
    expect(text(config)).toBe(configOf(machine));
    expect([config, dirname(config)].map(modeOf)).toEqual([0o640, 0o750]);
    expect(statSync(config).gid).toBe(serviceOwner.gid);
    expect(words()).toContain(`let the account svc read ${config}`);
  });

  it.each([
    ['a different host name', configOf, { hostname: 'mx.example.com' }, 'leave out --hostname'],
    ['a different mode', configOf, { mode: 'capture' }, 'leave out --mode'],
    ['no domain', configOf, { domain: undefined }, 'give --domain'],
    ['data elsewhere', () => configOf(machine, '/srv/mail'), {}, 'set dataDir: '],
    ['the default dataDir', () => 'delivery:\n  mode: direct\n', {}, 'set dataDir: '],
    ['a mistake', () => 'delivery:\n  mood: direct\n', {}, 'mood'],
  ] as const)('refuses %s', async (_, content, flags, named) => {
    put(machine.places.config, content(machine));
    expect(await refusal({ domain, ...flags })).toContain(named);
  });
});

describe('with a unit', () => {
  it.each(['unit', 'package'])('keeps the %s and its account', async (where) => {
    const { places, accounts } = machine;
    const path = where === 'unit' ? places.unit : (places.packageUnits[0] ?? '');
    const unit = `[Service]\nUser=mail\nExecStart=/usr/bin/svc daemon --config ${places.config}\n`;
    put(path, unit);
    accounts.set('mail', serviceOwner);
    // A unit of a package starts the program of the package.
    await init({ domain }, { home: '/root/svc' });
    expect(text(path)).toBe(unit);
    expect(existsSync(places.unit)).toBe(where === 'unit');
    expect(words()).toEqual(expect.arrayContaining(start));
    expect(words().filter((step) => /useradd|svc\.service/.test(step))).toEqual([]);
    expect(statSync(places.dataDir).uid).toBe(serviceOwner.uid);
  });

  it.each([
    ['without an account', 'ExecStart=/usr/bin/svc daemon', 'has no account of its own'],
    ['of a moving account', 'User=svc\nDynamicUser=yes', 'has no account of its own'],
    ['of root', 'User=root', 'has no account of its own'],
    [
      'on a different configuration',
      'User=svc\nExecStart=/usr/bin/svc daemon --config /home/me/config.yaml',
      'uses /home/me/config.yaml',
    ],
  ])('refuses a unit %s', async (_, lines, named) => {
    put(machine.places.unit, `[Service]\n${lines}\n`);
    const found = await refusal({ domain });
    expect(found).toContain(named);
    expect(found).toContain('svc daemon unit');
  });
});

describe('refuses what would end in restarts', () => {
  it.each(['/root/svc', '/home/me/svc'])('a program in %s', async (home) => {
    expect(await refusal({ domain }, { home })).toContain('Move it to /opt/svc');
  });

  it('a program that the account may not read', async () => {
    chmodSync(join(machine.home, 'bin/run.js'), 0o600);
    expect(await refusal({ domain })).toContain('chmod -R go+rX');
  });

  it('a port that is taken', async () => {
    machine.isPortTaken = async (_, port) => port === 25;
    expect(await refusal({ domain })).toMatch(/port 25 \(smtp\.inbound\.port\).*exim4/);
    machine.isServiceRunning = () => true;
    await init({ domain });
    expect(words()).toEqual(expect.arrayContaining(start));
  });

  it('a variable that the service would lack', async () => {
    const env = { SVC_DATABASE_URL: 'postgres://db/svc' };
    expect(await refusal({ domain }, { env })).toMatch(/SVC_DATABASE_URL.*secrets\.env/);
  });

  it('a host name with a blank', async () => {
    expect(await refusal({ domain, hostname: 'a b' })).toContain('delivery.hostname');
  });
});

it('gives data of root to the account', async () => {
  mkdirSync(machine.places.dataDir);
  chownSync(machine.places.dataDir, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
  await init({ domain });
  expect(statSync(machine.places.dataDir).uid).toBe(serviceOwner.uid);
});

describe('writes files and installs nothing', () => {
  it('not as root: the files of this folder', async () => {
    machine.isRoot = () => false;
    vi.spyOn(process, 'cwd').mockReturnValue(machine.folder);
    await init({ domain, print: true });
    expect(machine.paths()).not.toContain('config.yaml');
    expect(printed).toContain('only root installs a service');
    await init({ domain });
    expect(machine.steps).toEqual([]);
    expect(machine.paths()).toEqual(expect.arrayContaining(['config.yaml', 'data/svc.db']));
    expect(printed).toContain('No service was installed: only root installs a service.');
    expect(printed).toContain(`svc daemon --config ${join(machine.folder, 'config.yaml')}`);
  });

  it.each([
    ['--config', { config: 'svc.yaml' }, {}, '--config names a place'],
    ['--data-dir', { 'data-dir': 'data' }, {}, '--data-dir names a place'],
    ['SVC_CONFIG', {}, { SVC_CONFIG: 'svc.yaml' }, 'SVC_CONFIG names a place'],
    ['SVC_DATA_DIR', {}, { SVC_DATA_DIR: 'data' }, 'SVC_DATA_DIR names a place'],
  ])('with %s', (_, flags, env, reason) => {
    expect(whyNotInstalled({ json: false, ...flags }, machine, env)).toBe(reason);
  });

  it('without systemd', () => {
    const places = { ...machine.places, systemd: join(machine.folder, 'run/none') };
    const reason = whyNotInstalled({ json: false }, { ...machine, places }, {});
    expect(reason).toBe('no systemd runs this machine');
    expect(whyNotInstalled({ json: false }, machine, {})).toBeNull();
  });
});
