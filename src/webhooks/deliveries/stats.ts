// Statistics of deliveries (specification 2.14) by calendar days of the organization's time zone.
// Days are summed from quarter hours of UTC on request, as every zone differs from UTC by whole
// quarter hours. After a change of zone the same counts are grouped again.

import { getOrganization } from '../../access/organizations/organizations.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { dayAfter, dayIn, startOfDayIn } from '../../platform/runtime/calendar.ts';
import { endpoints } from '../endpoints/queries.ts';
import type { WebhookStats } from '../schema.ts';
import { type Days, sumDays } from './counter-queries.ts';

const none = { pending: 0, delivered: 0, exhausted: 0, cancelled: 0 };

/** Groups days of equal length: a day on which clocks change is a separate group. */
function runsOf(starts: readonly number[]): Days[] {
  const runs: Days[] = [];
  for (const [index, from] of starts.entries()) {
    const to = starts[index + 1];
    if (to === undefined) break;
    const last = runs.at(-1);
    if (last?.dayMs === to - from) last.to = to;
    else runs.push({ from, to, dayMs: to - from });
  }
  return runs;
}

/**
 * Returns deliveries by day for the last `period` days, including today. Reads a counter for each
 * quarter hour.
 * @throws ResourceNotFoundError.
 */
export async function webhookStats(
  app: App,
  caller: Caller,
  id: string,
  period: number,
): Promise<WebhookStats> {
  const { db } = app.store;
  const { organizationId } = caller;
  await endpoints.get(db, organizationId, id);
  const { timezone } = await getOrganization(app, organizationId);
  const today = dayIn(timezone, app.clock.now());
  const days = Array.from({ length: period }, (_, index) => dayAfter(today, index + 1 - period));
  const starts = [...days, dayAfter(today)].map((day) => startOfDayIn(timezone, day));
  const byStart = new Map<number, typeof none>();
  for (const run of runsOf(starts)) {
    for (const { day, ...sums } of await sumDays(db, id, run)) {
      byStart.set(run.from + day * run.dayMs, sums);
    }
  }
  const daily = days.map((date, index) => {
    return { date, ...(byStart.get(starts[index] ?? 0) ?? none) };
  });
  const totals = { ...none };
  for (const { date: _, ...counts } of daily) {
    totals.pending += counts.pending;
    totals.delivered += counts.delivered;
    totals.exhausted += counts.exhausted;
    totals.cancelled += counts.cancelled;
  }
  const { pending, delivered, exhausted, cancelled } = totals;
  return { total: pending + delivered + exhausted + cancelled, ...totals, daily };
}
