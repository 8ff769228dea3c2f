// Extensions (specification 2.15, 4.9): programs that run on servers of their makers, never in the
// daemon. An extension belongs to the organization that makes it; the operator can make it public.
//
//   state     moved by            to        also
//   (none)    create              private   only the making organization sees and installs it
//   private   publish --to-all    public    all organizations see and install it
//   public    publish --no-to-all private   installations elsewhere stay
//   any       delete              (none)    refused while it is installed anywhere
import { lockOrganization } from '../access/organizations/queries.ts';
import { type CursorPage, cutPage, positionOfId, readCursor } from '../core/api/cursor.ts';
import type { Deleted } from '../core/api/resource-schema.ts';
import type { Caller } from '../core/api/route.ts';
import type { App } from '../core/app.ts';
import { changesOf } from '../history/audit/audit.ts';
import { record } from '../history/events/record.ts';
import { ConflictError, ForbiddenError, ResourceNotFoundError } from '../platform/errors.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import type { Db } from '../platform/store/db.ts';
import { boundsOf } from '../platform/store/rows/time-range.ts';
import { isInstalled } from './installation-queries.ts';
import * as queries from './queries.ts';
import {
  type CreateExtension,
  type Extension,
  extensionNoun,
  type ListExtensions,
  type UpdateExtension,
} from './schema.ts';

const mostExtensions = 1_000;

function present(
  { organizationId }: Caller,
  row: queries.ExtensionRow,
  versions: ReadonlyMap<string, string>,
): Extension {
  const { latest_version_id: id } = row;
  const version = id === null ? undefined : versions.get(id);
  return {
    id: row.id,
    // The maker of a public extension is hidden from other organizations.
    organizationId: row.organization_id === organizationId ? organizationId : null,
    name: row.name,
    displayName: row.display_name,
    description: row.description,
    runtime: row.runtime,
    isPublic: row.is_public === 1,
    latestVersion: id === null || version === undefined ? null : { id, version },
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

async function presentAll(
  db: Db,
  caller: Caller,
  rows: readonly queries.ExtensionRow[],
): Promise<Extension[]> {
  const ids = rows.flatMap((row) => row.latest_version_id ?? []);
  const versions = ids.length > 0 ? await queries.findVersions(db, ids) : new Map();
  return rows.map((row) => present(caller, row, versions));
}

async function presentOne(db: Db, caller: Caller, row: queries.ExtensionRow): Promise<Extension> {
  const [shown] = await presentAll(db, caller, [row]);
  if (!shown) throw new Error(`${row.id} was not presented`);
  return shown;
}

/**
 * Returns an extension that the organization may see and install. @throws ResourceNotFoundError.
 */
export async function getVisible(
  db: Db,
  organizationId: string,
  id: string,
): Promise<queries.ExtensionRow> {
  const row = await queries.findVisible(db, organizationId, id);
  if (!row) throw new ResourceNotFoundError(extensionNoun.name, id);
  return row;
}

/** Returns an installed extension, even if it became private: it can still be upgraded. */
export async function getInstalled(db: Db, id: string): Promise<queries.ExtensionRow> {
  const row = await queries.findExtension(db, id);
  if (!row) throw new ResourceNotFoundError(extensionNoun.name, id);
  return row;
}

/**
 * Locks an extension of the caller's organization for a change, and returns it.
 * @throws ResourceNotFoundError; ForbiddenError for a public extension of another organization.
 */
export async function lockOwn(trx: Db, caller: Caller, id: string): Promise<queries.ExtensionRow> {
  await queries.lockExtensions(trx, [id]);
  const row = await getVisible(trx, caller.organizationId, id);
  if (row.organization_id === caller.organizationId) return row;
  throw new ForbiddenError('Only the organization that made this extension changes it');
}

/** Returns the settings of an extension, for the audit. */
function settingsOf({ display_name: displayName, description }: queries.ExtensionRow) {
  return { displayName, description };
}

/** Creates an extension. @throws ConflictError for a taken name, and above 1,000 extensions. */
export async function createExtension(
  app: App,
  caller: Caller,
  { name, displayName = null, description = null, runtime }: CreateExtension,
): Promise<Extension> {
  const { organizationId } = caller;
  const now = app.clock.now();
  const row: queries.ExtensionRow = {
    id: app.newId(extensionNoun),
    organization_id: organizationId,
    name,
    runtime,
    display_name: displayName,
    description,
    is_public: 0,
    latest_version_id: null,
    created_at: now,
    updated_at: now,
  };
  await app.store.write(async (trx) => {
    // Locks the organization, so that concurrent creations are counted in series.
    await lockOrganization(trx, organizationId, now);
    if ((await queries.extensions.count(trx, organizationId)) >= mostExtensions) {
      const text = `The organization already has ${mostExtensions} extensions, the limit`;
      throw new ConflictError(extensionNoun.name, text);
    }
    if (!(await queries.extensions.insert(trx, row, ['organization_id', 'name']))) {
      const text = `The organization already has an extension ${name}`;
      throw new ConflictError(extensionNoun.name, text);
    }
    const details = { name, runtime, ...settingsOf(row) };
    await record(app, trx, caller, { subject: row.id, action: extensionNoun.created, details });
  });
  return present(caller, row, new Map());
}

/**
 * Returns a page of the extensions that the organization made, and of public extensions, newest
 * first.
 * @throws ValidationError (a foreign cursor).
 */
export async function listExtensions(
  app: App,
  caller: Caller,
  { limit, cursor, ...range }: ListExtensions,
): Promise<CursorPage<Extension>> {
  const { organizationId } = caller;
  const { from, to } = boundsOf(range);
  const scope = ['extensions', organizationId, from, to];
  const listing = {
    before: cursor === undefined ? undefined : readCursor(scope, cursor).id,
    from,
    to,
  };
  const { db } = app.store;
  const rows = await queries.selectExtensions(db, organizationId, listing, limit + 1);
  const { shown, nextCursor } = cutPage(scope, rows, limit, positionOfId);
  return { items: await presentAll(db, caller, shown), nextCursor };
}

/** Returns an extension that the organization may see. @throws ResourceNotFoundError. */
export async function getExtension(app: App, caller: Caller, id: string): Promise<Extension> {
  const { db } = app.store;
  return presentOne(db, caller, await getVisible(db, caller.organizationId, id));
}

/**
 * Changes the texts of an extension.
 * @throws ResourceNotFoundError; ForbiddenError for an extension of a different organization.
 */
export function updateExtension(
  app: App,
  caller: Caller,
  id: string,
  { displayName, description }: UpdateExtension,
): Promise<Extension> {
  return app.store.write(async (trx) => {
    const row = await lockOwn(trx, caller, id);
    const change = { display_name: displayName, description, updated_at: app.clock.now() };
    const changed = await queries.extensions.update(trx, caller.organizationId, id, change);
    const details = changesOf(settingsOf(row), settingsOf(changed));
    if (Object.keys(details).length > 0) {
      await record(app, trx, caller, { subject: id, action: extensionNoun.updated, details });
    }
    return presentOne(trx, caller, changed);
  });
}

/**
 * Deletes an extension with all versions.
 * @throws ResourceNotFoundError; ForbiddenError for an extension of another organization;
 * ConflictError while it is installed.
 */
export async function deleteExtension(app: App, caller: Caller, id: string): Promise<Deleted> {
  await app.store.write(async (trx) => {
    const { name } = await lockOwn(trx, caller, id);
    if (await isInstalled(trx, id)) {
      const text = `Extension ${id} is installed: uninstall it first, in every organization`;
      throw new ConflictError(extensionNoun.name, text);
    }
    await queries.extensions.remove(trx, caller.organizationId, id);
    const change = { subject: id, action: extensionNoun.deleted, details: { name } };
    await record(app, trx, caller, change);
  });
  return { success: true, message: `Extension ${id} is deleted` };
}

/** Makes an extension public, or private again. For the operator. @throws ResourceNotFoundError. */
export function publishExtension(
  app: App,
  caller: Caller,
  id: string,
  isPublic: boolean,
): Promise<Extension> {
  return app.store.write(async (trx) => {
    const row = await lockOwn(trx, caller, id);
    const change = { is_public: isPublic, updated_at: app.clock.now() };
    const changed = await queries.extensions.update(trx, caller.organizationId, id, change);
    if (changed.is_public !== row.is_public) {
      const details = { name: row.name, isPublic };
      await record(app, trx, caller, { subject: id, action: 'extension.published', details });
    }
    return presentOne(trx, caller, changed);
  });
}
