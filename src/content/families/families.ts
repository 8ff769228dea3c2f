// Families of templates, the resource (specification 2.8, 4.6). A template is in one family at
// most: the template's row names the family. A change of members locks the family first, then the
// template.
import { type Page, toPage } from '../../core/api/pagination.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { changesOf } from '../../history/audit/audit.ts';
import { record } from '../../history/events/record.ts';
import { ConflictError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { presentTemplate } from '../templates/present.ts';
import {
  leaveFamily,
  lockTemplates,
  selectMembers,
  type TemplateRow,
  templates,
} from '../templates/queries.ts';
import { familyNoun } from '../templates/schema.ts';
import { type FamilyRow, families, lockFamilies } from './queries.ts';
import {
  type CreateFamily,
  type Family,
  familyFields,
  type ListFamilies,
  type UpdateFamily,
} from './schema.ts';

/** Most members of a family, so that a page of families stays small. */
const mostMembers = 100;

function toMember(row: TemplateRow): Family['members'][number] {
  const { id, name, slug, channel, status, isActive, createdAt, updatedAt } = presentTemplate(row);
  return { id, name, slug, channel, status, isActive, createdAt, updatedAt };
}

/** Presents families of an organization with their members. */
async function present(db: Db, rows: readonly FamilyRow[]): Promise<Family[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const ids = rows.map(({ id }) => id);
  const members = await selectMembers(db, first.organization_id, ids);
  const byFamily = Map.groupBy(members, ({ family_id }) => family_id);
  return rows.map((row) =>
    familyFields.present(row, { members: (byFamily.get(row.id) ?? []).map(toMember) }),
  );
}

async function presentOne(db: Db, row: FamilyRow): Promise<Family> {
  const [family] = await present(db, [row]);
  return family as Family;
}

/** Creates a family without members. */
export function createFamily(app: App, caller: Caller, { name }: CreateFamily): Promise<Family> {
  const now = app.clock.now();
  const row = {
    id: app.newId(familyNoun),
    organization_id: caller.organizationId,
    name,
    created_at: now,
    updated_at: now,
  };
  return app.store.write(async (trx) => {
    await families.insert(trx, row);
    const change = { subject: row.id, action: familyNoun.created, details: { name } };
    await record(app, trx, caller, change);
    return presentOne(trx, row);
  });
}

/** Lists a page of the organization's families, newest first. */
export async function listFamilies(
  app: App,
  { organizationId }: Caller,
  query: ListFamilies,
): Promise<Page<Family>> {
  const { db } = app.store;
  const { rows, total } = await families.page(db, organizationId, query);
  return toPage(await present(db, rows), total, query);
}

/** Returns a family. @throws ResourceNotFoundError. */
export async function getFamily(app: App, { organizationId }: Caller, id: string): Promise<Family> {
  const { db } = app.store;
  return presentOne(db, await families.get(db, organizationId, id));
}

/** Renames a family. @throws ResourceNotFoundError. */
export function updateFamily(
  app: App,
  caller: Caller,
  id: string,
  { name }: UpdateFamily,
): Promise<Family> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    await lockFamilies(trx, [id]);
    const row = await families.get(trx, organizationId, id);
    const change = { name, updated_at: app.clock.now() };
    const changed = await families.update(trx, organizationId, id, change);
    const details = changesOf({ name: row.name }, { name: changed.name });
    if (Object.keys(details).length > 0) {
      await record(app, trx, caller, { subject: id, action: familyNoun.updated, details });
    }
    return presentOne(trx, changed);
  });
}

/** Deletes a family. The members stay templates. @throws ResourceNotFoundError. */
export async function deleteFamily(app: App, caller: Caller, id: string): Promise<Deleted> {
  const { organizationId } = caller;
  await app.store.write(async (trx) => {
    await lockFamilies(trx, [id]);
    const { name } = await families.remove(trx, organizationId, id);
    const members = await selectMembers(trx, organizationId, [id]);
    await lockTemplates(
      trx,
      members.map((member) => member.id),
    );
    await leaveFamily(trx, organizationId, id);
    await record(app, trx, caller, {
      subject: id,
      action: familyNoun.deleted,
      details: { name, members: members.length },
    });
  });
  return { success: true, message: `Template family ${id} is deleted` };
}

type Way = 'added' | 'removed';

/**
 * Moves a template into or out of a family, and records the change. Changes nothing if `isDone`
 * returns true.
 */
function changeMember(
  app: App,
  caller: Caller,
  { familyId, templateId }: { familyId: string; templateId: string },
  way: Way,
  isDone: (trx: Db, template: TemplateRow) => Promise<boolean>,
): Promise<Family> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    await lockFamilies(trx, [familyId]);
    const row = await families.get(trx, organizationId, familyId);
    await lockTemplates(trx, [templateId]);
    const template = await templates.get(trx, organizationId, templateId);
    if (await isDone(trx, template)) return presentOne(trx, row);
    const family_id = way === 'added' ? familyId : null;
    await templates.update(trx, organizationId, templateId, { family_id });
    const change = { updated_at: app.clock.now() };
    const changed = await families.update(trx, organizationId, familyId, change);
    const details = { members: { [way]: templateId } };
    await record(app, trx, caller, { subject: familyId, action: familyNoun.updated, details });
    return presentOne(trx, changed);
  });
}

/**
 * Adds a template to a family. Changes nothing if the template is in the family already.
 * @throws ResourceNotFoundError; ConflictError if the template is in a different family, or the
 * family is full.
 */
export function addMember(
  app: App,
  caller: Caller,
  path: { familyId: string; templateId: string },
): Promise<Family> {
  return changeMember(app, caller, path, 'added', async (trx, { id, family_id }) => {
    if (family_id === path.familyId) return true;
    if (family_id !== null) {
      throw new ConflictError(
        'template-family',
        `${id} is in the family ${family_id}: remove it there first`,
      );
    }
    const members = await selectMembers(trx, caller.organizationId, [path.familyId]);
    if (members.length < mostMembers) return false;
    throw new ConflictError('template-family', `a family has at most ${mostMembers} members`);
  });
}

/**
 * Removes a template from a family. Changes nothing if the template is not in the family.
 * @throws ResourceNotFoundError.
 */
export function removeMember(
  app: App,
  caller: Caller,
  path: { familyId: string; templateId: string },
): Promise<Family> {
  const isOutside = async (_trx: Db, { family_id }: TemplateRow) => family_id !== path.familyId;
  return changeMember(app, caller, path, 'removed', isOutside);
}
