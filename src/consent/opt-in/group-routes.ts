// The HTTP operations on unsubscribe groups. They live here because a group is deleted with its
// members.
import { area } from '../../core/api/area.ts';
import { nounRoutes } from '../../core/api/noun-routes.ts';
import {
  createGroup,
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
import { deleteGroup } from './delete-group.ts';

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
