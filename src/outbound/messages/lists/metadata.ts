// Messages by metadata. A key that the organization declares is looked up in the search index. An
// undeclared key is compared row by row, so the list needs a further filter, and reads a bounded
// number of messages.
import {
  findOrganization,
  firstToIndex,
  moveIndexedTo,
} from '../../../access/organizations/queries.ts';
import { searchInTime } from '../../../core/api/filtered-page.ts';
import type { PageRequest } from '../../../core/api/pagination.ts';
import type { App } from '../../../core/app.ts';
import { ValidationError } from '../../../platform/errors.ts';
import { type Db, fromJson, type Store } from '../../../platform/store/db.ts';
import { listMessageIds, type MessageFilter } from './list-queries.ts';
import {
  deleteMetadataTerms,
  holdMarks,
  idsWithMetadata,
  insertMetadataTerms,
  type MetadataPair,
  messagesAfter,
} from './term-queries.ts';

/** Most messages that a search without an index reads. */
const mostRead = 10_000;
/** Most messages, or terms, in a transaction of the index. */
const batch = 500;
/** Position before all ids. It means that the terms of earlier keys are deleted. */
const beforeAll = '!';

/** Returns the pairs of a query; each is `NAME=VALUE`. */
export function pairsOf(texts: readonly string[] = []): MetadataPair[] {
  return texts.map((text) => {
    const at = text.indexOf('=');
    return [text.slice(0, at), text.slice(at + 1)];
  });
}

/**
 * Returns the pairs, an indexed key first. Null without an indexed key, and while the keys of the
 * organization are being indexed.
 */
export async function byIndex(
  db: Db,
  organizationId: string,
  pairs: readonly MetadataPair[],
): Promise<MetadataPair[] | null> {
  const row = await findOrganization(db, organizationId);
  if (!row || row.metadata_indexed_to !== null) return null;
  const keys = fromJson<string[]>(row.metadata_keys) ?? [];
  const first = pairs.find(([key]) => keys.includes(key));
  return first ? [first, ...pairs.filter((pair) => pair !== first)] : null;
}

/**
 * Returns a page of the messages with this metadata, compared row by row.
 * @throws ValidationError on `metadata.NAME` without a further filter, or with too many messages
 */
export async function pageByMetadata(
  store: Store,
  filter: MessageFilter,
  pairs: readonly MetadataPair[],
  { page, limit }: PageRequest,
): Promise<{ ids: string[]; total: number }> {
  const { organizationId, ...others } = filter;
  const [[key] = ['']] = pairs;
  const field = `metadata.${key}`;
  const declare = `declare the key: svc orgs update ${organizationId} --metadata-key ${key}`;
  if (Object.values(others).every((value) => value === undefined)) {
    throw ValidationError.of(field, `needs a time range or a further filter, or ${declare}`);
  }
  const { found } = await searchInTime(store, organizationId, field, async (db) => {
    const ids = await listMessageIds(db, filter, mostRead + 1, 0);
    if (ids.length > mostRead) return { found: null };
    const matching = await idsWithMetadata(db, ids, pairs);
    return { found: ids.filter((id) => matching.has(id)) };
  });
  if (found === null) {
    const words = `would read more than ${mostRead} messages: narrow the time range, or ${declare}`;
    throw ValidationError.of(field, words);
  }
  return { ids: found.slice((page - 1) * limit, page * limit), total: found.length };
}

/**
 * Indexes the next messages of an organization after a change of keys: deletes all metadata terms
 * first, then inserts the terms of the present keys. Returns false once nothing is left, and
 * `others` while a different daemon fills the table.
 */
export async function indexNext(app: App): Promise<boolean | 'others'> {
  const { store } = app;
  const next = await firstToIndex(store.db);
  if (!next) return false;
  const { id, metadata_indexed_to: from } = next;
  return store.write(async (trx) => {
    if (!(await holdMarks(trx))) return 'others';
    if (from === '') {
      const deleted = await deleteMetadataTerms(trx, id, batch);
      if (deleted === 0) await moveIndexedTo(trx, id, from, beforeAll);
      return true;
    }
    const rows = await messagesAfter(trx, from, batch);
    const own = rows.filter(({ organization_id }) => organization_id === id);
    await insertMetadataTerms(
      trx,
      own.map((row) => row.id),
    );
    await moveIndexedTo(trx, id, from, rows.at(-1)?.id ?? null);
    return true;
  }, 'quiet');
}
