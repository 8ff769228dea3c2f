// A machine for `svc init --production`: its places lie in a folder, and the steps that would run
// programs are only kept.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Machine,
  type Owner,
  performOnFiles,
  type Step,
} from '../../commands/base/production/machine.ts';

export interface FakeMachine extends Machine {
  folder: string;
  /** Folder of a program that every account may read. */
  home: string;
  steps: Step[];
  accounts: Map<string, Owner>;
  /** Reason that the daemon does not become ready. */
  problem: string | null;
  /** All paths below the folder. */
  paths(): string[];
  close(): void;
}

const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

/** Owner of the files of `svc`: only root can give files away. */
export const serviceOwner = self.uid === 0 ? { uid: 54_321, gid: 54_322 } : self;

/** Makes a machine that root runs, under systemd, without an account and files of the service. */
export function fakeMachine(): FakeMachine {
  const folder = mkdtempSync(join(tmpdir(), 'svc-machine-'));
  chmodSync(folder, 0o755);
  const at = (path: string) => join(folder, path);
  const home = at('opt/svc');
  for (const made of ['run/systemd/system', 'etc/systemd/system', 'opt/svc/bin', 'var/lib', 'usr'])
    mkdirSync(at(made), { recursive: true, mode: 0o755 });
  mkdirSync(join(home, 'node_modules'));
  for (const file of ['bin/svc', 'bin/run.js', 'package.json'])
    writeFileSync(join(home, file), '', { mode: 0o644 });
  const steps: Step[] = [];
  const accounts = new Map([['root', self]]);
  return {
    folder,
    home,
    steps,
    accounts,
    problem: null,
    places: {
      systemd: at('run/systemd/system'),
      config: at('etc/svc/config.yaml'),
      dataDir: at('var/lib/svc'),
      unit: at('etc/systemd/system/svc.service'),
      packageUnits: [at('usr/svc.service')],
    },
    isRoot: () => true,
    hostname: () => 'mx1.example.com',
    findAccount: (name) => accounts.get(name) ?? null,
    isPortTaken: async () => false,
    isServiceRunning: () => false,
    perform(step) {
      steps.push(step);
      if (step.kind !== 'run') performOnFiles(step, accounts.get(step.account) ?? serviceOwner);
      else if (step.words[0] === 'useradd') accounts.set(step.words.at(-1) ?? '', serviceOwner);
    },
    async untilReady() {
      return this.problem;
    },
    paths: () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort(),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
