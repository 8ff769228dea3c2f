// Tags in any case: `contact_tags`, `contact_counts`, `conversation_tags` and the tags of
// `message_search` hold folded tags from now on. Contacts and conversations keep each tag as it was
// first written.
import { type RawBuilder, sql } from 'kysely';
import { foldCase } from '../../runtime/fold-case.ts';
import { type Db, fromJson, toJson } from '../db.ts';
import type { Migration } from '../migration.ts';

/** Tags of an organization that differ only in case. */
interface Variants {
  organizationId: string;
  folded: string;
  tags: string[];
}

/** A table of resources with tags, and its index of tags. */
interface Tagged {
  resources: 'contacts' | 'conversations';
  index: 'contact_tags' | 'conversation_tags';
  id: 'contact_id' | 'conversation_id';
}

const contacts: Tagged = { resources: 'contacts', index: 'contact_tags', id: 'contact_id' };
const conversations: Tagged = {
  ...{ resources: 'conversations', index: 'conversation_tags' },
  id: 'conversation_id',
};

/** Rows that one statement rewrites. */
const rowsAtOnce = 500;

export const foldedTags: Migration = {
  name: '0032-folded-tags',
  sql: ({ engine }) => {
    const lower = engine === 'postgres' ? 'lower(value collate "C")' : 'lower(value)';
    const unfolded = `organization_id in (select id from organizations) and kind = 'tag' and value <> ${lower}`;
    return `
insert into message_search (organization_id, kind, value, created_at, message_id)
  select organization_id, kind, ${lower}, created_at, message_id from message_search
  where ${unfolded}
  on conflict do nothing;
delete from message_search where ${unfolded};
`;
  },
  async fill(trx) {
    const counted = sql`select organization_id, tag from contact_counts where tag <> ''`;
    for (const variants of await unfoldedVariants(trx, counted)) {
      await foldIn(trx, contacts, variants);
      await countAgain(trx, variants);
    }
    const listed = sql`select distinct organization_id, tag from conversation_tags`;
    for (const variants of await unfoldedVariants(trx, listed)) {
      await foldIn(trx, conversations, variants);
    }
  },
};

/** Returns the groups of tags with a tag that is not folded. */
async function unfoldedVariants(trx: Db, tags: RawBuilder<unknown>): Promise<Variants[]> {
  const { rows } = await sql<{ organization_id: string; tag: string }>`${tags}`.execute(trx);
  const groups = Map.groupBy(rows, (row) => `${row.organization_id} ${foldCase(row.tag)}`);
  return [...groups.values()]
    .map((group) => ({
      organizationId: group[0]?.organization_id ?? '',
      folded: foldCase(group[0]?.tag ?? ''),
      tags: group.map(({ tag }) => tag),
    }))
    .filter(({ folded, tags: found }) => found.some((tag) => tag !== folded));
}

async function foldIn(trx: Db, tagged: Tagged, variants: Variants): Promise<void> {
  const { organizationId, folded, tags } = variants;
  if (tags.length > 1) await dropRepeats(trx, tagged, variants);
  const [index, id] = [sql.table(tagged.index), sql.ref(tagged.id)];
  const others = tags.filter((tag) => tag !== folded);
  const ofOthers = sql`organization_id = ${organizationId} and tag in (${sql.join(others)})`;
  await sql`insert into ${index} (organization_id, tag, ${id})
    select organization_id, cast(${folded} as text), ${id} from ${index} where ${ofOthers}
    on conflict do nothing`.execute(trx);
  await sql`delete from ${index} where ${ofOthers}`.execute(trx);
}

/** Leaves the first writing of each tag in resources that have several. */
async function dropRepeats(
  trx: Db,
  { resources, index, id }: Tagged,
  { organizationId, tags }: Variants,
): Promise<void> {
  let after = '';
  for (;;) {
    const { rows: found } = await sql<{ id: string }>`select ${sql.ref(id)} as id
      from ${sql.table(index)}
      where organization_id = ${organizationId} and tag in (${sql.join(tags)})
        and ${sql.ref(id)} > ${after}
      group by ${sql.ref(id)} having count(*) > 1
      order by ${sql.ref(id)} limit ${rowsAtOnce}`.execute(trx);
    if (found.length === 0) return;
    after = found.at(-1)?.id ?? '';
    const { rows } = await sql<{ id: string; tags: string | null }>`select id, tags
      from ${sql.table(resources)} where id in (${sql.join(found.map((one) => one.id))})`.execute(
      trx,
    );
    for (const row of rows) {
      const unique = firstWritten(fromJson<string[]>(row.tags) ?? []);
      await sql`update ${sql.table(resources)} set tags = ${toJson(unique)}
        where id = ${row.id}`.execute(trx);
    }
  }
}

function firstWritten(tags: readonly string[]): string[] {
  const seen = new Set<string>();
  return tags.filter((tag) => {
    const folded = foldCase(tag);
    return !seen.has(folded) && seen.add(folded);
  });
}

async function countAgain(trx: Db, { organizationId, folded, tags }: Variants): Promise<void> {
  const all = new Set([...tags, folded]);
  await sql`delete from contact_counts
    where organization_id = ${organizationId} and tag in (${sql.join([...all])})`.execute(trx);
  await sql`insert into contact_counts (organization_id, tag, count)
    select organization_id, tag, count(*) from contact_tags
    where organization_id = ${organizationId} and tag = ${folded}
    group by organization_id, tag`.execute(trx);
}
