// All SQL on installations and their changes of version. Rows only, no decisions.
import type { RawBuilder, SqlBool } from 'kysely';
import type { SendMode } from '../core/api/route.ts';
import { type Db, tables } from '../platform/store/db.ts';
import { ownTables } from '../platform/store/own-tables.ts';

export const installationStatuses = ['active', 'failing', 'disabled'] as const;

export type InstallationStatus = (typeof installationStatuses)[number];

export interface InstallationRow {
  id: string;
  organization_id: string;
  extension_id: string;
  version_id: string;
  key_id: string;
  endpoint_id: string | null;
  status: InstallationStatus;
  send_mode: SendMode;
  /** Ids as JSON. Null for all mailboxes, or if `namespace_id` sets the mailboxes. */
  mailbox_ids: string | null;
  namespace_id: string | null;
  /** Author of the installation, as JSON. */
  created_by: string;
  created_at: number;
  updated_at: number;
  disabled_at: number | null;
}

/** An upgrade or a rollback of an installation. */
export interface VersionChangeRow {
  id: string;
  organization_id: string;
  installation_id: string;
  extension_id: string;
  from_version_id: string;
  from_version: string;
  to_version_id: string;
  to_version: string;
  /** Added grants as JSON; `removed` has the removed grants. */
  added: string;
  removed: string;
  changed_by: string;
  changed_at: number;
}

interface InstallationTables {
  extension_installations: InstallationRow;
  installation_version_changes: VersionChangeRow;
}

const own = ownTables<InstallationTables>();

export const installations = own.rowsOf('extension_installations', 'extension-installation');

export const versionChanges = own.rowsOf(
  'installation_version_changes',
  'installation-version-change',
);

const lockInstallations = own.lockerOf('extension_installations');

/**
 * Locks an installation until the transaction ends, and returns it. @throws ResourceNotFoundError.
 */
export async function lockInstallation(
  trx: Db,
  organizationId: string,
  id: string,
): Promise<InstallationRow> {
  await lockInstallations(trx, [id]);
  return installations.get(trx, organizationId, id);
}

/** Returns whether any organization has installed the extension. */
export const isInstalled = own.first(
  (db, extensionId: string) =>
    db
      .selectFrom('extension_installations')
      .select('id')
      .where('extension_id', '=', extensionId)
      .limit(1),
  (row) => row !== undefined,
);

interface Filter {
  status?: InstallationStatus | undefined;
  extensionId?: string | undefined;
  within?: RawBuilder<SqlBool> | undefined;
}

/** Returns installations of an organization before `before`, newest first. */
export function selectInstallations(
  db: Db,
  organizationId: string,
  { status, extensionId, within }: Filter,
  before: string | undefined,
  limit: number,
): Promise<InstallationRow[]> {
  return tables<InstallationTables>(db)
    .selectFrom('extension_installations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'active'))
    .$if(extensionId !== undefined, (query) => query.where('extension_id', '=', extensionId ?? ''))
    .$call((query) => (within ? query.where(within) : query))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

interface ChangesPage {
  before: string | undefined;
  from: number | undefined;
  to: number | undefined;
}

/**
 * Returns the changes of an installation before `before`, newest first; even of a deleted
 * installation.
 */
export function selectVersionChanges(
  db: Db,
  organizationId: string,
  installationId: string,
  { before, from, to }: ChangesPage,
  limit: number,
): Promise<VersionChangeRow[]> {
  return tables<InstallationTables>(db)
    .selectFrom('installation_version_changes')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('installation_id', '=', installationId)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .$if(from !== undefined, (query) => query.where('changed_at', '>=', from ?? 0))
    .$if(to !== undefined, (query) => query.where('changed_at', '<', to ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Erases names in authors of installations. */
export const eraseInstallerNames = own.namesIn('extension_installations', {
  created_by: 'created_by',
});

/** Erases names in authors of upgrades. */
export const eraseUpgraderNames = own.namesIn('installation_version_changes', {
  changed_by: 'changed_by',
});
