// Refusals that name another address than the recipient (RFC 3464 2.3): a member of a list, or the target of a
// forward. They never block the recipient. From the third within 30 days on, `messages explain` and the
// contact say so. All SQL on `member_refusals` is here.
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

class MemberRefusalRow {
  organization_id!: string;
  /** The recipient, folded; not the refused address. */
  folded_address!: string;
  delivery_id!: string;
  refused_at!: number;
}

interface MemberRefusalTables {
  member_refusals: MemberRefusalRow;
}

const own = ownTables<MemberRefusalTables>();

const days = 30;
const dayMs = 24 * 60 * 60_000;
/** Number of refusals within 30 days from which they are mentioned. */
const mentionedFrom = 3;
/** Rows that one transaction deletes. */
const swept = 1000;

/** A delivery whose refusal names another address than its recipient. */
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
  if (refusals.length === 0) return;
  const rows: MemberRefusalRow[] = refusals
    .map(({ organizationId, email, deliveryId }) => ({
      organization_id: organizationId,
      folded_address: foldAddress(email),
      delivery_id: deliveryId,
      refused_at: app.clock.now(),
    }))
    .sort((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1));
  await tables<MemberRefusalTables>(trx)
    .insertInto('member_refusals')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

const selectRefused = own.all(
  (db, organizationId: string, foldedAddresses: readonly string[], after: number) =>
    db
      .selectFrom('member_refusals')
      .select('folded_address')
      .where('organization_id', '=', organizationId)
      .where('folded_address', ...isOneOf(db, foldedAddresses))
      .where('refused_at', '>', after)
      .groupBy('folded_address')
      .having(({ fn }) => fn.countAll(), '>=', mentionedFrom),
);

/** Returns the addresses, folded, among these whose refusals of the last 30 days are worth a mention. */
export async function findRefusedMembers(
  app: App,
  organizationId: string,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  if (addresses.length === 0) return new Set();
  const after = app.clock.now() - days * dayMs;
  const rows = await selectRefused(
    app.store.db,
    organizationId,
    addresses.map((address) => foldAddress(address)),
    after,
  );
  return new Set(rows.map(({ folded_address }) => folded_address));
}

/** Returns the sentence on an address of `findRefusedMembers`. */
export function memberRefusalWords(email: string): string {
  return (
    `At least ${mentionedFrom} mails to ${email} in ${days} days came back for another address: ` +
    'a member of a list, or the target of a forward. The address is not blocked; who runs it can correct that.'
  );
}

/** Deletes refusals older than 30 days. */
export async function sweepMemberRefusals(app: App): Promise<void> {
  const before = await timeOfAge(app, days * dayMs);
  for (let count = swept; count === swept; ) {
    count = await app.store.write((trx) => forget(trx, before), 'quiet');
  }
}

async function forget(db: Db, before: number): Promise<number> {
  const q = tables<MemberRefusalTables>(db);
  const old = await q
    .selectFrom('member_refusals')
    .select('delivery_id')
    .where('refused_at', '<', before)
    .orderBy('refused_at')
    .limit(swept)
    .execute();
  if (old.length === 0) return 0;
  await q
    .deleteFrom('member_refusals')
    .where('refused_at', '<', before)
    .where(
      'delivery_id',
      ...isOneOf(
        db,
        old.map(({ delivery_id }) => delivery_id),
      ),
    )
    .execute();
  return old.length;
}
