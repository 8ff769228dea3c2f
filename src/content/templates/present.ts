// Turns rows of templates and of their versions into the objects of the API.
import { isoTime } from '../../platform/runtime/clock.ts';
import { fromJson } from '../../platform/store/db.ts';
import type { TemplateWarning } from '../rendering/compiled.ts';
import type { TemplateRow, TemplateVersionRow } from './queries.ts';
import type { Template, TemplateVersion } from './schema.ts';

export function presentTemplate(row: TemplateRow): Template {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    slug: row.slug,
    channel: row.channel,
    description: row.description,
    status: row.status,
    isActive: row.status === 'published',
    familyId: row.family_id,
    version: row.version_number,
    publishedAt: isoTime(row.published_at),
    archivedAt: isoTime(row.archived_at),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

export function presentVersion(row: TemplateVersionRow): TemplateVersion {
  return {
    id: row.id,
    templateId: row.template_id,
    version: row.number,
    commit: row.commit_hash,
    brand: row.brand_slug,
    htmlBytes: row.html_bytes,
    warnings: fromJson<TemplateWarning[]>(row.warnings),
    createdBy: row.created_by,
    createdAt: isoTime(row.created_at),
  };
}
