// The keys that this process knows, by hash. The authenticator asks them for each request; who takes
// rights away makes it forget them at once. Other processes learn that from the counter in the store,
// within a second.

import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { perApp } from '../runtime/per-app.ts';
import { KnownRows } from '../store/changes.ts';
import { keyChanges } from './queries.ts';

const mostKnown = 10_000;

export interface KnownKey {
  hash: string;
  caller: Caller;
  keyId: string;
  expiresAt: number | null;
}

export const knownKeys = perApp(
  ({ clock, store }: App) =>
    new KnownRows<KnownKey>(clock, mostKnown, () => keyChanges.count(store.db)),
);

/** To be called after the commit of a revocation, a rotation or a change of what a caller carries. */
export function keysChanged(app: App): void {
  knownKeys(app).forget();
}
