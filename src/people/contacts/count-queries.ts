// All SQL on `contact_counts`: the number of contacts of an organization, in total and by tag. Each
// transaction that adds or deletes contacts updates it.
import { foldCase } from '../../platform/runtime/fold-case.ts';
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

interface ContactCountRow {
  organization_id: string;
  /** Folded tag; '' is the counter of all contacts. */
  tag: string;
  count: number;
}

interface CountTables {
  contact_counts: ContactCountRow;
}

const own = ownTables<CountTables>();

/** Deletes the counter of an unused tag, because the tag may name a person. */
async function deleteUnused(trx: Db, { organization_id, tag, count }: ContactCountRow) {
  if (tag === '' || count > 0) return;
  await tables<CountTables>(trx)
    .deleteFrom('contact_counts')
    .where('organization_id', '=', organization_id)
    .where('tag', '=', tag)
    .where('count', '<=', 0)
    .execute();
}

const counts = own.counter('contact_counts', ['organization_id', 'tag'], ['count'], {
  after: deleteUnused,
});

/**
 * Adds `by` contacts (below 0: removes them) to the counter of a folded tag. '' is the counter of
 * all contacts.
 */
export function recordContacts(trx: Db, organizationId: string, tag: string, by: number): void {
  counts.add(trx, { organization_id: organizationId, tag }, { count: by });
}

/** Returns the number of contacts with the tag, or of all. */
export async function countOfTag(db: Db, organizationId: string, tag = ''): Promise<number> {
  const row = await tables<CountTables>(db)
    .selectFrom('contact_counts')
    .select('count')
    .where('organization_id', '=', organizationId)
    .where('tag', '=', foldCase(tag))
    .executeTakeFirst();
  return row?.count ?? 0;
}
