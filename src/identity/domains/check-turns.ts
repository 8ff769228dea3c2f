// Turns for look-ups of domains: two at a time for an organization; further look-ups wait in order.
// A second look-up with the same key gets the answer of the first.
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';

const mostAtOnce = 2;

interface Turns {
  running: number;
  waiting: (() => void)[];
}

/**
 * Runs `work` once fewer than two look-ups of the organization run. A call with the `what` of a
 * queued or running look-up gets the result of that look-up.
 */
type InTurn<T> = (
  app: App,
  organizationId: string,
  what: string,
  work: () => Promise<T>,
) => Promise<T>;

/** Creates the queue of a kind of look-up. */
export function lookUpTurns<T>(): InTurn<T> {
  const turnsOf = perApp((_app: App) => ({
    byOrganization: new Map<string, Turns>(),
    underWay: new Map<string, Promise<T>>(),
  }));
  return (app, organizationId, what, work) => {
    const { byOrganization, underWay } = turnsOf(app);
    const key = `${organizationId} ${what}`;
    const known = underWay.get(key);
    if (known !== undefined) return known;
    const turns = byOrganization.get(organizationId) ?? { running: 0, waiting: [] };
    byOrganization.set(organizationId, turns);
    const found = takeTurn(turns)
      .then(work)
      .finally(() => {
        underWay.delete(key);
        const next = turns.waiting.shift();
        if (next) return next();
        turns.running -= 1;
        if (turns.running === 0) byOrganization.delete(organizationId);
      });
    underWay.set(key, found);
    return found;
  };
}

/** Resolves once the look-up may run: at once, or when an earlier look-up has ended. */
async function takeTurn(turns: Turns): Promise<void> {
  if (turns.running < mostAtOnce) turns.running += 1;
  else await new Promise<void>((resolve) => turns.waiting.push(resolve));
}
