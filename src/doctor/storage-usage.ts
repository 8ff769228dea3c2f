// Space that mail and templates of each organization take in the store, for `svc storage usage`.
// Reads whole tables: only an operator runs it, never a request.
import { findOrganizations } from '../access/organizations/queries.ts';
import { sumObjects } from '../content/git/queries.ts';
import type { App } from '../core/app.ts';
import { type StoredBytes, sumBlobs } from '../core/blobs/queries.ts';
import { sumContents } from '../outbound/messages/contents/content-queries.ts';
import { storeSize } from './queries.ts';

export interface OrganizationUsage {
  organizationId: string;
  name: string;
  /** Bytes of HTML and text of messages. Messages with equal content share the bytes. */
  contentBytes: number;
  /** Bytes of attachments and of received raw mail. */
  fileBytes: number;
  files: number;
  /** Bytes of the histories of templates, compressed. */
  templateBytes: number;
  totalBytes: number;
}

export interface StorageUsage {
  /** Bytes of the whole store, with indexes. */
  storeBytes: number;
  /**
   * Bytes of deleted rows that new rows will use. Null on PostgreSQL, which reuses space within
   * each table only.
   */
  freeBytes: number | null;
  /** Sorted by size, the largest first. */
  organizations: OrganizationUsage[];
}

/** Measures the store by organization and kind. */
export async function storageUsage({ store }: App): Promise<StorageUsage> {
  const { db } = store;
  const [contents, blobs, objects, size] = await Promise.all([
    sumContents(db),
    sumBlobs(db),
    sumObjects(db),
    storeSize(db),
  ]);
  const ids = [...contents, ...blobs, ...objects].map(({ organization_id }) => organization_id);
  const organizations = await findOrganizations(db, [...new Set(ids)]);
  const of = (sums: readonly StoredBytes[], id: string) =>
    sums.find(({ organization_id }) => organization_id === id);
  const rows = organizations.map(({ id, name }) => {
    const contentBytes = of(contents, id)?.bytes ?? 0;
    const fileBytes = of(blobs, id)?.bytes ?? 0;
    const templateBytes = of(objects, id)?.bytes ?? 0;
    return {
      organizationId: id,
      name,
      contentBytes,
      fileBytes,
      files: of(blobs, id)?.count ?? 0,
      templateBytes,
      totalBytes: contentBytes + fileBytes + templateBytes,
    };
  });
  return { ...size, organizations: rows.sort((a, b) => b.totalBytes - a.totalBytes) };
}
