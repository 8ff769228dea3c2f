// Whose turn it is to have a domain's records looked up: two look-ups for an organization at a time, the
// others wait in their order; who asks for a domain that is being looked at gets that answer.
import type { App } from '../app.ts';
import { perApp } from '../runtime/per-app.ts';
import type { StoredDomain } from './domains.ts';

const mostAtOnce = 2;

interface Turns {
  running: number;
  waiting: (() => void)[];
}

const turnsOf = perApp((_app: App) => ({
  byOrganization: new Map<string, Turns>(),
  underWay: new Map<string, Promise<StoredDomain>>(),
}));

/** Has `check` look at the domain when its turn comes, unless that is asked for already. */
export function checkInTurn(
  app: App,
  organizationId: string,
  id: string,
  check: () => Promise<StoredDomain>,
): Promise<StoredDomain> {
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

/** Resolves with a place taken; who ends hands its place on. */
async function takeTurn(turns: Turns): Promise<void> {
  if (turns.running < mostAtOnce) turns.running += 1;
  else await new Promise<void>((resolve) => turns.waiting.push(resolve));
}
