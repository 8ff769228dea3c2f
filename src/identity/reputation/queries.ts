// All SQL on `counters` and `domain_counters`. Reads and writes rows, decides nothing.
import { sql } from 'kysely';
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { metrics, type Tally } from './metrics.ts';

export interface CounterRow extends Tally {
  organization_id: string;
  bucket_start: number;
}

interface CounterTables {
  counters: CounterRow & { shard: number };
  domain_counters: CounterRow & { domain: string; shard: number };
}

const own = ownTables<CounterTables>();

/** From `from` to before `to`, ms since 1970. */
export interface Range {
  from: number;
  to: number;
}

/** Counter of mail by hour. Hot. */
export const hourCounts = own.counter(
  'counters',
  ['organization_id', 'bucket_start', 'shard'],
  metrics,
);

/** Counter of mail by recipient domain and day. Hot. */
export const domainCounts = own.counter(
  'domain_counters',
  ['organization_id', 'bucket_start', 'domain', 'shard'],
  metrics,
);

/** Lists the domains with a separate counter on this day, at most `limit`. */
export async function selectCountedDomains(
  db: Db,
  organizationId: string,
  day: number,
  limit: number,
): Promise<string[]> {
  const rows = await tables<CounterTables>(db)
    .selectFrom('domain_counters')
    .select('domain')
    .distinct()
    .where('organization_id', '=', organizationId)
    .where('bucket_start', '=', day)
    .limit(limit)
    .execute();
  return rows.map(({ domain }) => domain);
}

const summed = metrics.map((metric) =>
  sql<number>`cast(coalesce(sum(${sql.ref(metric)}), 0) as bigint)`.as(metric),
);

/** Adds up all counts of the range. */
export function sumCounters(db: Db, organizationId: string, range: Range): Promise<Tally> {
  return tables<CounterTables>(db)
    .selectFrom('counters')
    .select(summed)
    .where('organization_id', '=', organizationId)
    .where('bucket_start', '>=', range.from)
    .where('bucket_start', '<', range.to)
    .executeTakeFirstOrThrow();
}

/** Returns the hours of the range that have counts, the oldest first. */
export function selectCounters(
  db: Db,
  organizationId: string,
  range: Range,
): Promise<CounterRow[]> {
  return tables<CounterTables>(db)
    .selectFrom('counters')
    .select(['organization_id', 'bucket_start', ...summed])
    .where('organization_id', '=', organizationId)
    .where('bucket_start', '>=', range.from)
    .where('bucket_start', '<', range.to)
    .groupBy(['organization_id', 'bucket_start'])
    .orderBy('bucket_start')
    .execute();
}

/** Adds up counts by recipient domain, the most emails first. */
export function sumByDomain(
  db: Db,
  organizationId: string,
  range: Range,
  limit: number,
): Promise<(Tally & { domain: string })[]> {
  return tables<CounterTables>(db)
    .selectFrom('domain_counters')
    .select(['domain', ...summed])
    .where('organization_id', '=', organizationId)
    .where('bucket_start', '>=', range.from)
    .where('bucket_start', '<', range.to)
    .groupBy('domain')
    .orderBy('emails', 'desc')
    .orderBy('domain')
    .limit(limit)
    .execute();
}
