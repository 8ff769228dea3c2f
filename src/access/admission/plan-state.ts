// The present limits of an organization in words (`svc plan show`): rates, today's usage, the
// cap in force and the command that lifts the cap. Only reads.
import type { App } from '../../core/app.ts';
import type { Config } from '../../core/config/config.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { getOrganization } from '../organizations/organizations.ts';
import type { Organization } from '../organizations/schema.ts';
import { capacity } from './buckets.ts';
import { type DailyCap, dailyCaps, endOfDay, limitsOf, sendRatesOf, startOfDay } from './plans.ts';
import { findUsage } from './queries.ts';
import { pausedText } from './quota.ts';

/** A daily cap on the emails of an organization, and the end of the cap. */
export interface CapState {
  reason: DailyCap['reason'];
  emails: number;
  /** Time when the cap ends automatically; null for never. */
  endsAt: string | null;
}

export interface PlanState {
  organizationId: string;
  name: string;
  plan: string;
  sendingStatus: Organization['sendingStatus'];
  /** Rate limit in requests; a batch counts once for each entry. Null without a rate limit. */
  rate: { perSecond: number; burst: number; burstPerKey: number } | null;
  /** Today's quota; null without a quota. `caps` begins with the cap in force. */
  daily: {
    usedEmails: number;
    limitEmails: number;
    remainingEmails: number;
    resetsAt: string;
    caps: CapState[];
  } | null;
  /** The limit in force, as a sentence. */
  binds: string;
  /** The command that lifts the cap; null if no command does. */
  liftedBy: string | null;
}

type Binding = Pick<PlanState, 'binds' | 'liftedBy'>;

/** Returns the present limits of an organization. @throws ResourceNotFoundError. */
export async function getPlanState(app: App, idOrName: string): Promise<PlanState> {
  const organization = await getOrganization(app, idOrName);
  const now = app.clock.now();
  const limits = limitsOf(app.config, organization.plan);
  const rates = sendRatesOf(limits);
  const caps = dailyCaps(
    limits,
    {
      payment_method_on_file: organization.paymentMethodOnFile ? 1 : 0,
      created_at: Date.parse(organization.createdAt),
    },
    now,
  );
  const [usage] = await findUsage(app.store.db, [organization.id], startOfDay(now));
  const usedEmails = usage?.emails ?? 0;
  const [tightest] = caps;
  return {
    organizationId: organization.id,
    name: organization.name,
    plan: organization.plan,
    sendingStatus: organization.sendingStatus,
    rate: rates && {
      perSecond: limits.ratePerSecond ?? 0,
      burst: capacity(rates.organization),
      burstPerKey: capacity(rates.key),
    },
    daily: tightest
      ? {
          usedEmails,
          limitEmails: tightest.emails,
          remainingEmails: Math.max(0, tightest.emails - usedEmails),
          resetsAt: isoTime(endOfDay(now)),
          caps: caps.map(({ reason, emails, endsAtMs }) => ({
            reason,
            emails,
            endsAt: isoTime(endsAtMs),
          })),
        }
      : null,
    ...bindingOf(app.config, organization, tightest),
  };
}

function bindingOf(config: Config, organization: Organization, cap: DailyCap | undefined): Binding {
  const { name, plan, sendingStatus, pauseReason, onboarding } = organization;
  if (sendingStatus === 'paused') {
    return {
      binds: pausedText(pauseReason),
      liftedBy: `svc orgs resume ${quoted(name)}`,
    };
  }
  if (onboarding.status !== 'approved') {
    return {
      binds:
        `The onboarding is ${onboarding.status}: mail goes only to its own mailboxes and ` +
        '@simulator.test.',
      liftedBy: `svc orgs review ${quoted(name)} --approve`,
    };
  }
  if (!cap) return { binds: 'There is no daily quota.', liftedBy: null };
  const emails = `${cap.emails.toLocaleString('en')} emails a day`;
  if (cap.reason === 'no-payment-method') {
    return {
      binds: `${emails}, because no payment method is on file.`,
      liftedBy: `svc orgs update ${quoted(name)} --payment-method`,
    };
  }
  if (cap.reason === 'first-24-hours') {
    return {
      binds: `${emails} in the first 24 hours, until ${isoTime(cap.endsAtMs)}.`,
      liftedBy: null,
    };
  }
  const larger = largerPlan(config, cap.emails);
  const isKnown = config.plans[plan] !== undefined;
  const planText = isKnown ? plan : `free, because the configuration has no plan ${plan}`;
  return {
    binds: `${emails}, by the plan ${planText}.`,
    liftedBy: larger && `svc orgs update ${quoted(name)} --plan ${larger}`,
  };
}

/**
 * Returns the name of the smallest plan that allows more than `emails` a day; null if none does. A
 * plan without a quota counts as the largest.
 */
function largerPlan({ plans }: Config, emails: number): string | null {
  const larger = Object.entries(plans)
    .map(([name, { dailyEmails }]) => ({ name, daily: dailyEmails ?? Number.POSITIVE_INFINITY }))
    .filter(({ daily }) => daily > emails)
    .sort((a, b) => a.daily - b.daily);
  return larger[0]?.name ?? null;
}

/** Quotes a name for the shell. */
function quoted(name: string): string {
  return /^[\w.@-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
