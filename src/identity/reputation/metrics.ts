// The metrics by which mail is counted (specification 2.16). Decides nothing.
//
// `accepted`, `inbound` and engagement count messages; all other metrics count recipients, as each
// copy has a separate outcome. `attempted` counts copies with a final attempt (sent, bounced or
// given up); a copy that waits for a retry is not counted yet. `delivered` decreases if a bounce
// comes later. src/outbound/tracking/cohorts.ts counts the four metrics of engagement.

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

/** Count of each metric. */
export type Tally = Record<Metric, number>;

export function emptyTally(): Tally {
  return Object.fromEntries(metrics.map((metric) => [metric, 0])) as Tally;
}

/** Adds the named counts to `tally`. Hot, so it visits only the counts present. */
export function addTo(tally: Tally, counts: Readonly<Partial<Tally>>): void {
  for (const metric in counts) tally[metric as Metric] += counts[metric as Metric] ?? 0;
}

/** Returns the counts of a row without further columns. */
export function metricsOf(row: Tally): Tally {
  return Object.fromEntries(metrics.map((metric) => [metric, row[metric]])) as Tally;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** Returns the start of the hour (UTC) that contains a time. */
export function hourOf(timeMs: number): number {
  return Math.floor(timeMs / hourMs) * hourMs;
}

/** Returns the start of the day (UTC) that contains a time. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / dayMs) * dayMs;
}
