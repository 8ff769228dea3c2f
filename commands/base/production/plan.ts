// The plan of `svc init --production`: the steps on this machine, or a refusal. Only reads.
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type LoadedConfig, loadConfig } from '../../../src/core/config/config.ts';
import type { Environment } from '../../../src/core/config/file.ts';
import { configKeys } from '../../../src/core/config/keys.ts';
import { type ProductionAnswers, productionConfig } from '../../../src/core/config/production.ts';
import { secretsBeside } from '../../../src/core/config/secrets-env.ts';
import { ValidationError } from '../../../src/platform/errors.ts';
import { loadYaml } from '../../../src/platform/runtime/on-demand.ts';
import { lastingHome, systemdUnit } from '../nouns/unit.ts';
import { UsageError } from '../output/failure.ts';
import { type Ask, answersOf, askForDomain, type ProductionFlags } from './answers.ts';
import { type Machine, mayRead, type Step, textIfThere, unreadablePart } from './machine.ts';

export interface Plan {
  domain: string;
  /** The configuration that the daemon will have. */
  loaded: LoadedConfig;
  /** Text of the new configuration file; null if the file exists. */
  newConfig: string | null;
  /** `before`: steps before the store is made. `behind`: steps after that. */
  before: Step[];
  behind: Step[];
  /** Path of the unit in use. */
  unit: string;
}

/** Folders that the unit hides from the daemon (`ProtectHome`). */
const hiddenFolders = ['/root', '/home', '/run/user'];

const isBelow = (path: string, folder: string) => !relative(folder, path).startsWith('..');

/** Returns the reason why the call only writes files; null if it installs a service. */
export function whyNotInstalled(
  flags: ProductionFlags,
  { isRoot, places }: Machine,
  env: Environment,
): string | null {
  const named = [
    ...(flags.config === undefined ? [] : ['--config']),
    ...(flags['data-dir'] === undefined ? [] : ['--data-dir']),
    ...['SVC_CONFIG', 'SVC_DATA_DIR'].filter((name) => env[name]),
  ];
  if (named.length > 0) return `${named.join(' and ')} names a place`;
  if (!isRoot()) return 'only root installs a service';
  return existsSync(places.systemd) ? null : 'no systemd runs this machine';
}

/** Refuses variables of this shell that the unit will not have. @throws UsageError */
function refuseVariables(env: Environment, configFile: string): void {
  const names = configKeys.flatMap(({ variable }) => [variable, `${variable}_FILE`]);
  const given = names.filter((name) => env[name]);
  if (given.length === 0) return;
  const file = join(dirname(configFile), 'secrets.env');
  throw new UsageError(
    `The service does not see ${given.join(', ')} of this shell: move it to ${file}, which daemon and ` +
      'commands read, and unset it here',
  );
}

/** Refuses flags that the present configuration contradicts. @throws ValidationError */
function refuseContradictions(
  flags: ProductionFlags,
  { config }: LoadedConfig,
  file: string,
): void {
  const { http, delivery } = config;
  const pairs = [
    ['hostname', 'delivery.hostname', delivery.hostname],
    ['mode', 'delivery.mode', delivery.mode],
    ['public-url', 'http.publicUrl', http.publicUrl],
    ['relay-host', 'delivery.relay.host', delivery.relay.host],
  ] as const;
  for (const [flag, key, value] of pairs) {
    if (flags[flag] === undefined || flags[flag] === value) continue;
    throw new ValidationError(
      `${file} exists already, with ${key} ${value}: change it by hand ("svc config check" looks at it), or ` +
        `leave out --${flag}`,
    );
  }
}

interface UnitInUse {
  path: string;
  /** Account under which the daemon runs. */
  account: string;
  isNew: boolean;
}

/**
 * Returns the unit that systemd will start. An existing unit is not changed. @throws
 * ValidationError if it cannot run a daemon of this configuration
 */
function unitInUse({ places }: Machine): UnitInUse {
  const { config, unit, packageUnits } = places;
  const path = [unit, ...packageUnits].find((one) => textIfThere(one) !== null);
  if (path === undefined) return { path: unit, account: 'svc', isNew: true };
  const text = textIfThere(path) ?? '';
  const advice = `"svc daemon unit" prints a good one: replace ${path}, or remove it, and run this again`;
  const account = /^User=(\S+)$/m.exec(text)?.[1];
  if (account === undefined || account === 'root' || /^DynamicUser=(?:yes|true|1)$/m.test(text)) {
    throw new ValidationError(
      `The unit ${path} has no account of its own (User=svc), which commands of root need. ${advice}`,
    );
  }
  const named = /^ExecStart=.* --config[ =](\S+)/m.exec(text)?.[1];
  if (named !== undefined && named !== config) {
    throw new ValidationError(`The unit ${path} uses ${named} instead of ${config}. ${advice}`);
  }
  return { path, account, isNew: false };
}

/** @throws ValidationError if the account of the unit could not start the program */
function checkProgram(home: string, { account, isNew }: UnitInUse, machine: Machine): void {
  // An existing unit may start a different program.
  if (!isNew) return;
  const move = 'Move it to /opt/svc, and run this again';
  const hidden = hiddenFolders.find((folder) => isBelow(home, folder));
  if (hidden !== undefined) {
    throw new ValidationError(
      `The program lies in ${home}, and the service may not enter ${hidden}. ${move}`,
    );
  }
  const files = ['bin/svc', 'bin/run.js', 'package.json', 'node_modules'];
  const owner = machine.findAccount(account);
  for (const file of files.map((name) => join(home, name))) {
    const denied = existsSync(file) ? unreadablePart(file, owner) : file;
    if (denied === null) continue;
    throw new ValidationError(
      `The account ${account} may not read ${denied}, a part of the program: give others the right to read it ` +
        `("chmod -R go+rX ${home}")`,
    );
  }
}

/** @throws ValidationError if the new unit hides the data directory from the daemon */
function checkDataDir({ config, file }: LoadedConfig, { isNew }: UnitInUse, machine: Machine) {
  const { places } = machine;
  if (!isNew || isBelow(config.dataDir, places.dataDir)) return;
  throw new ValidationError(
    `dataDir in ${file} is ${config.dataDir}, and the service may write to ${places.dataDir} only: set dataDir: ` +
      places.dataDir,
  );
}

/** @throws ValidationError if a different program listens on a port of the daemon */
async function checkPorts({ config }: LoadedConfig, machine: Machine): Promise<void> {
  if (machine.isServiceRunning()) return;
  const listeners = { 'smtp.inbound.port': config.smtp.inbound, 'http.port': config.http };
  for (const [key, { host, port }] of Object.entries(listeners)) {
    if (port === 0 || !(await machine.isPortTaken(host, port))) continue;
    const example = port === 25 ? ' (on Debian often "systemctl disable --now exim4")' : '';
    throw new ValidationError(
      `A program of this machine listens on port ${port} (${key}), which the service needs: stop it${example}, ` +
        'and run this again. "ss -tlnp" shows it',
    );
  }
}

/** Returns the configuration that the answers give, without a file. @throws ConfigError */
function configOf(text: string, file: string): LoadedConfig {
  const overrides = loadYaml().parse(text);
  const env = secretsBeside(file, {});
  const loaded = loadConfig({ file: '/dev/null', env, cwd: '/', overrides, withoutSecrets: true });
  return { ...loaded, file };
}

/** Reads the file in the same way as the daemon of the unit. @throws ConfigError */
export function readAsService(file: string): LoadedConfig {
  return loadConfig({ file, env: {}, cwd: '/', withoutSecrets: true });
}

function stepsToRead(paths: readonly string[], account: string, machine: Machine): Step[] {
  const owner = machine.findAccount(account);
  const denied = paths.filter((path) => !mayRead(path, owner));
  return denied.map((path) => ({ kind: 'let read', path, account }));
}

/** Tells whether root must create the data directory, or give it to the account. */
function needsOwner(dataDir: string): boolean {
  const found = statSync(dataDir, { throwIfNoEntry: false });
  return found === undefined || found.uid === 0;
}

/**
 * Plans the installation. Asks questions first, then checks everything that could prevent the start
 * of the service. @throws UsageError without a terminal; ValidationError and ConfigError with the
 * next step
 */
export async function planInstallation(
  flags: ProductionFlags,
  {
    machine,
    ask,
    home,
    env,
  }: { machine: Machine; ask: Ask | null; home: string; env: Environment },
): Promise<Plan> {
  const { places } = machine;
  const { config: file } = places;
  refuseVariables(env, file);
  const unit = unitInUse(machine);
  checkProgram(home, unit, machine);
  const { account } = unit;
  const isThere = textIfThere(file) !== null;
  let answers: (ProductionAnswers & { domain: string }) | null = null;
  if (isThere) refuseContradictions(flags, readAsService(file), file);
  else {
    const ownName = machine.hostname();
    answers = await answersOf(flags, { ask, ownName, dataDir: places.dataDir });
  }
  const newConfig = answers && productionConfig(answers);
  const loaded = newConfig === null ? readAsService(file) : configOf(newConfig, file);
  const domain =
    answers?.domain ?? (await askForDomain(flags, ask, loaded.config.delivery.hostname));
  checkDataDir(loaded, unit, machine);
  await checkPorts(loaded, machine);
  const { dataDir } = loaded.config;
  const folder = dirname(file);
  const before: Step[] = [
    ...(machine.findAccount(account) === null ? [useradd(account, places.dataDir)] : []),
    ...(existsSync(folder)
      ? []
      : [{ kind: 'folder', path: folder, mode: 0o755, account: 'root' } as const]),
    ...(newConfig === null
      ? stepsToRead([folder, file], account, machine)
      : [{ kind: 'file', path: file, text: newConfig, mode: 0o640, account } as const]),
    ...(needsOwner(dataDir)
      ? [{ kind: 'folder', path: dataDir, mode: 0o700, account } as const]
      : []),
  ];
  const text = systemdUnit({ home: lastingHome(home), config: file });
  const behind: Step[] = [
    ...(unit.isNew
      ? [{ kind: 'file', path: unit.path, text, mode: 0o644, account: 'root' } as const]
      : []),
    { kind: 'run', words: ['systemctl', 'daemon-reload'] },
    { kind: 'run', words: ['systemctl', 'enable', '--now', 'svc'] },
  ];
  return { domain, loaded, newConfig, before, behind, unit: unit.path };
}

const useradd = (account: string, home: string): Step => ({
  kind: 'run',
  words: [
    ...(['useradd', '--system', '--user-group', '--home-dir', home] as const),
    ...['--shell', '/usr/sbin/nologin', account],
  ],
});
