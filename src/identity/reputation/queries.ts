// All SQL on `counters` and `breakdown_counters`. Reads and writes rows, decides nothing.
import { sql } from 'kysely';
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { metrics, type Tally } from './metrics.ts';

/** Traits by which mail is counted: the origin of a mail, or the domain of the recipient. */
export const breakdowns = ['campaign', 'template', 'sender', 'domain'] as const;
export type Breakdown = (typeof breakdowns)[number];

export interface CounterRow extends Tally {
  organization_id: string;
  bucket_start: number;
}

interface CounterTables {
  counters: CounterRow & { shard: number };
  breakdown_counters: CounterRow & { kind: Breakdown; name: string; shard: number };
}

const own = ownTables<CounterTables>();

/** Time range in ms since 1970: `from` is included, `to` is not. */
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

/** Counter of mail by a trait and day. Hot. */
export const breakdownCounts = own.counter(
  'breakdown_counters',
  ['organization_id', 'kind', 'bucket_start', 'name', 'shard'],
  metrics,
);

/** Key of the counters of a trait. `day` is the start of the day (UTC), ms since 1970. */
export interface CountedDay {
  organizationId: string;
  kind: Breakdown;
  day: number;
}

/** Returns up to `limit` names with a counter on this day, including `*`, in no order. */
export async function selectCountedNames(
  db: Db,
  { organizationId, kind, day }: CountedDay,
  limit: number,
): Promise<string[]> {
  const rows = await tables<CounterTables>(db)
    .selectFrom('breakdown_counters')
    .select('name')
    .distinct()
    .where('organization_id', '=', organizationId)
    .where('kind', '=', kind)
    .where('bucket_start', '=', day)
    .limit(limit)
    .execute();
  return rows.map(({ name }) => name);
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

/** Adds up counts by a trait, the most emails first. */
export function sumBy(
  db: Db,
  organizationId: string,
  kind: Breakdown,
  range: Range,
  limit: number,
): Promise<(Tally & { name: string })[]> {
  return tables<CounterTables>(db)
    .selectFrom('breakdown_counters')
    .select(['name', ...summed])
    .where('organization_id', '=', organizationId)
    .where('kind', '=', kind)
    .where('bucket_start', '>=', range.from)
    .where('bucket_start', '<', range.to)
    .groupBy('name')
    .orderBy('emails', 'desc')
    .orderBy('name')
    .limit(limit)
    .execute();
}
