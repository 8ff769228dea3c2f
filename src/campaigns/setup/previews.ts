// The mail of a campaign before a run: shown for a contact, and sent to a few addresses.
import { admissionOf } from '../../access/admission/admission.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { BatchResult } from '../../outbound/messages/schema.ts';
import {
  assertReadsContact,
  type CampaignPreview,
  renderCampaignMail,
  testCampaignMail,
} from '../mail/preview.ts';
import { factsOf } from './present-campaign.ts';
import { campaigns } from './queries.ts';
import type { RenderCampaign, TestCampaign } from './schema.ts';

/**
 * Shows the mail of a campaign as a contact would get it, or without values of a contact. @throws
 * ResourceNotFoundError; ForbiddenError.
 */
export async function renderCampaign(
  app: App,
  caller: Caller,
  id: string,
  { contactId }: RenderCampaign,
): Promise<CampaignPreview> {
  // Checks the right before the look-up, so that a key without it learns nothing about campaigns.
  assertReadsContact(caller, contactId);
  const row = await campaigns.get(app.store.db, caller.organizationId, id);
  return renderCampaignMail(app, caller, factsOf(row), contactId);
}

/**
 * Sends the mail of a campaign to a few addresses, marked as a test. The messages belong to no run.
 * @throws ResourceNotFoundError; ForbiddenError for a sender that may not send; RateLimitedError.
 */
export async function testCampaign(
  app: App,
  caller: Caller,
  id: string,
  { to }: TestCampaign,
): Promise<BatchResult[]> {
  const row = await campaigns.get(app.store.db, caller.organizationId, id);
  // The rate limit is for keys: the operator at the command line has none.
  if (caller.by.kind !== 'operator') {
    await admissionOf(app).admitBatch(caller, to.length, 'testCampaign');
  }
  return testCampaignMail(app, caller, factsOf(row), to);
}
