// The HTTP operations on contacts (specification 4.5). Deletion is in
// src/outbound/messages/forget/contact-routes.ts, the import in
// src/consent/opt-in/import-routes.ts.
import { area } from '../../core/api/area.ts';
import { pageOf } from '../../core/api/pagination.ts';
import { ConflictError } from '../../platform/errors.ts';
import {
  addTags,
  createContact,
  getContact,
  listContacts,
  removeTags,
  updateContact,
} from './contacts.ts';
import { exportStream } from './export.ts';
import {
  contactNoun,
  contactOutput,
  contactPath,
  contactTagOutput,
  createContactInput,
  exportQuery,
  listContactsQuery,
  listTagsQuery,
  tagsInput,
  updateContactInput,
} from './schema.ts';
import { listTags } from './tags.ts';

const at = area('contacts', {
  about: 'People who get mail: addresses, tags and fields',
  noun: contactNoun,
});
const path = '/v1/contacts';

const csv = 'text/csv';
const ndjson = 'application/x-ndjson';

export const contactRoutes = {
  export: at.get(`${path}/export`, {
    name: 'exportContacts',
    summary: 'Export all contacts, the oldest first',
    description:
      'Writes CSV, in which a value that a spreadsheet would take for a formula begins ' +
      'with an apostrophe, or one contact on each line as JSON. An import reads both.',
    query: exportQuery,
    streams: [csv, ndjson],
    output: contactOutput,
    run: async (app, { caller, query }) => (await exportStream(app, caller, query)) as never,
  }),
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
      'Takes `email` or `identities`. An address of another contact, in any letter case, ' +
      'gets a 409 that names the contact.',
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
    description:
      'Each given field is replaced whole; `status` can be set to `active` and `archived`.',
    params: contactPath,
    body: updateContactInput,
    output: contactOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => updateContact(app, caller, id, body),
  }),
  tags: at.get(`${path}/tags`, {
    name: 'listContactTags',
    summary: 'List the tags of contacts, with the number of contacts of each',
    query: listTagsQuery,
    output: pageOf(contactTagOutput),
    run: (app, { caller, query }) => listTags(app, caller, query),
  }),
  tag: at.post(`${path}/{id}/tags`, {
    name: 'addContactTags',
    summary: 'Add tags to a contact',
    params: contactPath,
    body: tagsInput,
    output: contactOutput,
    run: (app, { caller, params: { id }, body }) => addTags(app, caller, id, body.tags),
  }),
  untag: at.delete(`${path}/{id}/tags`, {
    name: 'removeContactTags',
    summary: 'Remove tags from a contact; missing ones are ignored',
    permission: 'contacts:write',
    params: contactPath,
    body: tagsInput,
    output: contactOutput,
    run: (app, { caller, params: { id }, body }) => removeTags(app, caller, id, body.tags),
  }),
};
