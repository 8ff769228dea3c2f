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
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

const { create, update, ...others } = plainNoun({
  noun: unsubscribeGroupNoun,
  rows: unsubscribeGroups,
  present,
  settingsOf: ({ name, description, is_public }) => ({
    name,
    description,
    public: is_public === 1,
  }),
});

/** Creates a group. */
export function createGroup(
  app: App,
  caller: Caller,
  { name, description = null, public: isPublic = false }: CreateGroup,
): Promise<UnsubscribeGroup> {
  return create(app, caller, { name, description, is_public: isPublic ? 1 : 0 });
}

/** Changes the given settings of a group. @throws ResourceNotFoundError. */
export function updateGroup(
  app: App,
  caller: Caller,
  id: string,
  { public: isPublic, ...columns }: UpdateGroup,
): Promise<UnsubscribeGroup> {
  const change = isPublic === undefined ? columns : { ...columns, is_public: isPublic ? 1 : 0 };
  return update(app, caller, id, change);
}

/** The other functions of a plain noun. Blocks of a deleted group stay in force. */
export const { list: listGroups, get: getGroup, delete: deleteGroup } = others;
