// All SQL on `mta_sts_policies`: a row for each recipient domain with a policy in force. Decides
// nothing.
import { type Db, engineOf, tables } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';

export interface StsPolicyRow {
  domain: string;
  policy_id: string;
  /** The policy file as fetched. */
  policy: string;
  fetched_at: number;
  expires_at: number;
}

interface StsTables {
  mta_sts_policies: StsPolicyRow;
}

const own = ownTables<StsTables>();

export const findStsPolicy = own.first((db, domain: string) =>
  db.selectFrom('mta_sts_policies').selectAll().where('domain', '=', domain),
);

/** Writes the policy of a domain, replacing the last policy. */
export async function upsertStsPolicy(db: Db, row: StsPolicyRow): Promise<void> {
  const { domain, ...values } = row;
  await tables<StsTables>(db)
    .insertInto('mta_sts_policies')
    .values({ domain, ...values })
    .onConflict((conflict) => conflict.column('domain').doUpdateSet(values))
    .execute();
}

/** Deletes policies up to a time, except policies that another daemon is writing now. */
async function deleteUntil(db: Db, column: 'expires_at' | 'fetched_at', at: number): Promise<void> {
  await tables<StsTables>(db)
    .deleteFrom('mta_sts_policies')
    .where('domain', 'in', (eb) =>
      eb
        .selectFrom('mta_sts_policies')
        .select('domain')
        .where(column, '<=', at)
        .$if(engineOf(db) === 'postgres', (q) => q.forUpdate().skipLocked()),
    )
    .execute();
}

/** Deletes policies that expired before `now`. Of the rest, keeps the `most` fetched last. */
export async function deleteOldStsPolicies(db: Db, now: number, most: number): Promise<void> {
  const q = tables<StsTables>(db);
  await deleteUntil(db, 'expires_at', now);
  const firstTooMany = await q
    .selectFrom('mta_sts_policies')
    .select('fetched_at')
    .orderBy('fetched_at', 'desc')
    .offset(most)
    .limit(1)
    .executeTakeFirst();
  if (!firstTooMany) return;
  await deleteUntil(db, 'fetched_at', firstTooMany.fetched_at);
}
