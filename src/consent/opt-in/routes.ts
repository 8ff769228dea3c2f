// The HTTP operations on members of double opt-in groups.
import { area } from '../../core/api/area.ts';
import { idPath } from '../../core/api/resource-schema.ts';
import { internalRoute } from '../../core/api/route.ts';
import { unsubscribeGroupNoun } from '../../people/unsubscribe-groups/schema.ts';
import { ConflictError } from '../../platform/errors.ts';
import { leaveList } from './leave-list.ts';
import { addMembers, listMembers, removeMembers } from './members.ts';
import {
  addedOutput,
  leaveListInput,
  listMembersQuery,
  membersInput,
  membersOutput,
  removedOutput,
} from './schema.ts';

const at = area('unsubscribe-groups', { resource: 'contacts', noun: unsubscribeGroupNoun });
const path = '/v1/unsubscribe-groups/{id}/members';
const params = idPath(unsubscribeGroupNoun, 'an unsubscribe group');

export const memberRoutes = {
  members: at.get(path, {
    name: 'listUnsubscribeGroupMembers',
    summary: 'List the members of a double opt-in group, newest contact first',
    params,
    query: listMembersQuery,
    output: membersOutput,
    run: (app, { caller, params: { id }, query }) => listMembers(app, caller, id, query),
  }),
  add: at.post(path, {
    name: 'addUnsubscribeGroupMembers',
    summary: 'Ask contacts to confirm that they want the mail of a group',
    description:
      'For groups with `confirm`. Each contact is `pending` and gets a mail with a link, at most ' +
      'one an hour and three in all; the link works for 7 days. The mails draw on the rate and the quota and wait ' +
      'for them; a key that may not send is refused. ' +
      'A confirmed contact stays so. An earlier unsubscribe stays in force until the person ' +
      'confirms. If one contact does not exist or has no address, none is added.',
    params,
    body: membersInput,
    output: addedOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => addMembers(app, caller, id, body.contactIds),
  }),
  remove: at.delete(path, {
    name: 'removeUnsubscribeGroupMembers',
    summary: 'Remove members from a double opt-in group; others are ignored',
    description: 'They get no campaign of the group until they confirm again.',
    permission: 'contacts:write',
    params,
    body: membersInput,
    output: removedOutput,
    run: (app, { caller, params: { id }, body }) => removeMembers(app, caller, id, body.contactIds),
  }),
};

/** Operation on the groups of a contact, for the contact's page in the console. */
export const listDesk = {
  leave: internalRoute({
    name: 'unsubscribe-groups/leave',
    permission: 'blocks:write',
    body: leaveListInput,
    run: (app, { caller, body }) => leaveList(app, caller, body),
  }),
};
