// The virtual clock of `svc daemon --clock virtual`: opens it, and moves it as `POST /dev/clock`
// says.
import { parseWith } from '../../core/api/validate.ts';
import type { Config } from '../../core/config/config.ts';
import { doesMailLeave } from '../../core/config/problems.ts';
import { ConfigError, ValidationError } from '../../platform/errors.ts';
import { isoTime, systemClock } from '../../platform/runtime/clock.ts';
import { PastTimeError, StandingClock } from '../../platform/runtime/standing-clock.ts';
import { isStoreThere } from '../../platform/store/open.ts';
import { type ClockFile, clockFileOf, readClockFile, writeClockFile } from './clock-file.ts';
import { type ClockState, clockInput, durationMs, mostDays } from './schema.ts';

const dayMs = 86_400_000;

export interface VirtualClockOptions {
  /** Time of the start, ms since 1970. Default: the time at which the store stopped, or now. */
  at: number | undefined;
  /** Whether mail may leave this machine although the times are not real. */
  allowNetwork: boolean;
}

/**
 * Refuses a start by the system's clock on a store whose times are virtual.
 * @throws ConfigError
 */
export function refuseVirtualStore({ dataDir }: Pick<Config, 'dataDir'>): void {
  const file = readClockFile(dataDir);
  if (!file) return;
  throw new ConfigError(
    `The times of this store are virtual: ${clockFileOf(dataDir)} says ${isoTime(file.now)}. Start the daemon ` +
      'with --clock virtual, or empty the store with "svc dev reset"',
  );
}

/** The clock of a daemon, and the file of the clock. */
export interface VirtualClock {
  clock: StandingClock;
  /** Publishes to commands the address of the daemon and the token that they must present. */
  publish(daemon: { url: string; token: string }): void;
  /** Stores the time for the next daemon. */
  close(): void;
}

/**
 * Opens the clock of a daemon. It stands at `at`, at the time of the store, or at the present.
 * @throws ConfigError if mail could leave this machine, or for `at` before the time of the store
 */
export async function openVirtualClock(
  config: Config,
  { at, allowNetwork }: VirtualClockOptions,
): Promise<VirtualClock> {
  const { dataDir, database, delivery } = config;
  if (doesMailLeave(delivery) && !allowNetwork) {
    throw new ConfigError(
      'Mail of this configuration leaves the machine (delivery.mode), at times that are not real: set ' +
        'delivery.mode to capture, or give --allow-network',
    );
  }
  const file = readClockFile(dataDir);
  const isNew = !(await isStoreThere(database, dataDir));
  const earliest = file?.now ?? (isNew ? 0 : systemClock.now());
  const start = at ?? file?.now ?? systemClock.now();
  if (start < earliest) {
    throw new ConfigError(
      `--at ${isoTime(start)}: the store has times up to ${isoTime(earliest)}, and time never goes back. Give a ` +
        'later time, or empty the store with "svc dev reset"',
    );
  }
  let daemon: Pick<ClockFile, 'url' | 'token'> = { url: null, token: null };
  const keep = () => writeClockFile(dataDir, { now: clock.now(), ...daemon });
  const clock = new StandingClock(start, { onTime: keep });
  return {
    clock,
    publish(running) {
      daemon = running;
      keep();
    },
    close() {
      clock.close();
      daemon = { url: null, token: null };
      keep();
    },
  };
}

export function clockState(clock: StandingClock): ClockState {
  return { now: isoTime(clock.now()), mode: 'virtual' };
}

/**
 * Moves the clock by the body of a request. Resolves when all work that fell due has settled.
 * @throws ValidationError, also for a time in the past or too far away
 */
export async function moveClock(clock: StandingClock, body: unknown): Promise<ClockState> {
  const { advance, to } = parseWith(clockInput, body, 'body');
  if (advance !== undefined) await clock.advanceBy(durationMs(advance));
  else if (to !== undefined) await moveTo(clock, Date.parse(to));
  else await clock.follow();
  return clockState(clock);
}

async function moveTo(clock: StandingClock, targetMs: number): Promise<void> {
  if (targetMs - clock.now() > mostDays * dayMs) {
    throw ValidationError.of('to', `must be at most ${mostDays} days away`);
  }
  try {
    await clock.advanceTo(targetMs);
  } catch (error) {
    if (error instanceof PastTimeError) throw ValidationError.of('to', error.message);
    throw error;
  }
}
