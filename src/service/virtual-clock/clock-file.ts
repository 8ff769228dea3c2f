// Stores the time of a virtual clock in a file beside the store. Commands use this time, and the
// next daemon continues from it. The file also has the address of the daemon and a token for
// commands.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isoTime } from '../../platform/runtime/clock.ts';

export interface ClockFile {
  /** Time of the clock, ms since 1970. */
  now: number;
  /** Base address of the running daemon; null while none runs. */
  url: string | null;
  /**
   * Token that commands present as a proof that they may read this file; null while no daemon runs.
   */
  token: string | null;
}

/** Returns the path of the file. */
export function clockFileOf(dataDir: string): string {
  return join(dataDir, 'virtual-clock.json');
}

/** Returns the content of the file; null for a store that uses the system's clock. */
export function readClockFile(dataDir: string): ClockFile | null {
  let text: string;
  try {
    text = readFileSync(clockFileOf(dataDir), 'utf8');
  } catch {
    return null;
  }
  const { now, url = null, token = null } = JSON.parse(text) as Record<string, string | null>;
  return { now: Date.parse(now ?? ''), url, token };
}

/** Writes the file, whole or not at all. */
export function writeClockFile(dataDir: string, { now, url, token }: ClockFile): void {
  const file = clockFileOf(dataDir);
  const text = `${JSON.stringify({ now: isoTime(now), url, token })}\n`;
  writeFileSync(`${file}.partial`, text, { mode: 0o600 });
  renameSync(`${file}.partial`, file);
}

/** Removes the file: the store uses the system's clock again. */
export function removeClockFile(dataDir: string): void {
  rmSync(clockFileOf(dataDir), { force: true });
}
