// Counts mail in the transaction of each change, never by a scan.
// src/outbound/queue/settling/outcome-counts.ts translates outcomes to counts.
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import type { Db } from '../../platform/store/db.ts';
import { shardOf } from '../../platform/store/shards.ts';
import { dayOf, hourOf, type Tally } from './metrics.ts';
import { domainCounts, hourCounts, selectCountedDomains } from './queries.ts';

/**
 * Most recipient domains of an organization and day with separate counters; the first domains of
 * the day get them. Each daemon may add as many.
 */
const mostDomains = 200;
/** Name of the counter of all other domains of the day. */
const otherDomains = '*';
/** Number of pairs of organization and day with domains in memory. */
const mostRemembered = 256;

/** A change to count. */
export interface Observation {
  organizationId: string;
  /**
   * Time when the message was accepted or received, ms since 1970. Outcomes count in the hour of
   * that time.
   */
  acceptedAt: number;
  /** Domain of the recipient; null for counts of a message. */
  domain: string | null;
  counts: Readonly<Partial<Tally>>;
}

/** Domains with their own counter, by organization and day. */
const rememberedOf = perApp<App, Map<string, Set<string>>>(() => new Map());

/** Counts a batch at the end of the caller's transaction. */
export async function countMail(
  app: App,
  trx: Db,
  observations: readonly Observation[],
): Promise<void> {
  if (observations.length === 0) return;
  const shard = shardOf(trx);
  const hours = hourCounts.of(trx);
  const domains = domainCounts.of(trx);
  for (const { organizationId, acceptedAt, domain, counts } of observations) {
    const hour = hourOf(acceptedAt);
    hours.add({ organization_id: organizationId, bucket_start: hour, shard }, counts);
    if (domain === null) continue;
    const day = dayOf(acceptedAt);
    const known = rememberedOf(app).get(`${organizationId} ${day}`);
    // Awaits only if the domains are not in memory: awaiting costs more than counting.
    const counted = countedDomain(
      known ?? (await readDomains(app, trx, organizationId, day)),
      domain,
    );
    const ofDay = { organization_id: organizationId, bucket_start: day, domain: counted, shard };
    domains.add(ofDay, counts);
  }
}

/** Returns the domain, or `*` once the day has `mostDomains`. */
function countedDomain(known: Set<string>, domain: string): string {
  if (known.has(domain)) return domain;
  if (known.size >= mostDomains) return otherDomains;
  known.add(domain);
  return domain;
}

async function readDomains(
  app: App,
  trx: Db,
  organizationId: string,
  day: number,
): Promise<Set<string>> {
  const domains = new Set(await selectCountedDomains(trx, organizationId, day, mostDomains + 1));
  domains.delete(otherDomains);
  const all = rememberedOf(app);
  const [oldest] = all.keys();
  if (all.size >= mostRemembered && oldest !== undefined) all.delete(oldest);
  all.set(`${organizationId} ${day}`, domains);
  return domains;
}
