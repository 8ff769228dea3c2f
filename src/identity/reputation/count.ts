// Counts mail in the transaction of each change, never by a scan.
// src/outbound/queue/settling/outcome-counts.ts translates outcomes to counts.
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import type { Db } from '../../platform/store/db.ts';
import { shardOf } from '../../platform/store/shards.ts';
import { dayOf, hourOf, type Tally } from './metrics.ts';
import {
  type Breakdown,
  breakdownCounts,
  breakdowns,
  type CountedDay,
  hourCounts,
  selectCountedNames,
} from './queries.ts';

/**
 * Most names with separate counters for each trait, organization and day. The first names of the
 * day get counters. Two daemons that run at once may together create more.
 */
const mostNames = 200;
/** Name of the counter of all further names of the day. */
export const otherNames = '*';
/** Most sets of names in memory, each for a trait, an organization and a day. */
const mostRemembered = 1_024;

/** Traits of mail: each the name of a counter, or undefined for mail without the trait. */
export type Traits = Readonly<Partial<Record<Breakdown, string | undefined>>>;

/** Counts of a message or an outcome, to add to the counters. */
export interface Observation {
  organizationId: string;
  /**
   * Time when the message was accepted or received, ms since 1970. Outcomes count in the hour of
   * that time.
   */
  acceptedAt: number;
  counts: Readonly<Partial<Tally>>;
  /**
   * Traits of the mail. Counts of a message have the domain of the first recipient; received mail
   * has no traits.
   */
  traits: Traits;
}

/** Names with a separate counter, by trait, organization and day. */
const rememberedOf = perApp<App, Map<string, Set<string>>>(() => new Map());

/** Adds observations to the counters, which are written at the end of the caller's transaction. */
export async function countMail(
  app: App,
  trx: Db,
  observations: readonly Observation[],
): Promise<void> {
  if (observations.length === 0) return;
  const shard = shardOf(trx);
  const hours = hourCounts.of(trx);
  const names = breakdownCounts.of(trx);
  for (const { organizationId, acceptedAt, counts, traits } of observations) {
    const hour = hourOf(acceptedAt);
    hours.add({ organization_id: organizationId, bucket_start: hour, shard }, counts);
    const day = dayOf(acceptedAt);
    for (const kind of breakdowns) {
      const name = traits[kind];
      if (name === undefined) continue;
      const known = rememberedOf(app).get(`${kind} ${organizationId} ${day}`);
      // Awaits only if the names are not in memory: awaiting costs more than counting.
      const counted = countedName(
        known ?? (await readNames(app, trx, { organizationId, kind, day })),
        name,
      );
      const ofDay = { organization_id: organizationId, kind, bucket_start: day, name: counted };
      names.add({ ...ofDay, shard }, counts);
    }
  }
}

/** Returns the name, and adds it to `known`; returns `*` for a new name above `mostNames`. */
function countedName(known: Set<string>, name: string): string {
  if (known.has(name)) return name;
  if (known.size >= mostNames) return otherNames;
  if (name !== otherNames) known.add(name);
  return name;
}

async function readNames(app: App, trx: Db, place: CountedDay): Promise<Set<string>> {
  const names = new Set(await selectCountedNames(trx, place, mostNames + 1));
  names.delete(otherNames);
  const all = rememberedOf(app);
  const [oldest] = all.keys();
  if (all.size >= mostRemembered && oldest !== undefined) all.delete(oldest);
  all.set(`${place.kind} ${place.organizationId} ${place.day}`, names);
  return names;
}
