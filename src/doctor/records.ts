// Look-ups of domains' records by `svc doctor`: the stored states are as old as the last check.
import type { App } from '../core/app.ts';
import { selectScheduled } from '../identity/domains/queries.ts';
import { findGoneRecords } from '../identity/domains/verification.ts';
import { ResourceNotFoundError } from '../platform/errors.ts';
import { within } from '../platform/runtime/clock.ts';

/** Time for all look-ups together. */
const lookUpMs = 10_000;
const mostAtOnce = 8;
/** Far more domains than are looked up in time. */
const mostDomains = 2_000;

interface LookedUp {
  /** Domains that were looked up in time. */
  count: number;
  /** Verified domains whose records are gone. */
  gone: { domain: string; organizationId: string; records: string[] }[];
}

/** Looks up the records of verified domains, as many as it can in ten seconds. */
export async function lookUpDomains(app: App): Promise<LookedUp> {
  const waiting = await selectScheduled(app.store.db, mostDomains);
  const found: LookedUp = { count: 0, gone: [] };
  let isOver = false;
  const lookUpSome = async () => {
    for (let row = waiting.shift(); row && !isOver; row = waiting.shift()) {
      const records = await findGoneRecords(app, row).catch(unlessDeleted);
      if (isOver) return;
      found.count += 1;
      const { domain, organization_id: organizationId } = row;
      if (records.length > 0) found.gone.push({ domain, organizationId, records });
    }
  };
  const late = new Error('the time for look-ups is over');
  const all = Promise.all(Array.from({ length: mostAtOnce }, lookUpSome));
  try {
    await within(app.clock, lookUpMs, all, () => late);
  } catch (error) {
    if (error !== late) throw error;
    all.catch((failure: unknown) => app.log.debug({ err: failure }, 'a late look-up failed'));
  } finally {
    isOver = true;
  }
  return found;
}

function unlessDeleted(error: unknown): string[] {
  if (error instanceof ResourceNotFoundError) return [];
  throw error;
}
