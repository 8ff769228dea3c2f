// Usage and its price by month (specification 2.16; contract 13): what the quota counted, summed up.
import { limitsOf, type PlanLimits } from '../admission/plans.ts';
import { sumUsage } from '../admission/queries.ts';
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { getOrganization } from '../organizations/organizations.ts';
import { isoTime } from '../runtime/clock.ts';
import { dayMs } from './metrics.ts';
import { monthOf } from './periods.ts';
import { type Range, sumCounters } from './queries.ts';
import type { Usage, UsageQuery } from './schema.ts';

/** Without a number in the configuration, what the daily quota allows in the month; null: no end. */
function includedEmails({ includedEmails, dailyEmails }: PlanLimits, month: Range): number | null {
  if (includedEmails !== undefined) return includedEmails;
  return dailyEmails === null ? null : dailyEmails * ((month.to - month.from) / dayMs);
}

/** What a month came to, until now where it is the current one. Reads at most 31 rows and 744. */
export async function getUsage(app: App, caller: Caller, query: UsageQuery): Promise<Usage> {
  const { db } = app.store;
  const { organizationId } = caller;
  const month = monthOf(query.period ?? 'current', app.clock.now());
  const { plan } = await getOrganization(app, organizationId);
  const { emails, messages } = await sumUsage(db, organizationId, month.from, month.to);
  const { inbound } = await sumCounters(db, organizationId, month);
  const limits = limitsOf(app.config, plan);
  const included = includedEmails(limits, month);
  const overageEmails = included === null ? 0 : Math.max(0, emails - included);
  const cost = (overageEmails * (limits.overagePerThousand ?? 0)) / 1_000;
  return {
    usage: {
      periodStart: isoTime(month.from),
      periodEnd: isoTime(month.to),
      emailCount: emails,
      totalMessages: messages + inbound,
    },
    billing: {
      currency: 'USD',
      planName: plan,
      includedEmails: included,
      usedEmails: emails,
      overageEmails,
      overageCost: included === null ? '0' : cost.toFixed(6),
    },
  };
}
