// The HTTP operations on contacts (specification 4.5); the deletion is src/messages/contact-routes.ts.
import { area } from '../api/area.ts';
import { pageOf } from '../api/pagination.ts';
import { ConflictError } from '../errors.ts';
import {
  addTags,
  createContact,
  getContact,
  listContacts,
  removeTags,
  updateContact,
} from './contacts.ts';
import {
  contactOutput,
  contactPath,
  createContactInput,
  listContactsQuery,
  tagsInput,
  updateContactInput,
} from './schema.ts';

const at = area(
  'contacts',
  'People who get mail: their addresses, their tags, what is known of them',
);
const path = '/v1/contacts';

export const contactRoutes = {
  list: at.get(path, {
    name: 'listContacts',
    summary: 'List contacts, newest first',
    query: listContactsQuery,
    output: pageOf(contactOutput),
    run: (app, { caller, query }) => listContacts(app, caller, query),
  }),
  create: at.post(path, {
    name: 'createContact',
    summary: 'Create a contact',
    description:
      'With `email` or `identities`. An address of another contact, in any case of letters, is a 409 ' +
      'that names the contact.',
    body: createContactInput,
    output: contactOutput,
    throws: [ConflictError],
    run: (app, { caller, body }) => createContact(app, caller, body),
  }),
  get: at.get(`${path}/{id}`, {
    name: 'getContact',
    summary: 'Show a contact',
    params: contactPath,
    output: contactOutput,
    run: (app, { caller, params: { id } }) => getContact(app, caller, id),
  }),
  update: at.patch(`${path}/{id}`, {
    name: 'updateContact',
    summary: 'Change a contact',
    description: 'What is given is replaced whole; `status` can be set to `active` and `archived`.',
    params: contactPath,
    body: updateContactInput,
    output: contactOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => updateContact(app, caller, id, body),
  }),
  tag: at.post(`${path}/{id}/tags`, {
    name: 'addContactTags',
    summary: 'Add tags to a contact, keeping those it has',
    params: contactPath,
    body: tagsInput,
    output: contactOutput,
    run: (app, { caller, params: { id }, body }) => addTags(app, caller, id, body.tags),
  }),
  untag: at.delete(`${path}/{id}/tags`, {
    name: 'removeContactTags',
    summary: 'Take tags off a contact; one that it lacks is ignored',
    permission: 'contacts:write',
    params: contactPath,
    body: tagsInput,
    output: contactOutput,
    run: (app, { caller, params: { id }, body }) => removeTags(app, caller, id, body.tags),
  }),
};
