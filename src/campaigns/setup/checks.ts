// Checks of a campaign: when it is saved, and when a run is asked for. Both are the checks of a
// send (src/outbound/queue/schedule/send-checks.ts) for mail without recipients.
import { openAllowances } from '../../access/admission/quota.ts';
import { campaignsRight } from '../../access/keys/send-checks.ts';
import type { TemplateWarning } from '../../content/rendering/compiled.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { namedCheck } from '../../outbound/messages/send-check.ts';
import { type AcceptingSend, openAcceptChecks } from '../../outbound/queue/schedule/send-checks.ts';
import { nothingTracked } from '../../outbound/tracking/content.ts';
import { ValidationError } from '../../platform/errors.ts';
import { checkCampaignMail } from '../mail/preview.ts';
import {
  type CampaignFacts,
  lacksUnsubscribeGroup,
  unsubscribeRemedy,
} from './present-campaign.ts';

/** Limit of stored advice, so that a page of campaigns stays small. */
const mostAdvice = 20;

function toCheck(
  caller: Caller,
  { email, from, conversationId, metadata }: CampaignFacts,
  scheduledFor: number | undefined,
): AcceptingSend {
  const payload = {
    channel: 'email' as const,
    to: [],
    ...(from && { from }),
    email,
    ...(conversationId !== null && { conversationId }),
    ...(metadata && { metadata }),
  };
  return {
    organizationId: caller.organizationId,
    isTest: caller.isTest,
    caller,
    right: campaignsRight,
    payload,
    from,
    scheduledFor,
    onBehalfOf: null,
    addresses: [],
    unsubscribeGroupId: email.unsubscribeGroupId ?? null,
    origins: [],
    tracking: nothingTracked,
    parent: null,
    sender: null,
  };
}

/**
 * Checks a campaign, except the audience, before it is saved. Returns advice about the content.
 * @throws ResourceNotFoundError for a missing resource; ValidationError for content that cannot be
 * filled; ConflictError for a template that is not published.
 */
export async function checkCampaign(
  app: App,
  caller: Caller,
  facts: CampaignFacts,
): Promise<TemplateWarning[]> {
  const { db } = app.store;
  const send = toCheck(caller, facts, undefined);
  const refuse = await namedCheck.prepare(app, db, [send]);
  const error = refuse(send);
  if (error) throw error;
  const advice = await checkCampaignMail(app, caller.organizationId, facts);
  return advice.slice(0, mostAdvice);
}

/**
 * Refuses a run that could not begin now.
 * @throws ValidationError, ResourceNotFoundError; ForbiddenError for a sender that may not send, or
 * a paused organization.
 */
export async function assertRunnable(
  app: App,
  caller: Caller,
  facts: CampaignFacts,
  scheduledFor: number | undefined,
): Promise<void> {
  if (lacksUnsubscribeGroup(facts)) {
    throw ValidationError.of('email.unsubscribeGroupId', unsubscribeRemedy);
  }
  const send = toCheck(caller, facts, scheduledFor);
  const { db } = app.store;
  const allowances = await openAllowances(app, db, [caller.organizationId]);
  // Ignores quotas here: a run waits for them and is not refused.
  const unlimited = { ...allowances, take: () => null };
  const firstRefusal = await openAcceptChecks(app, db, unlimited, [send]);
  const refusal = firstRefusal(send);
  if (refusal) throw refusal.error;
}
