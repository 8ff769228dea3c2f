// The HTTP operations on sender identities (specification 4.7).
import { area } from '../api/area.ts';
import { pageOf } from '../api/pagination.ts';
import { deleted, idPath } from '../api/resource-schema.ts';
import { ConflictError } from '../errors.ts';
import { createSenderInput, listSendersQuery, senderOutput, updateSenderInput } from './schema.ts';
import { createSender, deleteSender, getSender, listSenders, updateSender } from './senders.ts';

const at = area('senders', 'Addresses for the From of messages');
const path = '/v1/email/senders';
const params = idPath('sender');

export const senderRoutes = {
  list: at.get(path, {
    name: 'listSenders',
    summary: 'List sender identities, newest first',
    query: listSendersQuery,
    output: pageOf(senderOutput),
    run: (app, { caller, query }) => listSenders(app, caller, query),
  }),
  create: at.post(path, {
    name: 'createSender',
    summary: 'Create a sender identity',
    description: 'Verified at once if its domain is a verified domain, otherwise pending.',
    body: createSenderInput,
    output: senderOutput,
    throws: [ConflictError],
    run: (app, { caller, body }) => createSender(app, caller, body),
  }),
  get: at.get(`${path}/{id}`, {
    name: 'getSender',
    summary: 'Show a sender identity',
    params,
    output: senderOutput,
    run: (app, { caller, params: { id } }) => getSender(app, caller, id),
  }),
  update: at.patch(`${path}/{id}`, {
    name: 'updateSender',
    summary: 'Change a sender identity',
    params,
    body: updateSenderInput,
    output: senderOutput,
    run: (app, { caller, params: { id }, body }) => updateSender(app, caller, id, body),
  }),
  delete: at.delete(`${path}/{id}`, {
    name: 'deleteSender',
    summary: 'Delete a sender identity',
    params,
    output: deleted,
    run: (app, { caller, params: { id } }) => deleteSender(app, caller, id),
  }),
};
