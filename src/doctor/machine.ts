// Checks of this machine: runtime, files, disk, clock.
import { chmodSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../core/app.ts';
import { isClockTrusted } from '../core/clock/age.ts';
import { findClockState } from '../core/clock/queries.ts';
import { messageOf } from '../platform/errors.ts';
import { getFromStranger } from '../platform/net/http/client.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import { secretFile } from '../platform/runtime/key-ring.ts';
import { machineTime } from '../platform/store/changes/database-clock.ts';
import { storeLocation } from '../platform/store/open.ts';
import { readLastBackup } from '../platform/upkeep/last-backup.ts';
import { type Check, fail, type Machine, ok, skipped, warn } from './finding.ts';
import { engineVersion } from './queries.ts';

/** Names of network file systems by their numbers in Linux (statfs(2), linux/magic.h). */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9P'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
]);

/** File systems that lose files at a restart, by their numbers in Linux. */
const passingFileSystems: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs, which lies in memory: a restart of the machine empties it'],
  [0x858458f6, 'ramfs, which lies in memory: a restart of the machine empties it'],
  [0x794c7630, 'the overlay of a container, which is deleted with the container'],
]);

/** Returns a description of a file system that loses files at a restart; null for the rest. */
export function passingFileSystemOf(type: number): string | null {
  return passingFileSystems.get(type) ?? null;
}

/**
 * Returns the name of a network file system by the number in `statfs`; null for any other file
 * system.
 */
export function networkFileSystemOf(type: number): string | null {
  return networkFileSystems.get(type) ?? null;
}

/** The machine of this process. */
export const thisMachine: Machine = {
  nodeVersion: process.versions.node,
  mostOpenFiles() {
    try {
      const limits = readFileSync('/proc/self/limits', 'utf8');
      const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? [];
      return soft === undefined ? null : Number(soft);
    } catch {
      return null;
    }
  },
  disk(directory) {
    const { bavail, blocks, bsize } = statfsSync(directory);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  },
  networkFileSystem(path) {
    return networkFileSystemOf(statfsSync(path).type);
  },
  passingFileSystem(path) {
    return passingFileSystemOf(statfsSync(path).type);
  },
  ownerOf(path) {
    return statSync(path, { throwIfNoEntry: false })?.uid ?? null;
  },
  modeOf(path) {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat ? stat.mode & 0o777 : null;
  },
};

const leastNode = 24;
const openToOthers = 0o077;
const gigabyte = 1024 ** 3;
const fullDisk = { warn: 2 * gigabyte, fail: gigabyte / 4 };
const fewFiles = { warn: 4_096, fail: 512 };
const wrongClock = { warn: 5_000, fail: 60_000 };
const patience = { connectMs: 3_000, totalMs: 5_000 };
const dayMs = 24 * 3600_000;
const oldBackupMs = 7 * dayMs;

const gigabytes = (bytes: number) => `${(bytes / gigabyte).toFixed(1)} GB`;

/** Files that only the owner may read, each with the mode that it should have. */
function guardedFiles({ config }: App): { path: string; mode: number }[] {
  const { dataDir, database, secret } = config;
  const location = storeLocation(database.url, dataDir);
  const store = location.kind === 'sqlite' ? [{ path: location.file, mode: 0o600 }] : [];
  const key = secret.key === null ? [{ path: secretFile(dataDir, secret), mode: 0o600 }] : [];
  return [{ path: dataDir, mode: 0o700 }, ...key, ...store];
}

function openFilesOf(app: App, machine: Machine) {
  return guardedFiles(app).filter(({ path }) => ((machine.modeOf(path) ?? 0) & openToOthers) !== 0);
}

/**
 * Removes the rights of other users on the files of the service. Returns the changes, a line each.
 */
export function guardFiles(app: App, machine: Machine): string[] {
  return openFilesOf(app, machine).map(({ path, mode }) => {
    chmodSync(path, mode);
    return `${path} is now readable only by its owner`;
  });
}

/** Files of the service that do not belong to the owner of `dataDir`. */
function foreignFiles(app: App, machine: Machine): string[] {
  const { dataDir } = app.config;
  const owner = machine.ownerOf(dataDir);
  const further = ['blobs', 'last-backup.json'].map((name) => join(dataDir, name));
  return [...guardedFiles(app).map(({ path }) => path), ...further].filter((path) => {
    const own = machine.ownerOf(path);
    return own !== null && own !== owner;
  });
}

export const machineChecks: readonly Check[] = [
  {
    name: 'runtime',
    async look({ app, machine }) {
      const found = `Node ${machine.nodeVersion}, ${await engineVersion(app.store.db)}`;
      if (Number.parseInt(machine.nodeVersion, 10) >= leastNode) return ok(found);
      const remedy = `Use Node ${leastNode} or later: "npm install" brings it along.`;
      return fail(found, remedy, 'npm install');
    },
  },
  {
    name: 'files',
    async look({ app, machine }) {
      const foreign = foreignFiles(app, machine);
      if (foreign.length > 0) {
        const { dataDir } = app.config;
        const sentence = `${foreign.join(', ')} belongs to another account than ${dataDir}`;
        const step = 'Give the files to the account of the daemon: it cannot use them else.';
        return fail(sentence, step, `chown --reference=${dataDir} ${foreign.join(' ')}`);
      }
      const open = openFilesOf(app, machine);
      if (open.length === 0) return ok(`${app.config.dataDir} is readable only by its owner`);
      const found = `others can read ${open.map(({ path }) => path).join(', ')}`;
      const remedy = 'Take these rights away: the files hold mail and keys.';
      return fail(found, remedy, 'svc doctor --only files --fix');
    },
  },
  {
    name: 'disk',
    async look({ app, machine }) {
      const { freeBytes, totalBytes } = machine.disk(app.config.dataDir);
      const found = `${gigabytes(freeBytes)} of ${gigabytes(totalBytes)} are free at ${app.config.dataDir}`;
      if (freeBytes >= fullDisk.warn) return ok(found);
      const remedy =
        'Free some space, or let old messages be deleted: retention.messagesDays. Without space nothing is accepted.';
      const judge = freeBytes >= fullDisk.fail ? warn : fail;
      return judge(found, remedy, 'svc config show');
    },
  },
  {
    name: 'store-place',
    async look({ app, machine }) {
      const location = storeLocation(app.config.database.url, app.config.dataDir);
      const path = location.kind === 'sqlite' ? location.file : app.config.dataDir;
      const passing = machine.passingFileSystem(path);
      if (passing !== null) {
        const step =
          'Move dataDir to a disk, or to a volume of the container: it holds mail and keys.';
        return warn(`${path} is on ${passing}`, step, 'svc config show');
      }
      if (location.kind === 'postgres') return ok('the store is on PostgreSQL');
      const network = machine.networkFileSystem(location.file);
      if (network === null) return ok(`${location.file} is on a disk of this machine`);
      const remedy =
        'Move the data directory to a local disk, or use PostgreSQL. SQLite needs locks and shared ' +
        'memory that a network file system does not give: two daemons could open the store and damage it.';
      return fail(`${location.file} is on ${network}`, remedy, 'svc config show');
    },
  },
  {
    name: 'open-files',
    async look({ machine }) {
      const most = machine.mostOpenFiles();
      if (most === null) return skipped('this system does not name a limit of open files');
      const found = `${most} files and connections may be open at once`;
      if (most >= fewFiles.warn) return ok(found);
      const remedy = 'Raise the limit: LimitNOFILE=65536 in the systemd unit, or ulimit -n.';
      return (most >= fewFiles.fail ? warn : fail)(found, remedy, 'svc daemon unit');
    },
  },
  {
    name: 'clock',
    needsInternet: true,
    async look({ app }) {
      const host = 'data.iana.org';
      try {
        const url = new URL(`https://${host}/`);
        const answer = await getFromStranger(app, url, '*/*', patience);
        const date = Date.parse(answer.header('date') ?? '');
        if (Number.isNaN(date)) return skipped(`${host} does not tell its time`);
        const offMs = Math.abs(machineTime(app.clock) - date);
        const found = `the clock is ${Math.round(offMs / 1000)} s off that of ${host}`;
        if (offMs < wrongClock.warn) return ok(found);
        const remedy =
          'Let the system keep its time by NTP: signatures and certificates depend on it.';
        return (offMs < wrongClock.fail ? warn : fail)(found, remedy, 'timedatectl set-ntp true');
      } catch (error) {
        return skipped(`${host} cannot be asked for its time: ${messageOf(error)}`);
      }
    },
  },
  {
    name: 'clock-jumps',
    async look({ app }) {
      const state = await findClockState(app.store.db);
      if (!state || state.jumped_at === null)
        return ok('the clock was never set while a daemon ran');
      const { jumped_at, jump_ms } = state;
      const seconds = Math.round((jump_ms ?? 0) / 1000);
      const at = isoTime(jumped_at);
      const found =
        seconds < 0
          ? `the clock was set back by ${-seconds} s at ${at}`
          : `the clock went forward by ${seconds} s at ${at}, or no daemon ran for so long`;
      if (await isClockTrusted(app)) return ok(found);
      const remedy =
        'Let the system keep its time by NTP. No data is deleted by age until the clock has been steady for an hour.';
      return warn(found, remedy, 'timedatectl set-ntp true');
    },
  },
  {
    name: 'backup',
    async look({ app }) {
      const { dataDir, database } = app.config;
      const last = readLastBackup(dataDir);
      if (last === null && storeLocation(database.url, dataDir).kind === 'postgres') {
        return skipped(
          'the store is on PostgreSQL: whether its server is backed up is not known here',
        );
      }
      const remedy = 'Back up each day, and keep the file on another machine.';
      const command = `svc backup ${join(dataDir, 'backup.db')} --overwrite`;
      if (last === null) return warn('there was no backup yet', remedy, command);
      const found = `the last backup was made at ${isoTime(last.at)}: ${last.file}`;
      return app.clock.now() - last.at < oldBackupMs ? ok(found) : warn(found, remedy, command);
    },
  },
];
