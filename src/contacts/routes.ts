// The HTTP operations on contacts (specification 4.5). Deletion is in src/messages/contact-routes.ts.
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
import { exportStream } from './export.ts';
import { importStream } from './import.ts';
import {
  contactNoun,
  contactOutput,
  contactPath,
  createContactInput,
  exportQuery,
  importOutput,
  importQuery,
  listContactsQuery,
  tagsInput,
  updateContactInput,
} from './schema.ts';

const at = area('contacts', {
  about: 'People who get mail: their addresses, their tags, what is known of them',
  noun: contactNoun,
});
const path = '/v1/contacts';

const mostImportBytes = 512_000_000;
const csv = 'text/csv';
const ndjson = 'application/x-ndjson';

export const contactRoutes = {
  import: at.post(`${path}/import`, {
    name: 'importContacts',
    summary: 'Import contacts from a file',
    description:
      'CSV with a header, or JSON Lines; the exports of Mailchimp, SendGrid, Resend and listmonk are ' +
      'known by their headers. A row changes the contact that has its address or its `externalId`, or ' +
      'makes one; what it leaves empty stays, and tags are added. Whoever has unsubscribed there gets ' +
      'a block, for which the key needs `blocks:write` too. The same file again changes nothing.',
    status: 200,
    query: importQuery,
    takes: { types: [csv, ndjson], mostBytes: mostImportBytes },
    output: importOutput,
    run: (app, { caller, query, stream }) => importStream(app, caller, stream, query),
  }),
  export: at.get(`${path}/export`, {
    name: 'exportContacts',
    summary: 'Export all contacts, the oldest first',
    description:
      'As CSV, in which a value that a spreadsheet would take for a formula has an apostrophe before ' +
      'it, or with each contact on a line of JSON. An import takes both back.',
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
