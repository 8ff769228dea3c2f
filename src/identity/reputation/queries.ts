// All SQL on `counters` and `domain_counters`. Reads and writes rows, decides nothing.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Db, type ParameterOf, statement, tables } from '../../platform/store/db.ts';
import { type Metric, metrics, type Tally } from './metrics.ts';

export interface CounterRow extends Tally {
  organization_id: string;
  bucket_start: number;
}

export interface DomainCounterRow extends CounterRow {
  domain: string;
}

interface CounterTables {
  counters: CounterRow;
  domain_counters: DomainCounterRow;
}

/** From `from` to before `to`, ms since 1970. */
export interface Range {
  from: number;
  to: number;
}

type Placeholders = { [K in Metric]: number };

function placeholders(parameter: <K extends Metric>(name: K) => number): Placeholders {
  return Object.fromEntries(metrics.map((metric) => [metric, parameter(metric)])) as Placeholders;
}

const addTotal = statement((db: Kysely<CounterTables>, parameter: ParameterOf<CounterRow>) =>
  db
    .insertInto('counters')
    .values({
      organization_id: parameter('organization_id'),
      bucket_start: parameter('bucket_start'),
      ...placeholders(parameter),
    })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'bucket_start']).doUpdateSet(grown('counters')),
    ),
);

const addDomain = statement((db: Kysely<CounterTables>, parameter: ParameterOf<DomainCounterRow>) =>
  db
    .insertInto('domain_counters')
    .values({
      organization_id: parameter('organization_id'),
      bucket_start: parameter('bucket_start'),
      domain: parameter('domain'),
      ...placeholders(parameter),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'bucket_start', 'domain'])
        .doUpdateSet(grown('domain_counters')),
    ),
);

/** Returns the update for an existing row, which grows by the new one. */
function grown(table: keyof CounterTables) {
  const sums = metrics.map((metric) => [
    metric,
    sql<number>`${sql.ref(`${table}.${metric}`)} + ${sql.ref(`excluded.${metric}`)}`,
  ]);
  return Object.fromEntries(sums) as Record<Metric, RawBuilder<number>>;
}

/** Adds to counters. Hot. The caller sorts them, so that two transactions cannot deadlock. */
export async function addCounters(db: Db, rows: readonly CounterRow[]): Promise<void> {
  for (const row of rows) await addTotal(db, row);
}

/** Adds to domain counters, sorted like those of `addCounters`. Hot. */
export async function addDomainCounters(db: Db, rows: readonly DomainCounterRow[]): Promise<void> {
  for (const row of rows) await addDomain(db, row);
}

/** Lists the domains with their own row on this day, at most `limit`. */
export async function selectCountedDomains(
  db: Db,
  organizationId: string,
  day: number,
  limit: number,
): Promise<string[]> {
  const rows = await tables<CounterTables>(db)
    .selectFrom('domain_counters')
    .select('domain')
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
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('bucket_start', '>=', range.from)
    .where('bucket_start', '<', range.to)
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
