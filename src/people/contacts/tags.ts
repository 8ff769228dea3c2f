// The tags that contacts have, with the number of contacts of each.
import { type Page, type PageRequest, toPage } from '../../core/api/pagination.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { foldCase } from '../../platform/runtime/fold-case.ts';
import { fromJson } from '../../platform/store/db.ts';
import { type CountedTag, countTags, selectTags } from './count-queries.ts';
import type { ContactTag } from './schema.ts';

/** Lists a page of tags in the order of the alphabet, as the oldest contact with each writes it. */
export async function listTags(
  { store }: App,
  { organizationId }: Caller,
  query: PageRequest,
): Promise<Page<ContactTag>> {
  const { page, limit } = query;
  const range = { limit, offset: (page - 1) * limit };
  const rows = await selectTags(store.db, organizationId, range);
  const total = await countTags(store.db, organizationId);
  return toPage(rows.map(toTag), total, query);
}

function toTag({ tag, count, written }: CountedTag): ContactTag {
  const known = fromJson<string[]>(written) ?? [];
  return { tag: known.find((one) => foldCase(one) === tag) ?? tag, contacts: count };
}
