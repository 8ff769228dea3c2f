// What one check of `svc doctor` found, and what checks look at.
import type { App } from '../../core/app.ts';

/** `skipped`: it could not be looked at, or does not matter in this configuration. */
export type FindingStatus = 'ok' | 'warn' | 'fail' | 'skipped';

export interface Found {
  status: FindingStatus;
  /** A sentence on what is there. */
  found: string;
  /** Next step; null if there is nothing to do. */
  remedy: string | null;
  /** A command of the next step. */
  command: string | null;
}

export interface Finding extends Found {
  check: string;
}

/** Facts of the operating system; tests replace them. */
export interface Machine {
  /** Such as `24.11.1`. */
  nodeVersion: string;
  /** Limit of open files of this process; null where the system names none. */
  mostOpenFiles(): number | null;
  disk(directory: string): { freeBytes: number; totalBytes: number };
  /** Permission bits; null for a missing file. */
  modeOf(path: string): number | null;
}

/** What checks look at. */
export interface Surroundings {
  app: App;
  machine: Machine;
  /** Reason why the Internet cannot be asked; null if it can. */
  offline: string | null;
}

export interface Check {
  name: string;
  needsInternet?: true;
  /** Concerns mail to other servers: looked at with `--mail`. */
  isOfMail?: true;
  look(surroundings: Surroundings): Promise<Found>;
}

export const ok = (found: string): Found => ({ status: 'ok', found, remedy: null, command: null });

export const skipped = (found: string): Found => ({ ...ok(found), status: 'skipped' });

export const warn = (found: string, remedy: string, command: string | null = null): Found => ({
  ...{ status: 'warn', found, remedy, command },
});

export const fail = (found: string, remedy: string, command: string | null = null): Found => ({
  ...{ status: 'fail', found, remedy, command },
});
