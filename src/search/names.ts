// Names of campaigns, templates and senders by their ids, for reports.
import { findCampaignNames } from '../campaigns/setup/queries.ts';
import { findTemplateNames } from '../content/templates/queries.ts';
import { findSenderNames } from '../identity/senders/queries.ts';
import type { Db } from '../platform/store/db.ts';

const finders = {
  campaign: findCampaignNames,
  template: findTemplateNames,
  sender: findSenderNames,
};

/** Returns the names of the existing resources among these ids, by id. */
export async function findNames(
  db: Db,
  organizationId: string,
  kind: keyof typeof finders,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await finders[kind](db, organizationId, ids);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
