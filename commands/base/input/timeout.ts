// The longest time that a command waits, as a flag.
import { Flags } from '@oclif/core';
import { UsageError } from '../output/failure.ts';

/** Describes `--timeout`, with `seconds` as the default. */
export function timeoutFlag(seconds: number) {
  return Flags.string({
    description: 'Longest time to wait in seconds; 0: no limit',
    default: String(seconds),
    helpValue: 'SECONDS',
  });
}

/** Returns the time in milliseconds; undefined for no limit. @throws UsageError */
export function timeoutFrom(text: string): number | undefined {
  const seconds = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text))
    throw new UsageError(`--timeout ${text}: expected a number of seconds`);
  return seconds === 0 ? undefined : seconds * 1000;
}
