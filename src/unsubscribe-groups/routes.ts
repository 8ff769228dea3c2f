// The HTTP operations on unsubscribe groups.
import { area } from '../api/area.ts';
import { pageOf } from '../api/pagination.ts';
import { deleted, idPath } from '../api/resource-schema.ts';
import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from './groups.ts';
import { createGroupInput, groupOutput, listGroupsQuery, updateGroupInput } from './schema.ts';

const about = 'Kinds of mail that recipients can leave by one click (RFC 8058)';
const at = area('unsubscribe-groups', about, 'contacts');
const path = '/v1/unsubscribe-groups';
const params = idPath('unsubscribeGroup', 'an unsubscribe group');

export const unsubscribeGroupRoutes = {
  list: at.get(path, {
    name: 'listUnsubscribeGroups',
    summary: 'List unsubscribe groups, newest first',
    query: listGroupsQuery,
    output: pageOf(groupOutput),
    run: (app, { caller, query }) => listGroups(app, caller, query),
  }),
  create: at.post(path, {
    name: 'createUnsubscribeGroup',
    summary: 'Create an unsubscribe group',
    description:
      'A message with its id as `email.unsubscribeGroupId` goes alone to each recipient, ' +
      'with links to leave.',
    body: createGroupInput,
    output: groupOutput,
    run: (app, { caller, body }) => createGroup(app, caller, body),
  }),
  get: at.get(`${path}/{id}`, {
    name: 'getUnsubscribeGroup',
    summary: 'Show an unsubscribe group',
    params,
    output: groupOutput,
    run: (app, { caller, params: { id } }) => getGroup(app, caller, id),
  }),
  update: at.patch(`${path}/{id}`, {
    name: 'updateUnsubscribeGroup',
    summary: 'Change an unsubscribe group',
    params,
    body: updateGroupInput,
    output: groupOutput,
    run: (app, { caller, params: { id }, body }) => updateGroup(app, caller, id, body),
  }),
  delete: at.delete(`${path}/{id}`, {
    name: 'deleteUnsubscribeGroup',
    summary: 'Delete an unsubscribe group; its blocks stay',
    params,
    output: deleted,
    run: (app, { caller, params: { id } }) => deleteGroup(app, caller, id),
  }),
};
