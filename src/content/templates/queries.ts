// All SQL on `templates` and `template_versions`. Reads and writes rows, decides nothing.
import type { PageRequest } from '../../core/api/pagination.ts';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { createdWithin } from '../../platform/store/rows/rows.ts';
import type { TemplateStatus } from './schema.ts';

export interface TemplateRow {
  id: string;
  organization_id: string;
  name: string;
  slug: string;
  channel: 'email';
  description: string | null;
  status: TemplateStatus;
  family_id: string | null;
  version_id: string | null;
  version_number: number | null;
  next_version: number;
  published_at: number | null;
  archived_at: number | null;
  created_at: number;
  updated_at: number;
}

/** A published version without the compiled texts. */
export interface TemplateVersionRow {
  id: string;
  organization_id: string;
  template_id: string;
  number: number;
  commit_hash: string;
  /** JSON of TemplateWarning[]. */
  warnings: string;
  html_bytes: number;
  brand_slug: string | null;
  css_digest: string;
  created_by: string | null;
  created_at: number;
}

interface VersionTable extends TemplateVersionRow {
  /** JSON of CompiledTemplate. */
  compiled: string;
}

interface TemplateTables {
  templates: TemplateRow;
  template_versions: VersionTable;
}

const own = ownTables<TemplateTables>();

export const templates = own.rowsOf('templates', 'template');

/** Locks templates until the transaction ends. */
export const lockTemplates = own.lockerOf('templates');

const sendable = [
  'id',
  'organization_id',
  'slug',
  'status',
  'version_id',
  'version_number',
] as const;

/** Finds templates by id. Hot: read by each send that names a template by id. */
export const findTemplatesForSends = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('templates')
    .select(sendable)
    .where('id', ...isOneOf(db, ids)),
);

/**
 * Finds templates by slug in any of these organizations. The caller picks by slug and organization.
 * Hot: read by each send that names a template by slug.
 */
export const findTemplatesBySlugs = own.all(
  (db, organizationIds: readonly string[], slugs: readonly string[]) =>
    db
      .selectFrom('templates')
      .select(sendable)
      .where('organization_id', ...isOneOf(db, organizationIds))
      .where('slug', ...isOneOf(db, slugs)),
);

/**
 * Reads compiled templates, as JSON, by the ids of their versions. A version never changes, so
 * callers may cache it by the id.
 */
export const findCompiled = own.all((db, versionIds: readonly string[]) =>
  db
    .selectFrom('template_versions')
    .select(['id', 'compiled'])
    .where('id', ...isOneOf(db, versionIds)),
);

/** Reads the templates of these families, oldest first. */
export const selectMembers = own.all((db, organizationId: string, familyIds: readonly string[]) =>
  db
    .selectFrom('templates')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('family_id', ...isOneOf(db, familyIds))
    .orderBy('id'),
);

/** Removes all templates from a family. The caller has locked them. */
export const leaveFamily = own.run((db, organizationId: string, familyId: string) =>
  db
    .updateTable('templates')
    .set({ family_id: null })
    .where('organization_id', '=', organizationId)
    .where('family_id', '=', familyId),
);

const versionColumns = [
  'id',
  'organization_id',
  'template_id',
  'number',
  'commit_hash',
  'warnings',
  'html_bytes',
  'brand_slug',
  'css_digest',
  'created_by',
  'created_at',
] as const;

/** Finds a version by id. */
export const findVersion = own.first((db, id: string) =>
  db.selectFrom('template_versions').select(versionColumns).where('id', '=', id),
);

/**
 * Returns a page of the versions of a template, newest first, and their total. With a range of
 * times, only versions created in that range count.
 */
export async function selectVersions(
  db: Db,
  templateId: string,
  { page, limit, ...times }: PageRequest,
): Promise<{ rows: TemplateVersionRow[]; total: number }> {
  const within = createdWithin(times);
  const versions = tables<TemplateTables>(db)
    .selectFrom('template_versions')
    .where('template_id', '=', templateId)
    .$call((query) => (within ? query.where(within) : query));
  const [rows, { total }] = await Promise.all([
    versions
      .select(versionColumns)
      .orderBy('number', 'desc')
      .limit(limit)
      .offset((page - 1) * limit)
      .execute(),
    versions.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { rows, total };
}

/** Finds the versions of these commits, ordered by number. */
export const findVersionsOfCommits = own.all((db, templateId: string, commits: readonly string[]) =>
  db
    .selectFrom('template_versions')
    .select(['commit_hash', 'number'])
    .where('template_id', '=', templateId)
    .where('commit_hash', ...isOneOf(db, commits))
    .orderBy('number'),
);

export async function insertVersion(db: Db, row: VersionTable): Promise<void> {
  await tables<TemplateTables>(db).insertInto('template_versions').values(row).execute();
}

export const newestTemplateNames = own.all((db, organizationId: string, limit: number) =>
  db
    .selectFrom('templates')
    .select(['id', 'name', 'slug', 'status'])
    .where('organization_id', '=', organizationId)
    .orderBy('id', 'desc')
    .limit(limit),
);

/** Returns the names of the templates of an organization among these ids. */
export const findTemplateNames = own.all((db, organizationId: string, ids: readonly string[]) =>
  db
    .selectFrom('templates')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .where('id', ...isOneOf(db, ids)),
);
