// Records the running daemon of a data directory, for commands: `daemon.json` names process,
// address and store. Without it, a command with a different database.url would use a store without
// a daemon.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFirstOrganization } from '../access/organizations/queries.ts';
import { type Db, engineOf } from '../platform/store/db.ts';

/** A daemon as `daemon.json` names it. */
export interface RunningDaemon {
  pid: number;
  /** Boot id and start time of the process, from /proc; null where /proc is missing. */
  startedAs: string | null;
  url: string;
  /** Location of the store, without a password. */
  store: string;
  storeId: string | null;
}

/**
 * Returns the identity of a store; null before its first start. A copy on a different engine has a
 * different identity, so that a command notices that it still uses the old store, where changes
 * would be lost. The digest hides the id of the organization.
 */
export async function storeIdOf(db: Db): Promise<string | null> {
  const first = await findFirstOrganization(db);
  if (!first) return null;
  const digest = createHash('sha256')
    .update(`${engineOf(db)}:${first.id}`)
    .digest('hex');
  return `store_${digest.slice(0, 24)}`;
}

const fileOf = (dataDir: string) => join(dataDir, 'daemon.json');

/** Returns boot and start time of a process: a later process with the same pid differs. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program in parentheses may contain spaces, so the text after it is split.
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${ticks}`;
  } catch {
    return null;
  }
}

/** Writes the file of this process, whole or not at all. Returns a function that removes it. */
export function leaveRunningDaemon(
  dataDir: string,
  { url, store, storeId }: Pick<RunningDaemon, 'url' | 'store' | 'storeId'>,
): () => void {
  const file = fileOf(dataDir);
  const { pid } = process;
  const daemon: RunningDaemon = { pid, startedAs: startOf(pid), url, store, storeId };
  writeFileSync(`${file}.${pid}`, `${JSON.stringify(daemon)}\n`, { mode: 0o600 });
  renameSync(`${file}.${pid}`, file);
  return () => {
    // A second daemon on PostgreSQL may have replaced the file in this directory.
    if (readDaemon(dataDir)?.pid === pid) rmSync(file, { force: true });
  };
}

function readDaemon(dataDir: string): RunningDaemon | null {
  try {
    const daemon = JSON.parse(readFileSync(fileOf(dataDir), 'utf8'));
    return Number.isSafeInteger(daemon.pid) && typeof daemon.store === 'string' ? daemon : null;
  } catch {
    return null;
  }
}

/**
 * Returns the living daemon of the directory, or null. Ignores the file of a killed daemon, even if
 * its pid belongs to a new process. Outside of Linux, the daemon must answer with the recorded pid
 * (`pidAt`).
 */
export async function findRunningDaemon(
  dataDir: string,
  pidAt: (url: string) => Promise<number | null>,
): Promise<RunningDaemon | null> {
  const daemon = readDaemon(dataDir);
  if (!daemon) return null;
  const start = startOf(daemon.pid);
  const isSame =
    start !== null && daemon.startedAs !== null
      ? start === daemon.startedAs
      : process.platform !== 'linux' && (await pidAt(daemon.url)) === daemon.pid;
  return isSame ? daemon : null;
}
