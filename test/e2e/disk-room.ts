// Two ways to take a daemon's room to write, and to give it back: a file system of a few megabytes
// (a tmpfs, which needs root and is not possible in every container), and a limit on the size of
// files.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly directory: string;
  /** Leaves no block free, until `empty`. */
  fill(): void;
  empty(): void;
  makeReadOnly(): void;
  unmount(): void;
}

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Mounts a file system at `directory`, which it creates. @throws Error without permission. */
export function mountDisk(directory: string, megabytes: number): SmallDisk {
  mkdirSync(directory, { recursive: true });
  if (!run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', directory)) {
    throw new Error(`no file system could be mounted at ${directory}`);
  }
  const filler = join(directory, 'filler');
  return {
    directory,
    fill() {
      const block = Buffer.alloc(statfsSync(directory).bsize);
      const descriptor = openSync(filler, 'a');
      try {
        for (;;) writeSync(descriptor, block);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(descriptor);
      }
    },
    empty: () => rmSync(filler, { force: true }),
    makeReadOnly() {
      if (!run('mount', '-o', 'remount,ro', directory)) throw new Error('remount failed');
    },
    unmount() {
      // Lazy: a failed test may leave a process that still holds a file there.
      run('umount', '--lazy', directory);
    },
  };
}

function tryMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'svc-mount-'));
  try {
    mountDisk(directory, 1).unmount();
    return true;
  } catch {
    return false;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** True if this process may mount. */
export const canMount = process.getuid?.() === 0 && tryMount();

/** Limits the size of a process's files, or lifts the limit for null. Returns false on failure. */
export function limitFileSize(pid: number, bytes: number | null): boolean {
  return run('prlimit', '--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:unlimited`);
}

/** True if `limitFileSize` works here. */
export const canLimitFiles = limitFileSize(process.pid, null);
