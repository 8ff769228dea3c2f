// Installations in the form of the API.
import { findKeyNames } from '../access/keys/queries.ts';
import { allows } from '../core/api/permission.ts';
import type { Caller } from '../core/api/route.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import { type Db, fromJson } from '../platform/store/db.ts';
import { findEndpoints } from '../webhooks/endpoints/queries.ts';
import { withoutPath } from '../webhooks/present.ts';
import type { InstallationRow } from './installation-queries.ts';
import type { Installation, Scope } from './installation-schema.ts';
import { findByIds, findVersionRows } from './queries.ts';

/**
 * Returns the scope of an installation; for all mailboxes, `mailboxIds` is empty and `namespaceId`
 * is null.
 */
export function scopeOf(row: Pick<InstallationRow, 'mailbox_ids' | 'namespace_id'>): Scope {
  return { mailboxIds: fromJson<string[]>(row.mailbox_ids) ?? [], namespaceId: row.namespace_id };
}

/** Presents installations, in their order. */
export async function presentInstallations(
  db: Db,
  rows: readonly InstallationRow[],
): Promise<Installation[]> {
  if (rows.length === 0) return [];
  const unique = (ids: (string | null)[]) => [...new Set(ids.flatMap((id) => id ?? []))];
  // The display name is the name of the key, which the key got at the installation: a later rename
  // of the extension must not rename installations.
  const keyNames = await findKeyNames(db, unique(rows.map((row) => row.key_id)));
  const endpointIds = unique(rows.map((row) => row.endpoint_id));
  const extensions = await findByIds(db, unique(rows.map((row) => row.extension_id)));
  const versions = await findVersionRows(db, unique(rows.map((row) => row.version_id)));
  const endpoints = endpointIds.length > 0 ? await findEndpoints(db, endpointIds) : new Map();
  return rows.map((row) => {
    const extension = extensions.get(row.extension_id);
    const version = versions.get(row.version_id);
    const endpoint = endpoints.get(row.endpoint_id ?? '');
    if (!extension || !version) throw new Error(`${row.id} has no extension`);
    const { name } = extension;
    const named = keyNames.get(row.key_id) ?? name;
    return {
      id: row.id,
      organizationId: row.organization_id,
      extensionId: row.extension_id,
      name,
      displayName: named === name ? null : named,
      version: { id: version.id, version: version.version },
      runtime: version.runtime,
      status: row.status,
      createdAt: isoTime(row.created_at),
      events: fromJson<string[]>(version.events),
      permissions: fromJson<string[]>(version.permissions),
      sendMode: row.send_mode,
      scope: scopeOf(row),
      webhook: endpoint ? { endpointId: endpoint.id, url: endpoint.url } : null,
      updatedAt: isoTime(row.updated_at),
      disabledAt: isoTime(row.disabled_at),
      keyId: row.key_id,
      createdBy: fromJson<Installation['createdBy']>(row.created_by),
    };
  });
}

export async function presentInstallation(db: Db, row: InstallationRow): Promise<Installation> {
  const [shown] = await presentInstallations(db, [row]);
  if (!shown) throw new Error(`${row.id} was not presented`);
  return shown;
}

/**
 * Returns an installation as events show it: without the path of the URL, which may have a token.
 */
export function withoutUrl(installation: Installation): Installation {
  const { webhook } = installation;
  return { ...installation, webhook: webhook && { ...webhook, url: withoutPath(webhook.url) } };
}

/**
 * Returns an installation as this caller may see it: the whole URL only with `extensions:write`.
 */
export function shownTo({ permissions }: Pick<Caller, 'permissions'>, installation: Installation) {
  return allows(permissions, 'extensions:write') ? installation : withoutUrl(installation);
}
