// Unsubscribe groups, the resource. Unsubscribing from one makes a block of that group (src/blocks), which
// outlives it.
import { type Page, toPage } from '../api/pagination.ts';
import type { Deleted } from '../api/resource-schema.ts';
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { changesOf } from '../audit/audit.ts';
import { record } from '../events/record.ts';
import { isoTime } from '../runtime/clock.ts';
import { type UnsubscribeGroupRow, unsubscribeGroups } from './queries.ts';
import {
  type CreateGroup,
  type ListGroups,
  type UnsubscribeGroup,
  type UpdateGroup,
  unsubscribeGroupNoun,
} from './schema.ts';

function present(row: UnsubscribeGroupRow): UnsubscribeGroup {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    description: row.description,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

export async function createGroup(
  app: App,
  caller: Caller,
  { name, description = null }: CreateGroup,
): Promise<UnsubscribeGroup> {
  const now = app.clock.now();
  const row: UnsubscribeGroupRow = {
    id: app.newId('unsubscribeGroup'),
    organization_id: caller.organizationId,
    name,
    description,
    created_at: now,
    updated_at: now,
  };
  await app.store.write(async (trx) => {
    await unsubscribeGroups.insert(trx, row);
    const details = { name, description };
    await record(app, trx, caller, {
      subject: row.id,
      action: unsubscribeGroupNoun.created,
      details,
    });
  });
  return present(row);
}

/** Lists a page of the organization's groups, newest first. */
export async function listGroups(
  app: App,
  { organizationId }: Caller,
  query: ListGroups,
): Promise<Page<UnsubscribeGroup>> {
  const { rows, total } = await unsubscribeGroups.page(app.store.db, organizationId, query);
  return toPage(rows.map(present), total, query);
}

/** Returns a group. @throws ResourceNotFoundError. */
export async function getGroup(
  app: App,
  { organizationId }: Caller,
  id: string,
): Promise<UnsubscribeGroup> {
  return present(await unsubscribeGroups.get(app.store.db, organizationId, id));
}

/** Changes the given fields. @throws ResourceNotFoundError. */
export async function updateGroup(
  app: App,
  caller: Caller,
  id: string,
  input: UpdateGroup,
): Promise<UnsubscribeGroup> {
  const { organizationId } = caller;
  const settingsOf = ({ name, description }: UnsubscribeGroupRow) => ({ name, description });
  return app.store.write(async (trx) => {
    const row = await unsubscribeGroups.get(trx, organizationId, id);
    const change = { ...input, updated_at: app.clock.now() };
    const changed = await unsubscribeGroups.update(trx, organizationId, id, change);
    const details = changesOf(settingsOf(row), settingsOf(changed));
    if (Object.keys(details).length > 0) {
      await record(app, trx, caller, {
        subject: id,
        action: unsubscribeGroupNoun.updated,
        details,
      });
    }
    return present(changed);
  });
}

/** Deletes a group; its blocks stay in force. @throws ResourceNotFoundError. */
export async function deleteGroup(app: App, caller: Caller, id: string): Promise<Deleted> {
  await app.store.write(async (trx) => {
    const { name } = await unsubscribeGroups.remove(trx, caller.organizationId, id);
    await record(app, trx, caller, {
      subject: id,
      action: unsubscribeGroupNoun.deleted,
      details: { name },
    });
  });
  return { success: true, message: `Unsubscribe group ${id} is deleted` };
}
