// The HTTP operations on groups of contacts.
import { area } from '../../../core/api/area.ts';
import { nounRoutes } from '../../../core/api/noun-routes.ts';
import { pageOf } from '../../../core/api/pagination.ts';
import { idPath } from '../../../core/api/resource-schema.ts';
import { ConflictError } from '../../../platform/errors.ts';
import { contactOutput } from '../schema.ts';
import {
  addGroupMembers,
  createContactGroup,
  deleteContactGroup,
  getContactGroup,
  listContactGroups,
  listMembers,
  removeGroupMembers,
  updateContactGroup,
} from './groups.ts';
import {
  contactGroupNoun,
  contactGroupOutput,
  createContactGroupInput,
  listContactGroupsQuery,
  listGroupMembersQuery,
  membersInput,
  updateContactGroupInput,
} from './schema.ts';

const at = area('contact-groups', {
  about: 'Groups of contacts, with members added by hand or found by a query',
  resource: 'contacts',
  noun: contactGroupNoun,
});
const path = '/v1/contact-groups';
const params = idPath(contactGroupNoun, 'a contact group');

export const contactGroupRoutes = {
  ...nounRoutes(at, path, {
    one: 'a contact group',
    many: 'contact groups',
    output: contactGroupOutput,
    list: { query: listContactGroupsQuery, run: listContactGroups },
    create: { body: createContactGroupInput, run: createContactGroup },
    get: { run: getContactGroup },
    update: { body: updateContactGroupInput, run: updateContactGroup, throws: [ConflictError] },
    delete: {
      summary: 'Delete a contact group; its members stay contacts',
      run: deleteContactGroup,
    },
  }),
  members: at.get(`${path}/{id}/members`, {
    name: 'listContactGroupMembers',
    summary: 'List the contacts of a group, newest first',
    params,
    query: listGroupMembersQuery,
    output: pageOf(contactOutput),
    run: (app, { caller, params: { id }, query }) => listMembers(app, caller, id, query),
  }),
  add: at.post(`${path}/{id}/members`, {
    name: 'addContactGroupMembers',
    summary: 'Add contacts to a group',
    description:
      'Takes up to 10,000; existing members stay. If one of them does not exist, none is ' +
      'added. A group by query takes none (409).',
    params,
    body: membersInput,
    throws: [ConflictError],
    output: contactGroupOutput,
    run: (app, { caller, params: { id }, body }) =>
      addGroupMembers(app, caller, id, body.contactIds),
  }),
  remove: at.delete(`${path}/{id}/members`, {
    name: 'removeContactGroupMembers',
    summary: 'Remove contacts from a group; others are ignored',
    permission: 'contacts:write',
    params,
    body: membersInput,
    throws: [ConflictError],
    output: contactGroupOutput,
    run: (app, { caller, params: { id }, body }) =>
      removeGroupMembers(app, caller, id, body.contactIds),
  }),
};
