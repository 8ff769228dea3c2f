// How the keys of one process tell its authenticator at once that rights were taken away. Other
// processes learn it from the counter in the store, within a second.
import type { App } from '../app.ts';

const generations = new WeakMap<App, number>();

/** Grows with every revocation or rotation by this process. */
export function keyGeneration(app: App): number {
  return generations.get(app) ?? 0;
}

/** To be called after the commit. */
export function keysChanged(app: App): void {
  generations.set(app, keyGeneration(app) + 1);
}
