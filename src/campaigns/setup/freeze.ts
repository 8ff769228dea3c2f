// Freezes a run when it is made: content with template and brand, sender, policy and the rule of
// the audience. Later changes of these resources leave the run as it is. Members of the audience
// are read at the start.
import type { App } from '../../core/app.ts';
import { stageContent } from '../../outbound/sending/store-content.ts';
import { type Db, toJson } from '../../platform/store/db.ts';
import type { RunRow } from '../../run-ledger/queries.ts';
import { snapshotAudience } from '../audience/audience.ts';
import type { AudienceSnapshot } from '../audience/schema.ts';
import { type DraftedRun, draftRunContent, storeMailing } from '../mail/snapshot.ts';
import type { CampaignFacts } from './present-campaign.ts';

/** Most contacts that a transaction judges. */
const pageSize = 500;

/** `policySnapshot` of a run (specification 2.13). */
export interface RunPolicy {
  unsubscribeGroupId: string | null;
  /** Most contacts that a transaction judges. */
  pageSize: number;
}

/** A campaign as it was read for a run, before the content is stored. */
export interface FrozenCampaign {
  drafted: DraftedRun;
  audience: AudienceSnapshot;
  policy: RunPolicy;
}

/** Columns of a run that never change once it is frozen. */
export type FrozenColumns = Pick<
  RunRow,
  'audience_snapshot' | 'policy_snapshot' | 'content_snapshot' | 'shared'
>;

/**
 * Reads a campaign for a run, outside of a transaction.
 * @throws as `draftRunContent`; ValidationError for groups by query with too many conditions
 */
export async function freezeCampaign(
  app: App,
  organizationId: string,
  facts: CampaignFacts,
): Promise<FrozenCampaign> {
  const drafted = await draftRunContent(app, organizationId, facts);
  await stageContent(app, organizationId, drafted.content);
  const at = app.clock.now();
  const audience = await snapshotAudience(app.store.db, organizationId, facts.audience, at);
  const { unsubscribeGroupId } = drafted.mailing;
  return { drafted, audience, policy: { unsubscribeGroupId, pageSize } };
}

/** Stores the content of a frozen campaign; returns the columns of the run. */
export async function storeFrozen(
  app: App,
  trx: Db,
  organizationId: string,
  { drafted, audience, policy }: FrozenCampaign,
): Promise<FrozenColumns> {
  return {
    audience_snapshot: toJson(audience),
    policy_snapshot: toJson(policy),
    content_snapshot: toJson(drafted.snapshot),
    shared: toJson(await storeMailing(app, trx, organizationId, drafted)),
  };
}
