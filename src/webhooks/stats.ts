// Statistics of deliveries (specification 2.14): calendar days of the organization's time zone, cut from
// quarter hours of UTC on request, as every zone is off by whole quarter hours. A change of zone regroups
// the same counts without losing any.

import { getOrganization } from '../access/organizations/organizations.ts';
import type { Caller } from '../core/api/route.ts';
import type { App } from '../core/app.ts';
import { dayAfter, dayIn, startOfDayIn } from '../platform/runtime/calendar.ts';
import { type Days, sumDays } from './counter-queries.ts';
import { endpoints } from './queries.ts';
import type { WebhookStats } from './schema.ts';

const none = { pending: 0, delivered: 0, exhausted: 0, cancelled: 0 };

/** Runs of days of one length: a day on which clocks are changed is a run of its own. */
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

/** The last `period` days, today included. Reads one counter a quarter hour. @throws ResourceNotFoundError. */
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
