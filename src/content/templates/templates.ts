// Templates, the resource (specification 2.8, 4.6). Their files lie in a git repository
// (workspace/); publish.ts compiles them. Only a published template is sent.
//
//   status              | event     | next
//   --------------------+-----------+-----------
//   (none)              | created   | draft
//   any                 | published | published
//   draft, published    | archived  | archived
//   any                 | deleted   | (none)
//
// Publishing an archived template brings it back. Messages keep the id and the version of a deleted
// template.
import { type Page, toPage } from '../../core/api/pagination.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { changesOf } from '../../history/audit/audit.ts';
import { record } from '../../history/events/record.ts';
import { ConflictError } from '../../platform/errors.ts';
import { isDuplicate } from '../../platform/store/db.ts';
import { deleteRepository } from '../git/repository.ts';
import { presentTemplate, presentVersion } from './present.ts';
import * as queries from './queries.ts';
import {
  type ListTemplates,
  type ListVersions,
  type Template,
  type TemplateVersion,
  templateNoun,
  type UpdateTemplate,
} from './schema.ts';

/** Lists a page of the organization's templates, newest first. */
export async function listTemplates(
  app: App,
  { organizationId }: Caller,
  query: ListTemplates,
): Promise<Page<Template>> {
  const { status, channel, slug, familyId } = query;
  const filter = { equal: { status, channel, slug, family_id: familyId } };
  const { rows, total } = await queries.templates.page(app.store.db, organizationId, query, filter);
  return toPage(rows.map(presentTemplate), total, query);
}

/** Returns a template. @throws ResourceNotFoundError. */
export async function getTemplate(
  app: App,
  { organizationId }: Caller,
  id: string,
): Promise<Template> {
  return presentTemplate(await queries.templates.get(app.store.db, organizationId, id));
}

/** Returns the settings that a caller can change, for the audit. */
function settingsOf({ name, slug, description }: queries.TemplateRow) {
  return { name, slug, description };
}

/** Returns the error for a slug that a different template has. */
export function slugTaken(slug: string): ConflictError {
  return new ConflictError('template', `another template has the slug ${slug}`);
}

/**
 * Changes the given fields. Sends that name the former slug are refused from then on.
 * @throws ResourceNotFoundError; ConflictError if a different template has the slug.
 */
export async function updateTemplate(
  app: App,
  caller: Caller,
  id: string,
  input: UpdateTemplate,
): Promise<Template> {
  const { organizationId } = caller;
  return app.store
    .write(async (trx) => {
      await queries.lockTemplates(trx, [id]);
      const row = await queries.templates.get(trx, organizationId, id);
      const change = { ...input, updated_at: app.clock.now() };
      const changed = await queries.templates.update(trx, organizationId, id, change);
      const details = changesOf(settingsOf(row), settingsOf(changed));
      if (Object.keys(details).length > 0) {
        await record(app, trx, caller, { subject: id, action: templateNoun.updated, details });
      }
      return presentTemplate(changed);
    })
    .catch((error: unknown) => {
      throw input.slug !== undefined && isDuplicate(error) ? slugTaken(input.slug) : error;
    });
}

/** Archives a template: sends refuse it. Files and versions stay. @throws ResourceNotFoundError. */
export function archiveTemplate(app: App, caller: Caller, id: string): Promise<Template> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    await queries.lockTemplates(trx, [id]);
    const row = await queries.templates.get(trx, organizationId, id);
    if (row.status === 'archived') return presentTemplate(row);
    const now = app.clock.now();
    const change = { status: 'archived' as const, archived_at: now, updated_at: now };
    const archived = await queries.templates.update(trx, organizationId, id, change);
    const details = { slug: row.slug, status: { before: row.status, after: 'archived' } };
    await record(app, trx, caller, { subject: id, action: 'template.archived', details });
    return presentTemplate(archived);
  });
}

/** Deletes a template with all versions and files. @throws ResourceNotFoundError. */
export async function deleteTemplate(app: App, caller: Caller, id: string): Promise<Deleted> {
  await app.store.write(async (trx) => {
    await queries.lockTemplates(trx, [id]);
    const { name, slug } = await queries.templates.remove(trx, caller.organizationId, id);
    await deleteRepository(trx, id);
    const details = { name, slug };
    await record(app, trx, caller, { subject: id, action: templateNoun.deleted, details });
  });
  return { success: true, message: `Template ${id} is deleted` };
}

/** Lists a page of the versions of a template, newest first. @throws ResourceNotFoundError. */
export async function listVersions(
  app: App,
  { organizationId }: Caller,
  id: string,
  query: ListVersions,
): Promise<Page<TemplateVersion>> {
  const { db } = app.store;
  await queries.templates.get(db, organizationId, id);
  const { rows, total } = await queries.selectVersions(db, id, query);
  return toPage(rows.map(presentVersion), total, query);
}
