// SQL on `catch_alls`, except for the look-up of receivers (queries.ts). Rows only, no decisions.
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import type { CatchAllRow, MailboxTables } from './queries.ts';

/** Returns the id of the catch-all mailbox of a domain; null without a catch-all. */
export async function findCatchAll(db: Db, domainId: string): Promise<string | null> {
  const row = await tables<MailboxTables>(db)
    .selectFrom('catch_alls')
    .select('mailbox_id')
    .where('domain_id', '=', domainId)
    .executeTakeFirst();
  return row?.mailbox_id ?? null;
}

/**
 * Returns the domains among these that have a catch-all, with the organization of the catch-all
 * mailbox.
 */
export async function selectCatchingDomains(
  db: Db,
  domainIds: readonly string[],
): Promise<{ domainId: string; organizationId: string }[]> {
  if (domainIds.length === 0) return [];
  return tables<MailboxTables>(db)
    .selectFrom('catch_alls')
    .innerJoin('mailboxes', 'mailboxes.id', 'catch_alls.mailbox_id')
    .select(['catch_alls.domain_id as domainId', 'mailboxes.organization_id as organizationId'])
    .where('catch_alls.domain_id', ...isOneOf(db, domainIds))
    .execute();
}

/** Returns the ids of the domains with this mailbox as catch-all. */
export async function selectCaughtDomains(db: Db, mailboxId: string): Promise<string[]> {
  const rows = await tables<MailboxTables>(db)
    .selectFrom('catch_alls')
    .select('domain_id')
    .where('mailbox_id', '=', mailboxId)
    .execute();
  return rows.map((row) => row.domain_id);
}

/**
 * Stores the catch-all of a domain, in place of an earlier mailbox. Returns false if a domain with
 * the same name in a different organization has a catch-all.
 */
export async function putCatchAll(db: Db, row: CatchAllRow): Promise<boolean> {
  const put = await tables<MailboxTables>(db)
    .insertInto('catch_alls')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('domain')
        .doUpdateSet({ mailbox_id: row.mailbox_id, created_at: row.created_at })
        .where('catch_alls.domain_id', '=', row.domain_id),
    )
    .returning('domain_id')
    .execute();
  return put.length > 0;
}

export async function deleteCatchAll(db: Db, domainId: string): Promise<void> {
  await tables<MailboxTables>(db)
    .deleteFrom('catch_alls')
    .where('domain_id', '=', domainId)
    .execute();
}
