// Two ways to leave a daemon no room to write, and to give it back: a file system of a few megabytes
// (a tmpfs: only root can have one, and not in every container), and a limit on the size of files.
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
  /** Leaves not one block free, until `empty`. */
  fill(): void;
  empty(): void;
  makeReadOnly(): void;
  unmount(): void;
}

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Mounts one at `directory`, which is made. @throws Error where that is not allowed. */
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
      // Lazy: a test that failed may leave a process that still holds a file there.
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

/** Whether this process may mount. */
export const canMount = process.getuid?.() === 0 && tryMount();

/** Limits how large the files of a process may grow; null: not at all. False where that fails. */
export function limitFileSize(pid: number, bytes: number | null): boolean {
  return run('prlimit', '--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:unlimited`);
}

/** Whether `limitFileSize` can be used. */
export const canLimitFiles = limitFileSize(process.pid, null);
