// Unsubscribe groups, the resource. Unsubscribing from a group adds a block of that group
// (src/people/blocks), which outlives it.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { plainNoun } from '../../history/events/plain-noun.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { type UnsubscribeGroupRow, unsubscribeGroups } from './queries.ts';
import {
  type CreateGroup,
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
    public: row.is_public === 1,
    confirm: row.confirm === 1,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

const { create, update, ...others } = plainNoun({
  noun: unsubscribeGroupNoun,
  rows: unsubscribeGroups,
  present,
  settingsOf: ({ name, description, is_public, confirm }) => ({
    name,
    description,
    public: is_public === 1,
    confirm: confirm === 1,
  }),
});

/** Creates a group. */
export function createGroup(
  app: App,
  caller: Caller,
  { name, description = null, public: isPublic = false, confirm = false }: CreateGroup,
): Promise<UnsubscribeGroup> {
  const columns = { name, description, is_public: Number(isPublic), confirm: Number(confirm) };
  return create(app, caller, columns);
}

/** Changes the given settings of a group. @throws ResourceNotFoundError. */
export function updateGroup(
  app: App,
  caller: Caller,
  id: string,
  { public: isPublic, confirm, ...columns }: UpdateGroup,
): Promise<UnsubscribeGroup> {
  return update(app, caller, id, {
    ...columns,
    ...(isPublic !== undefined && { is_public: Number(isPublic) }),
    ...(confirm !== undefined && { confirm: Number(confirm) }),
  });
}

/**
 * The remaining functions of a plain noun. `deleteGroup` of src/consent/opt-in deletes the members
 * of a group first.
 */
export const { list: listGroups, get: getGroup, delete: deleteEmptyGroup } = others;
