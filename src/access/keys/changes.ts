// The cache of keys in this process, by hash. The authenticator reads it for each request. A change
// that removes rights clears this cache at once; further processes see the counter in the store
// change within a second, and clear their caches.

import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { KnownRows } from '../../platform/store/changes/changes.ts';
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

/**
 * Clears the cache. Call it after the commit of a revocation, a rotation or a change of a caller's
 * fields.
 */
export function keysChanged(app: App): void {
  knownKeys(app).forget();
}
