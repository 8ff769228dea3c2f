// Checks of a campaign: when it is saved, and when a run is asked for. Both are those of a send
// (src/outbound/queue/send-checks.ts) for mail without recipients.
import { openAllowances } from '../../access/admission/quota.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { namedCheck } from '../../outbound/messages/send-check.ts';
import { type AcceptingSend, openAcceptChecks } from '../../outbound/queue/send-checks.ts';
import { nothingTracked } from '../../outbound/tracking/content.ts';
import { ValidationError } from '../../platform/errors.ts';
import { assertAudience } from '../audience/audience.ts';
import {
  type CampaignFacts,
  lacksUnsubscribeGroup,
  unsubscribeRemedy,
} from './present-campaign.ts';

function toCheck(
  { organizationId, isTest, constraints }: Caller,
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
    organizationId,
    isTest,
    constraints,
    payload,
    from,
    scheduledFor,
    addresses: [],
    unsubscribeGroupId: email.unsubscribeGroupId ?? null,
    origins: [],
    tracking: nothingTracked,
    parent: null,
    sender: null,
  };
}

/**
 * Refuses a campaign that names a missing resource, or whose audience has nobody.
 * @throws ResourceNotFoundError, ValidationError.
 */
export async function assertSavable(app: App, caller: Caller, facts: CampaignFacts): Promise<void> {
  const { db } = app.store;
  await assertAudience(db, caller.organizationId, facts.audience);
  const send = toCheck(caller, facts, undefined);
  const refuse = await namedCheck.prepare(app, db, [send]);
  const error = refuse(send);
  if (error) throw error;
}

/**
 * Refuses a run that could not begin now.
 * @throws ValidationError, ResourceNotFoundError; ForbiddenError for a sender that may not send, or a paused
 * organization.
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
  // A run waits for its quota.
  const unlimited = { ...allowances, take: () => null };
  const firstRefusal = await openAcceptChecks(app, db, unlimited, [send]);
  const refusal = firstRefusal(send);
  if (refusal) throw refusal.error;
}
