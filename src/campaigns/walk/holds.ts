// Reasons to hold a run. They are checked before each page, in the page's transaction, in this
// order.
//
//   holdReason       | cause                                        | ends
//   -----------------+----------------------------------------------+----------------------------------
//   workspace-paused | sending of the organization is paused        | with the pause
//   key              | the key that made the run is revoked, or     | by a person: cancel it
//                    | may not run campaigns or use the From any    |
//                    | more                                         |
//   sender           | the From may not send any more; the domain   | when it may
//                    | is `holdDomainId`                            |
//   domain-held      | the sending domain is held                   | with that hold
//   warming-held     | the warming plan of the domain is held       | with that hold
//   run-health       | of 500 attempted messages of the run 5 %     | by a person, with a note
//                    | bounced for dead addresses, or 0.3 % were    |
//                    | reported as spam                             |
//   provider         | providers deferred 30 % of 200 attempts in   | by a person, with a note
//                    | 15 minutes for policy or rate                |
//   restored         | the store was restored from a backup         | (paused) by a person
//
// Results before a hold for health do not count after it: the person has judged them.
import { beyondSenders } from '../../access/keys/constraints.ts';
import { findOrganization } from '../../access/organizations/queries.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { findSendingDomain } from '../../identity/domains/queries.ts';
import { findHostedSender } from '../../identity/mailboxes/addresses.ts';
import { findDomainHolds } from '../../identity/reputation/domain-holds.ts';
import { type Finding, findingInWords } from '../../identity/reputation/health-finding.ts';
import { type ResolvedSender, resolveSenders } from '../../identity/senders/resolve.ts';
import { runPlaces } from '../../identity/warming/run-places.ts';
import { ServiceError } from '../../platform/errors.ts';
import { domainOf } from '../../platform/net/address.ts';
import { type Db, fromJson, toJson } from '../../platform/store/db.ts';
import { findRunCounts, recentDeferrals } from '../../run-ledger/counters.ts';
import type { RunState } from '../../run-ledger/queries.ts';
import type { RunHoldReason } from '../../run-ledger/schema.ts';
import { callerOfRun, type Snapshots } from './walked-run.ts';

const fewestAttempted = 500;
const mostBounced = 0.05;
const mostComplained = 0.003;

const providerWindowMs = 15 * 60_000;
const fewestAttempts = 200;
const mostDeferred = 0.3;
const minuteMs = 60_000;

/** A hold of a run, as columns of the row. */
export interface Hold {
  hold_reason: RunHoldReason;
  hold_domain_id: string | null;
  hold_detail: string | null;
  /** JSON of ExcludedCounts; set only for a hold for health. */
  excluded_counts?: string;
}

/** Holds that end automatically. */
const automaticEnds: readonly string[] = [
  'workspace-paused',
  'sender',
  'domain-held',
  'warming-held',
] satisfies RunHoldReason[];

/** Tells whether the service resumes a run with this reason once the cause has ended. */
export function endsAutomatically(reason: string | null): boolean {
  return reason !== null && automaticEnds.includes(reason);
}

/** Counts of a run at the last hold for health. Later checks subtract them. */
interface ExcludedCounts {
  attempted: number;
  hardBounced: number;
  complaints: number;
  /** Time of the hold, ms since 1970; 0 without a hold. */
  at: number;
}

const nothingExcluded: ExcludedCounts = { attempted: 0, hardBounced: 0, complaints: 0, at: 0 };

/** The hold of a run; else the sender, and a caller with the rights of the run. */
export type MayGo = { hold: Hold } | { hold: null; sender: ResolvedSender; caller: Caller };

function held(
  reason: RunHoldReason,
  detail: string | null = null,
  domainId: string | null = null,
): { hold: Hold } {
  return { hold: { hold_reason: reason, hold_domain_id: domainId, hold_detail: detail } };
}

/** Returns the first reason to hold a run, in the order above; else the sender and the caller. */
export async function findHold(
  app: App,
  db: Db,
  run: RunState,
  { mailing }: Pick<Snapshots, 'mailing'>,
): Promise<MayGo> {
  const { organization_id: organizationId } = run;
  const organization = await findOrganization(db, organizationId);
  if (organization?.sending_status === 'paused') {
    return held('workspace-paused', organization.pause_reason);
  }
  const caller = await callerOfRun(db, run);
  if (!caller) {
    return held(
      'key',
      `The key or member ${run.created_by} is revoked, or may not run campaigns any more`,
    );
  }
  const domain = domainOf(mailing.from.email);
  const asked = [{ organizationId, from: mailing.from }];
  const [sender] = await resolveSenders(db, asked, findHostedSender);
  if (sender === undefined || sender instanceof ServiceError) {
    const known = await findSendingDomain(db, organizationId, domain);
    return held('sender', sender?.message ?? null, known?.id ?? null);
  }
  const beyond = beyondSenders(caller, sender.email);
  if (beyond) return held('key', beyond.message);
  const domainHold = (await findDomainHolds(db, organizationId)).get(domain);
  if (domainHold) return held('domain-held', domainHold.reason, sender.domainId);
  if (sender.domainId !== null && (await runPlaces(db, sender.domainId)).isHeld) {
    return held('warming-held', null, sender.domainId);
  }
  const hold = await findUnhealthy(app, db, run);
  return hold ? { hold } : { hold: null, sender, caller };
}

async function findUnhealthy(app: App, db: Db, run: RunState): Promise<Hold | null> {
  const now = app.clock.now();
  const past = fromJson<ExcludedCounts>(run.excluded_counts) ?? nothingExcluded;
  const counts = await findRunCounts(db, [run.id]);
  const { attempted, hard_bounced: hardBounced, complaints } = counts(run.id);
  const excluded: ExcludedCounts = { attempted, hardBounced, complaints, at: now };
  const hold = (hold_reason: RunHoldReason, hold_detail: string): Hold => ({
    hold_reason,
    hold_domain_id: null,
    hold_detail,
    excluded_counts: toJson(excluded) ?? '',
  });
  const sent = attempted - past.attempted;
  if (sent >= fewestAttempted) {
    const bounced = hardBounced - past.hardBounced;
    if (bounced / sent >= mostBounced) {
      return hold('run-health', inWords('bounces', bounced, sent, mostBounced));
    }
    const complained = complaints - past.complaints;
    if (complained / sent >= mostComplained) {
      return hold('run-health', inWords('complaints', complained, sent, mostComplained));
    }
  }
  // Attempts are counted by whole minutes. Excludes the minute of an earlier hold.
  const since = Math.max(
    now - providerWindowMs,
    past.at === 0 ? 0 : Math.min(past.at, now) + minuteMs,
  );
  const recent = await recentDeferrals(db, run.id, since);
  const isDeferred = recent.deferred / recent.attempted >= mostDeferred;
  return recent.attempted >= fewestAttempts && isDeferred
    ? hold('provider', recent.reply ?? '')
    : null;
}

function inWords(of: Finding['of'], count: number, attempted: number, limit: number): string {
  return findingInWords({ level: 'hold', of, count, attempted, limit });
}
