// The traits by which mail is counted (src/identity/reputation/count.ts): its campaign, template,
// sender and recipient domain. Counters keep ids, so that nothing of a deleted campaign, template
// or sender must be erased from them.
import type { App } from '../../../core/app.ts';
import { otherNames, type Traits } from '../../../identity/reputation/count.ts';
import { findSenderByEmail } from '../../../identity/senders/queries.ts';
import { foldAddress } from '../../../platform/net/address.ts';
import { serviceOrganizationId } from '../../../platform/runtime/ids.ts';
import { perApp } from '../../../platform/runtime/per-app.ts';
import type { Db } from '../../../platform/store/db.ts';
import { findRunState } from '../../../run-ledger/queries.ts';
import { type CountedMessageRow, findCountedMessages } from '../queries.ts';

/** Most runs that are kept in memory with their campaign. The campaign of a run never changes. */
const mostRemembered = 1_000;
const campaignsOf = perApp<App, Map<string, string>>(() => new Map());

async function campaignOf(app: App, trx: Db, runId: string): Promise<string | undefined> {
  const known = campaignsOf(app);
  const remembered = known.get(runId);
  if (remembered !== undefined) return remembered;
  const run = await findRunState(trx, runId);
  if (!run) return undefined;
  const [oldest] = known.keys();
  if (known.size >= mostRemembered && oldest !== undefined) known.delete(oldest);
  known.set(runId, run.campaign_id);
  return run.campaign_id;
}

/** Returns the traits of a message for the recipients of a domain. */
export type TraitsOf = (messageId: string, domain: string) => Traits;

/** A message to count; `senderId` is absent if its sender was not looked up yet. */
type CountedMail = CountedMessageRow & { senderId?: string | null };

async function idOfSender(trx: Db, organizationId: string, folded: string): Promise<string | null> {
  return (await findSenderByEmail(trx, organizationId, folded))?.id ?? null;
}

/**
 * Reads the campaigns and senders of messages. Mail from an address without a sender identity
 * counts under `otherNames`. Mail of the service has only its domain.
 */
export async function traitsOfMessages(
  app: App,
  trx: Db,
  messages: readonly CountedMail[],
): Promise<TraitsOf> {
  const senders = new Map<string, string>();
  const found = new Map<string, Traits>();
  for (const message of messages) {
    const { id, organization_id: organizationId, from_email, campaign_run_id: runId } = message;
    if (organizationId === serviceOrganizationId) continue;
    const folded = foldAddress(from_email);
    const key = `${organizationId} ${folded}`;
    const { senderId = senders.get(key) ?? (await idOfSender(trx, organizationId, folded)) } =
      message;
    const sender = senderId ?? otherNames;
    senders.set(key, sender);
    const campaign = runId === null ? undefined : await campaignOf(app, trx, runId);
    found.set(id, { campaign, sender, template: message.template_id ?? undefined });
  }
  return (messageId, domain) => ({ ...found.get(messageId), domain });
}

/** Reads messages and returns their traits; a deleted message has only its domain. */
export async function readTraits(
  app: App,
  trx: Db,
  rows: readonly { message_id: string }[],
): Promise<TraitsOf> {
  const ids = [...new Set(rows.map(({ message_id }) => message_id))];
  return traitsOfMessages(app, trx, await findCountedMessages(trx, ids));
}
