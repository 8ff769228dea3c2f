// All SQL on extensions and their versions. Rows only, no decisions.
import { type Db, isOneOf, tables } from '../platform/store/db.ts';
import { ownTables } from '../platform/store/own-tables.ts';

export type Runtime = 'webhook' | 'hosted';

export interface ExtensionRow {
  id: string;
  organization_id: string;
  name: string;
  display_name: string | null;
  description: string | null;
  runtime: Runtime;
  is_public: number;
  latest_version_id: string | null;
  created_at: number;
  updated_at: number;
}

export interface VersionRow {
  id: string;
  extension_id: string;
  organization_id: string;
  version: string;
  precedence: string;
  /** Permissions as JSON, sorted. */
  permissions: string;
  events: string;
  send_modes: string;
  runtime: Runtime;
  changelog: string | null;
  withdrawn_at: number | null;
  created_at: number;
}

interface ExtensionTables {
  extensions: ExtensionRow;
  extension_versions: VersionRow;
}

const own = ownTables<ExtensionTables>();

const listed = [
  'id',
  'extension_id',
  'organization_id',
  'version',
  'precedence',
  'permissions',
  'events',
  'send_modes',
  'runtime',
  'withdrawn_at',
  'created_at',
] as const satisfies readonly (keyof VersionRow)[];

/** Columns of a version that a list shows. */
export type ListedVersionRow = Pick<VersionRow, (typeof listed)[number]>;

export const extensions = own.rowsOf('extensions', 'extension');

/**
 * Locks extensions until the transaction ends, against publications, installations and deletion.
 */
export const lockExtensions = own.lockerOf('extensions');

const versions = own.rowsOf('extension_versions', 'extension-version');

/** Stores a version; false if the extension has a version of the same precedence. */
export function insertVersion(trx: Db, row: VersionRow): Promise<boolean> {
  return versions.insert(trx, row, ['extension_id', 'precedence']);
}

/** Returns the extension with this id, of any organization. */
export const findExtension = own.first((db, id: string) =>
  db.selectFrom('extensions').selectAll().where('id', '=', id),
);

/** Returns the extension if it is of this organization or public. */
export const findVisible = own.first((db, organizationId: string, id: string) =>
  db
    .selectFrom('extensions')
    .selectAll()
    .where('id', '=', id)
    .where((eb) => eb.or([eb('organization_id', '=', organizationId), eb('is_public', '=', 1)])),
);

interface Listing {
  /** Selects extensions with an id lower than this. */
  before: string | undefined;
  /** Selects extensions created from `from` on and before `to`, ms since 1970. */
  from: number | undefined;
  to: number | undefined;
}

function selectListed(db: Db, { before, from, to }: Listing, limit: number) {
  return tables<ExtensionTables>(db)
    .selectFrom('extensions')
    .selectAll()
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .$if(from !== undefined, (query) => query.where('created_at', '>=', from ?? 0))
    .$if(to !== undefined, (query) => query.where('created_at', '<', to ?? 0))
    .orderBy('id', 'desc')
    .limit(limit);
}

/**
 * Returns extensions of the organization and public extensions of other organizations, newest
 * first.
 */
export async function selectExtensions(
  db: Db,
  organizationId: string,
  listing: Listing,
  limit: number,
): Promise<ExtensionRow[]> {
  // Two reads, because no single index serves both conditions.
  const [ours, others] = await Promise.all([
    selectListed(db, listing, limit).where('organization_id', '=', organizationId).execute(),
    selectListed(db, listing, limit)
      .where('is_public', '=', 1)
      .where('organization_id', '!=', organizationId)
      .execute(),
  ]);
  return [...ours, ...others].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
}

export const findVersions = own.all(
  (db, ids: readonly string[]) =>
    db
      .selectFrom('extension_versions')
      .select(['id', 'version'])
      .where('id', ...isOneOf(db, ids)),
  (rows) => new Map(rows.map(({ id, version }) => [id, version])),
);

export const findByIds = own.all(
  (db, ids: readonly string[]) =>
    db
      .selectFrom('extensions')
      .select(['id', 'name'])
      .where('id', ...isOneOf(db, ids)),
  (rows) => new Map(rows.map((row) => [row.id, row])),
);

/** Returns versions with their grants, without their changelogs. */
export const findVersionRows = own.all(
  (db, ids: readonly string[]) =>
    db
      .selectFrom('extension_versions')
      .select(listed)
      .where('id', ...isOneOf(db, ids)),
  (rows) => new Map(rows.map((row) => [row.id, row])),
);

/** Returns the version of an extension with this id or this number. */
export const findVersionRow = own.first((db, extensionId: string, named: string) =>
  db
    .selectFrom('extension_versions')
    .selectAll()
    .where('extension_id', '=', extensionId)
    .where((eb) => eb.or([eb('id', '=', named), eb('version', '=', named)])),
);

/** Returns the versions that are not withdrawn, in no order. */
export const selectOffered = own.all((db, extensionId: string) =>
  db
    .selectFrom('extension_versions')
    .select(['id', 'precedence'])
    .where('extension_id', '=', extensionId)
    .where('withdrawn_at', 'is', null),
);

export async function countVersions(db: Db, extensionId: string): Promise<number> {
  const { count } = await tables<ExtensionTables>(db)
    .selectFrom('extension_versions')
    .where('extension_id', '=', extensionId)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Returns versions of an extension before `before`, newest first. */
export function selectVersions(
  db: Db,
  extensionId: string,
  { before, from, to }: Listing,
  limit: number,
): Promise<ListedVersionRow[]> {
  return tables<ExtensionTables>(db)
    .selectFrom('extension_versions')
    .select(listed)
    .where('extension_id', '=', extensionId)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .$if(from !== undefined, (query) => query.where('created_at', '>=', from ?? 0))
    .$if(to !== undefined, (query) => query.where('created_at', '<', to ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Withdraws a version. Returns false if it was withdrawn before. */
export const withdrawRow = own.change(
  (db, id: string, at: number) =>
    db
      .updateTable('extension_versions')
      .set({ withdrawn_at: at })
      .where('id', '=', id)
      .where('withdrawn_at', 'is', null),
  (count) => count > 0,
);
