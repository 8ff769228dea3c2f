// Resources that all services of a process share, such as the workers of templates: starting a
// worker takes longer than most tests. Their deadlines use the clock of the system. An idle worker
// keeps no process alive.
import type { AppOverrides } from '../../src/core/app.ts';
import { type Clock, systemClock } from '../../src/platform/runtime/clock.ts';

const kept = new Map<string, { close(): Promise<void> }>();

/** Returns the resource of this name; makes it at the first use. For `AppOverrides.keep`. */
export const keepForAll: NonNullable<AppOverrides['keep']> = <T extends { close(): Promise<void> }>(
  name: string,
  make: (clock: Clock) => T,
): T => {
  const known = kept.get(name) ?? make(systemClock);
  kept.set(name, known);
  return known as T;
};
