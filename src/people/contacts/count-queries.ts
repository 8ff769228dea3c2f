// All SQL on `contact_counts`: the number of contacts of an organization, in total and by tag. Each
// transaction that adds or deletes contacts updates it.

import { sql } from 'kysely';
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

/** A tag with the number of contacts. */
export interface CountedTag {
  /** Folded tag. */
  tag: string;
  count: number;
  /** JSON of the tags of the oldest contact with the tag, as they are written. */
  written: string | null;
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

/** Returns the number of contacts with the tag, or of all contacts without a tag. */
export async function countOfTag(db: Db, organizationId: string, tag = ''): Promise<number> {
  const row = await tables<CountTables>(db)
    .selectFrom('contact_counts')
    .select('count')
    .where('organization_id', '=', organizationId)
    .where('tag', '=', foldCase(tag))
    .executeTakeFirst();
  return row?.count ?? 0;
}

/** Returns a page of the tags in use, in the order of the folded tags. */
export async function selectTags(
  db: Db,
  organizationId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<CountedTag[]> {
  const { rows } = await sql<CountedTag>`
    select k.tag, k.count, (select c.tags from contacts c where c.id = (
      select min(t.contact_id) from contact_tags t
      where t.organization_id = k.organization_id and t.tag = k.tag)) as written
    from contact_counts k where k.organization_id = ${organizationId} and k.tag > ''
    order by k.tag limit ${limit} offset ${offset}`.execute(db);
  return rows;
}

/** Counts the tags in use. */
export async function countTags(db: Db, organizationId: string): Promise<number> {
  const { count } = await tables<CountTables>(db)
    .selectFrom('contact_counts')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('tag', '>', '')
    .executeTakeFirstOrThrow();
  return count;
}
