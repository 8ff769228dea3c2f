// The HTTP operation that imports contacts. It is in this folder because an import can ask the
// contacts to confirm a group.
import { area } from '../../core/api/area.ts';
import { contactNoun, importOutput, importQuery } from '../../people/contacts/schema.ts';
import { ConflictError } from '../../platform/errors.ts';
import { importStream } from './import.ts';

const at = area('contacts', { noun: contactNoun });

const mostImportBytes = 512_000_000;

export const importRoutes = {
  import: at.post('/v1/contacts/import', {
    name: 'importContacts',
    summary: 'Import contacts from a file',
    description:
      'Takes CSV with a header, or JSON Lines; the headers of exports of other services are ' +
      'known. A row updates the contact with its address or `externalId`, or creates one; ' +
      'empty fields stay unchanged, and tags are added. A row of somebody who gets no mail ' +
      'adds a block, for which the key needs `blocks:write` too. A column that speaks of ' +
      'consent without a known meaning gets a 422 until `map` gives it one. Importing the same ' +
      'file again changes nothing.',
    throws: [ConflictError],
    status: 200,
    query: importQuery,
    takes: { types: ['text/csv', 'application/x-ndjson'], mostBytes: mostImportBytes },
    output: importOutput,
    run: (app, { caller, query, stream }) => importStream(app, caller, stream, query),
  }),
};
