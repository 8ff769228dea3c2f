// The room that mail and templates of each organization take in the store, for `svc storage usage`.
// Reads whole tables: an operator asks for it, never a request.
import { findOrganizations } from '../access/organizations/queries.ts';
import { sumObjects } from '../content/git/queries.ts';
import type { App } from '../core/app.ts';
import { type StoredBytes, sumBlobs } from '../core/blobs/queries.ts';
import { sumContents } from '../outbound/messages/contents/content-queries.ts';
import { storeSize } from './queries.ts';

export interface OrganizationUsage {
  organizationId: string;
  name: string;
  /** HTML and text of messages, shared by messages with equal content. */
  contentBytes: number;
  /** Attachments, and raw mail that was received. */
  fileBytes: number;
  files: number;
  /** Histories of templates, compressed. */
  templateBytes: number;
  totalBytes: number;
}

export interface StorageUsage {
  /** The whole store, with indexes. */
  storeBytes: number;
  /**
   * Room in the store that the next rows take: of deleted rows. Null on PostgreSQL, which keeps it
   * by table.
   */
  freeBytes: number | null;
  /** The largest first. */
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
