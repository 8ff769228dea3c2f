// Refusals of addresses behind a recipient (RFC 3464 2.3): members of a list, targets of a forward.
// They never block the recipient. From the third within 30 days on, `messages explain` and the
// contact mention them.
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { serviceOrganizationId } from '../../platform/runtime/ids.ts';
import type { Db } from '../../platform/store/db.ts';
import {
  deleteMemberRefusals,
  insertMemberRefusals,
  type MemberRefusalRow,
  selectRefused,
} from './member-refusal-queries.ts';

const days = 30;
const dayMs = 24 * 60 * 60_000;
/** Least number of refusals within 30 days that is mentioned. */
const mentionedFrom = 3;
/** Most rows that a transaction deletes. */
const swept = 1000;

/** A delivery that was refused for an address behind the recipient. */
export interface MemberRefusal {
  organizationId: string;
  /** The recipient of the delivery. */
  email: string;
  deliveryId: string;
}

/** Records refusals. Repeats for a delivery count once. */
export async function recordMemberRefusals(
  app: App,
  trx: Db,
  refusals: readonly MemberRefusal[],
): Promise<void> {
  const rows: MemberRefusalRow[] = refusals
    .filter(({ organizationId }) => organizationId !== serviceOrganizationId)
    .map(({ organizationId, email, deliveryId }) => ({
      organization_id: organizationId,
      folded_address: foldAddress(email),
      delivery_id: deliveryId,
      refused_at: app.clock.now(),
    }))
    .sort((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1));
  if (rows.length > 0) await insertMemberRefusals(trx, rows);
}

/** Returns the folded addresses, among `addresses`, with at least three refusals in 30 days. */
export async function findRefusedMembers(
  app: App,
  organizationId: string,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  if (addresses.length === 0) return new Set();
  const after = app.clock.now() - days * dayMs;
  const folded = addresses.map((address) => foldAddress(address));
  return selectRefused(app.store.db, organizationId, folded, after, mentionedFrom);
}

/** Explains to a person the refusals that `findRefusedMembers` found for an address. */
export function memberRefusalWords(email: string): string {
  return (
    `At least ${mentionedFrom} mails to ${email} in ${days} days came back for another address: ` +
    'a member of a list, or the target of a forward. The address is not blocked; its owner can correct that.'
  );
}

/** Deletes refusals older than 30 days. */
export async function sweepMemberRefusals(app: App): Promise<void> {
  const before = await timeOfAge(app, days * dayMs);
  for (let count = swept; count === swept; ) {
    count = await app.store.write((trx) => deleteMemberRefusals(trx, before, swept), 'quiet');
  }
}
