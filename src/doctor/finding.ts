// The result of a check of `svc doctor`, and the surroundings of checks.
import type { App } from '../core/app.ts';

/** `skipped`: the check had no result, or does not apply to this configuration. */
export type FindingStatus = 'ok' | 'warn' | 'fail' | 'skipped';

export interface Found {
  status: FindingStatus;
  /** The state of the machine, as a sentence. */
  found: string;
  /** Next step; null for `ok` and `skipped`. */
  remedy: string | null;
  /** Command that does the next step; null without a command. */
  command: string | null;
}

export interface Finding extends Found {
  check: string;
}

/** Facts of the operating system; tests replace them. */
export interface Machine {
  /** Version of Node.js, such as `24.11.1`. */
  nodeVersion: string;
  /** Limit of open files of this process; null where the system names none. */
  mostOpenFiles(): number | null;
  disk(directory: string): { freeBytes: number; totalBytes: number };
  /**
   * Name of the network file system that holds the path, such as `NFS`; null on a local file
   * system.
   */
  networkFileSystem(path: string): string | null;
  /** Description of a file system that loses files at a restart; null for other file systems. */
  passingFileSystem(path: string): string | null;
  /** Uid of the owner; null for a missing file. */
  ownerOf(path: string): number | null;
  /** Permission bits; null for a missing file. */
  modeOf(path: string): number | null;
}

/** The service and the machine, for checks. */
export interface Surroundings {
  app: App;
  machine: Machine;
  /** Reason for skipping checks that need the Internet; null if the DNS servers answer. */
  offline: string | null;
}

export interface Check {
  name: string;
  needsInternet?: true;
  /** Set for a check of `--mail`, which concerns mail to remote servers. */
  isOfMail?: true;
  look(surroundings: Surroundings): Promise<Found>;
}

export const ok = (found: string): Found => ({ status: 'ok', found, remedy: null, command: null });

export const skipped = (found: string): Found => ({ ...ok(found), status: 'skipped' });

export const warn = (found: string, remedy: string, command: string | null = null): Found => ({
  status: 'warn',
  found,
  remedy,
  command,
});

export const fail = (found: string, remedy: string, command: string | null = null): Found => ({
  status: 'fail',
  found,
  remedy,
  command,
});
