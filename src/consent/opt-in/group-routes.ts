// The HTTP operations on unsubscribe groups. They are in this folder because a group is deleted
// with its members.
import { area } from '../../core/api/area.ts';
import { nounRoutes } from '../../core/api/noun-routes.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import {
  createGroup,
  deleteEmptyGroup,
  getGroup,
  listGroups,
  updateGroup,
} from '../../people/unsubscribe-groups/groups.ts';
import {
  createGroupInput,
  groupOutput,
  listGroupsQuery,
  unsubscribeGroupNoun,
  updateGroupInput,
} from '../../people/unsubscribe-groups/schema.ts';
import { deleteConfirmations } from './queries.ts';

const at = area('unsubscribe-groups', {
  about: 'Kinds of mail that recipients can leave by one click (RFC 8058)',
  resource: 'contacts',
  noun: unsubscribeGroupNoun,
});

export const unsubscribeGroupRoutes = nounRoutes(at, '/v1/unsubscribe-groups', {
  one: 'an unsubscribe group',
  many: 'unsubscribe groups',
  output: groupOutput,
  list: { query: listGroupsQuery, run: listGroups },
  create: {
    description:
      'A message with its id as `email.unsubscribeGroupId` goes alone to each recipient, ' +
      'with links to leave.',
    body: createGroupInput,
    run: createGroup,
  },
  get: { run: getGroup },
  update: { body: updateGroupInput, run: updateGroup },
  delete: {
    summary: 'Delete an unsubscribe group; its blocks stay',
    run: deleteGroup,
  },
});

// Deletes unsubscribe groups with their members. src/people/unsubscribe-groups has the groups.

/** Most confirmations deleted per transaction. */
const rowsPerTransaction = 5_000;

/**
 * Deletes a group with all confirmations; the blocks stay in force. The group exists until the last
 * transaction, so a repeated request completes an interrupted deletion.
 * @throws ResourceNotFoundError.
 */
export async function deleteGroup(app: App, caller: Caller, id: string): Promise<Deleted> {
  await getGroup(app, caller, id);
  const step = () => app.store.write((trx) => deleteConfirmations(trx, id, rowsPerTransaction));
  while ((await step()) === rowsPerTransaction);
  return deleteEmptyGroup(app, caller, id);
}
