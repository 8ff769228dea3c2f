// What is counted of mail (specification 2.16). Decides nothing.
//
// `accepted`, `inbound` and engagement count messages, all others one for each recipient: every copy has a fate
// of its own. `attempted` is a copy that the channel took up and was done with (sent, bounced or given
// up); one that waits for a retry is not counted yet. `delivered` goes down again where a bounce
// comes after all. The four of engagement count messages (src/tracking/cohorts.ts).

export const metrics = [
  'accepted',
  'emails',
  'attempted',
  'sent',
  'delivered',
  'bounced',
  'failed',
  'complained',
  'opened',
  'clicked',
  'open_eligible',
  'click_eligible',
  'inbound',
] as const;

export type Metric = (typeof metrics)[number];

/** Each metric with its count. */
export type Tally = Record<Metric, number>;

export function emptyTally(): Tally {
  return Object.fromEntries(metrics.map((metric) => [metric, 0])) as Tally;
}

/** Adds what is named to `tally`. Hot: only what is there is looked at. */
export function addTo(tally: Tally, counts: Readonly<Partial<Tally>>): void {
  for (const metric in counts) tally[metric as Metric] += counts[metric as Metric] ?? 0;
}

/** The counts of a row, without what else it has. */
export function metricsOf(row: Tally): Tally {
  return Object.fromEntries(metrics.map((metric) => [metric, row[metric]])) as Tally;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** The hour (UTC) that a time lies in. */
export function hourOf(timeMs: number): number {
  return Math.floor(timeMs / hourMs) * hourMs;
}

/** The day (UTC) that a time lies in. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / dayMs) * dayMs;
}
