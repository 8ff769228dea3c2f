// The schedule of domain checks (contract 6): whose time has come is looked at, a few at once. What a
// check finds and does is verification.ts.
import type { App } from '../app.ts';
import { ResourceNotFoundError } from '../errors.ts';
import { type DomainRow, deferCheck, selectDueDomains } from './queries.ts';
import { checkDomain } from './verification.ts';

/** A process that took a check and died costs the domain this long. */
const claimMs = 10 * 60_000;
const mostChecksAtOnce = 10;

/**
 * Checks the domains that are due; for the scheduler, each minute. Several daemons share the work.
 * @returns how many were checked.
 */
export async function checkDueDomains(app: App): Promise<number> {
  const now = app.clock.now();
  const due = await selectDueDomains(app.store.db, now, mostChecksAtOnce);
  if (due.length === 0) return 0;
  // In the order in which every daemon locks them.
  due.sort((a, b) => (a.id < b.id ? -1 : 1));
  const taken = await app.store.write(async (trx) => {
    const mine: DomainRow[] = [];
    for (const domain of due) {
      if (await deferCheck(trx, domain, now + claimMs)) mine.push(domain);
    }
    return mine;
  });
  await Promise.all(taken.map((domain) => checkQuietly(app, domain)));
  return taken.length;
}

async function checkQuietly(app: App, { id, organization_id, domain }: DomainRow): Promise<void> {
  try {
    await checkDomain(app, organization_id, id);
  } catch (error) {
    // Deleted while it was checked: nothing is left to say.
    if (error instanceof ResourceNotFoundError) return;
    app.log.error({ err: error, domain }, 'domain check');
  }
}
