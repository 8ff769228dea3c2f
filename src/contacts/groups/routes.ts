// The HTTP operations on groups of contacts.
import { area } from '../../api/area.ts';
import { pageOf } from '../../api/pagination.ts';
import { deleted, idPath } from '../../api/resource-schema.ts';
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
  contactGroupOutput,
  createContactGroupInput,
  listContactGroupsQuery,
  membersInput,
  updateContactGroupInput,
} from './schema.ts';

const at = area('contact-groups', 'Groups of contacts, with members added by hand', 'contacts');
const path = '/v1/contact-groups';
const params = idPath('contactGroup', 'a contact group');

export const contactGroupRoutes = {
  list: at.get(path, {
    name: 'listContactGroups',
    summary: 'List contact groups, newest first',
    query: listContactGroupsQuery,
    output: pageOf(contactGroupOutput),
    run: (app, { caller, query }) => listContactGroups(app, caller, query),
  }),
  create: at.post(path, {
    name: 'createContactGroup',
    summary: 'Create a contact group',
    body: createContactGroupInput,
    output: contactGroupOutput,
    run: (app, { caller, body }) => createContactGroup(app, caller, body),
  }),
  get: at.get(`${path}/{id}`, {
    name: 'getContactGroup',
    summary: 'Show a contact group',
    params,
    output: contactGroupOutput,
    run: (app, { caller, params: { id } }) => getContactGroup(app, caller, id),
  }),
  update: at.patch(`${path}/{id}`, {
    name: 'updateContactGroup',
    summary: 'Change a contact group',
    params,
    body: updateContactGroupInput,
    output: contactGroupOutput,
    run: (app, { caller, params: { id }, body }) => updateContactGroup(app, caller, id, body),
  }),
  delete: at.delete(`${path}/{id}`, {
    name: 'deleteContactGroup',
    summary: 'Delete a contact group; its members stay contacts',
    params,
    output: deleted,
    run: (app, { caller, params: { id } }) => deleteContactGroup(app, caller, id),
  }),
  members: at.get(`${path}/{id}/members`, {
    name: 'listContactGroupMembers',
    summary: 'List the contacts of a group, newest first',
    params,
    query: listContactGroupsQuery,
    output: pageOf(contactOutput),
    run: (app, { caller, params: { id }, query }) => listMembers(app, caller, id, query),
  }),
  add: at.post(`${path}/{id}/members`, {
    name: 'addContactGroupMembers',
    summary: 'Add contacts to a group',
    description:
      'Takes up to 10,000; existing members stay. If one of them does not exist, none is ' +
      'added.',
    params,
    body: membersInput,
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
    output: contactGroupOutput,
    run: (app, { caller, params: { id }, body }) =>
      removeGroupMembers(app, caller, id, body.contactIds),
  }),
};
