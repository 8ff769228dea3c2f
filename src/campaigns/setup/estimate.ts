// The estimate of a campaign: the contacts by fate, and the time that a run would take.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { findHostedSender } from '../../identity/mailboxes/addresses.ts';
import { resolveSenders } from '../../identity/senders/resolve.ts';
import { ServiceError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { findOpenRun } from '../../run-ledger/list-queries.ts';
import { assertAudience } from '../audience/audience.ts';
import { estimateRun, type RunEstimate } from '../audience/estimate.ts';
import { renderCampaignMail } from '../mail/preview.ts';
import { type CampaignFacts, factsOf } from './present-campaign.ts';
import { campaigns } from './queries.ts';
import type { Estimate, EstimateAudience, EstimateCampaign } from './run-schema.ts';

/**
 * Returns the domain id of the sender, whose warming limits the run; null without a usable sender.
 */
async function domainOfSender(
  db: Db,
  organizationId: string,
  { from }: CampaignFacts,
): Promise<string | null> {
  const [sender] = await resolveSenders(db, [{ organizationId, from }], findHostedSender);
  return sender === undefined || sender instanceof ServiceError ? null : sender.domainId;
}

/**
 * Estimates a run of a campaign that would start at `scheduledFor`, or now. @throws
 * ResourceNotFoundError; CapacityError.
 */
export async function estimateCampaign(
  app: App,
  caller: Caller,
  id: string,
  { scheduledFor }: EstimateCampaign,
): Promise<Estimate> {
  const { db } = app.store;
  const { organizationId } = caller;
  const facts = factsOf(await campaigns.get(db, organizationId, id));
  const estimate = await estimateRun(app, {
    organizationId,
    scheduledFor: scheduledFor ?? null,
    audience: facts.audience,
    unsubscribeGroupId: facts.email.unsubscribeGroupId ?? null,
    domainId: await domainOfSender(db, organizationId, facts),
  });
  const open = await findOpenRun(db, organizationId, id);
  const { mail, refusal } = await mailOf(app, caller, facts);
  return { ...estimate, mail, warnings: [...(open ? [anotherRun(open)] : []), ...refusal] };
}

/** Estimates a run of an unsaved campaign. @throws ResourceNotFoundError, CapacityError. */
export async function estimateAudience(
  app: App,
  { organizationId }: Caller,
  { audience, unsubscribeGroupId }: EstimateAudience,
): Promise<RunEstimate> {
  await assertAudience(app.store.db, organizationId, audience);
  const unplanned = { domainId: null, scheduledFor: null };
  return estimateRun(app, { organizationId, audience, unsubscribeGroupId, ...unplanned });
}

/** Returns the mail of a run that is made now, or the reason why it cannot be made. */
async function mailOf(
  app: App,
  caller: Caller,
  facts: CampaignFacts,
): Promise<{ mail: Estimate['mail']; refusal: Estimate['warnings'] }> {
  try {
    return { mail: await renderCampaignMail(app, caller, facts), refusal: [] };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    const refusal = { code: 'no-mail', message: error.message, path: null, line: null };
    return { mail: null, refusal: [refusal] };
  }
}

function anotherRun({ id, status }: { id: string; status: string }): Estimate['warnings'][number] {
  const message =
    `Run ${id} of this campaign is ${status}: another run reaches its contacts again, ` +
    'unless it has `onlyNew`';
  return { code: 'another-run', message, path: null, line: null };
}
