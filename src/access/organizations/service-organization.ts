// The owner of mail that belongs to the service itself: links to sign in, invitations, warnings to
// persons. It is a hidden row, as every message has an organization. No caller belongs to it, so no
// route shows the messages; no command and no list names it. The queue shows its deliveries to the
// operator, like all deliveries.
//
//   mail of the service        | rule
//   ---------------------------+----------------------------------------------------------------
//   quota, pause, hold, block, | do not apply; `delivery.allow` does
//   warming, health            |
//   order                      | before all mail of organizations, beyond the limit of the lane
//   attempts                   | at 0, 1, 3, 7 and 12 minutes; none after 15 minutes for a link
//                              | of 15 minutes; else each hour for a day
//   events, receipts, webhooks | none
//   kept                       | for 7 days
import type { App } from '../../core/app.ts';
import { serviceOrganizationId } from '../../platform/runtime/ids.ts';
import type { Db } from '../../platform/store/db.ts';
import { newOrganizationRow } from './organizations.ts';
import { findOrganization, insertOrganization } from './queries.ts';

const keptDays = 7;

/** Creates the hidden organization, if the store does not have it yet. */
export async function ensureServiceOrganization(app: App, trx: Db): Promise<void> {
  if (await findOrganization(trx, serviceOrganizationId)) return;
  const plain = newOrganizationRow(app, { name: 'service', plan: 'self-hosted' });
  const id = serviceOrganizationId;
  await insertOrganization(trx, { ...plain, id, name: id, messages_days: keptDays });
}
