// Unsubscribe groups, the resource. Unsubscribing from a group adds a block of that group
// (src/people/blocks), which outlives it.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { plainNoun } from '../../history/events/plain-noun.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { type UnsubscribeGroupRow, unsubscribeGroups } from './queries.ts';
import { type CreateGroup, type UnsubscribeGroup, unsubscribeGroupNoun } from './schema.ts';

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

const { create, ...others } = plainNoun({
  noun: unsubscribeGroupNoun,
  rows: unsubscribeGroups,
  present,
  settingsOf: ({ name, description }) => ({ name, description }),
});

/** Creates a group. */
export function createGroup(
  app: App,
  caller: Caller,
  { name, description = null }: CreateGroup,
): Promise<UnsubscribeGroup> {
  return create(app, caller, { name, description });
}

/** The other functions of a plain noun. Blocks of a deleted group stay in force. */
export const { list: listGroups, get: getGroup, update: updateGroup, delete: deleteGroup } = others;
