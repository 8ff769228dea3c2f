// The flag `--timeout`, the longest wait of a command, in the same form for all commands.
import { Flags } from '@oclif/core';
import { UsageError } from '../output/failure.ts';
import { durationMs } from './since.ts';

/**
 * Describes `--timeout`. `usual` is the wait without the flag, such as `60s`, or 0 for no limit.
 */
export function timeoutFlag(usual: string, dependsOn: string[] = []) {
  return Flags.string({
    description:
      usual === '0'
        ? 'Longest wait, such as 90s or 30m (default: no limit)'
        : `Longest wait, such as 90s; 0: no limit (default: ${usual})`,
    helpValue: 'TIME',
    dependsOn,
  });
}

/**
 * Returns the time in milliseconds; undefined for no limit. A number alone is in seconds.
 * @throws UsageError
 */
export function timeoutFrom(text: string): number | undefined {
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : durationMs(text);
  if (ms === undefined) {
    throw new UsageError(`--timeout ${text}: expected such as 90, 90s or 30m, or 0 for no limit`);
  }
  return ms === 0 ? undefined : ms;
}
