// Turns for look-ups of domain records: two at a time for an organization; others wait in their
// order. A second request for the same domain gets the answer of the first.
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import type { StoredDomain } from './domains.ts';

/** Domain after a check. */
export interface CheckedDomain extends StoredDomain {
  /** Whether its records prove it, but another organization has verified the name. */
  isTaken: boolean;
}

const mostAtOnce = 2;

interface Turns {
  running: number;
  waiting: (() => void)[];
}

const turnsOf = perApp((_app: App) => ({
  byOrganization: new Map<string, Turns>(),
  underWay: new Map<string, Promise<CheckedDomain>>(),
}));

/** Runs `check` for the domain when its turn comes, unless such a check is queued already. */
export function checkInTurn(
  app: App,
  organizationId: string,
  id: string,
  check: () => Promise<CheckedDomain>,
): Promise<CheckedDomain> {
  const { byOrganization, underWay } = turnsOf(app);
  const key = `${organizationId} ${id}`;
  const known = underWay.get(key);
  if (known !== undefined) return known;
  const turns = byOrganization.get(organizationId) ?? { running: 0, waiting: [] };
  byOrganization.set(organizationId, turns);
  const checked = takeTurn(turns)
    .then(check)
    .finally(() => {
      underWay.delete(key);
      const next = turns.waiting.shift();
      if (next) return next();
      turns.running -= 1;
      if (turns.running === 0) byOrganization.delete(organizationId);
    });
  underWay.set(key, checked);
  return checked;
}

/** Resolves once a place is taken. A check that ends passes its place to the next one. */
async function takeTurn(turns: Turns): Promise<void> {
  if (turns.running < mostAtOnce) turns.running += 1;
  else await new Promise<void>((resolve) => turns.waiting.push(resolve));
}
