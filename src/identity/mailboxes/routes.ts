// The HTTP operations on mailboxes, their addresses and namespaces (specification 4.4), and on the
// catch-all of a domain (4.7).
import { area } from '../../core/api/area.ts';
import { pageOf } from '../../core/api/pagination.ts';
import { deleted } from '../../core/api/resource-schema.ts';
import { logPage } from '../../history/events/schema.ts';
import { ConflictError } from '../../platform/errors.ts';
import { disableCatchAll, enableCatchAll } from './catch-all.ts';
import {
  addAddress,
  createMailbox,
  deleteMailbox,
  getMailbox,
  listMailboxEvents,
  listMailboxes,
  pauseMailbox,
  removeAddress,
  resumeMailbox,
  updateMailbox,
} from './mailboxes.ts';
import { createNamespace, listNamespaces } from './namespaces.ts';
import {
  addAddressInput,
  addressPath,
  catchAllOutput,
  createMailboxInput,
  createNamespaceInput,
  disableCatchAllInput,
  enableCatchAllInput,
  listMailboxesQuery,
  listNamespacesQuery,
  mailboxEventsQuery,
  mailboxNoun,
  mailboxOutput,
  namespaceOutput,
  mailboxPath as params,
  updateMailboxInput,
} from './schema.ts';

/** Permission refused to keys bound to single mailboxes, and to keys that only propose. */
const configures = { permission: 'mailboxes:configure' } as const;

const at = area('mailboxes', {
  about: 'Addresses that receive mail, and actions in their mailboxes',
  noun: mailboxNoun,
});
const path = '/v1/mailboxes';

export const mailboxRoutes = {
  list: at.get(path, {
    name: 'listMailboxes',
    summary: 'List mailboxes, newest first',
    query: listMailboxesQuery,
    output: pageOf(mailboxOutput),
    run: (app, { caller, query }) => listMailboxes(app, caller, query),
  }),
  create: at.post(path, {
    ...configures,
    name: 'createMailbox',
    summary: 'Create a mailbox',
    description:
      'Its address is on a verified domain of the organization, or on the hosted domain of ' +
      'the service; no mailbox of any organization can share it. Mail to `name+anything@` ' +
      'reaches it too.',
    body: createMailboxInput,
    output: mailboxOutput,
    throws: [ConflictError],
    run: (app, { caller, body }) => createMailbox(app, caller, body),
  }),
  get: at.get(`${path}/{id}`, {
    name: 'getMailbox',
    summary: 'Show a mailbox',
    params,
    output: mailboxOutput,
    run: (app, { caller, params: { id } }) => getMailbox(app, caller, id),
  }),
  update: at.patch(`${path}/{id}`, {
    name: 'updateMailbox',
    summary: 'Change a mailbox',
    description:
      '`displayName`, `defaultFrom` and `filters` need the permission `mailboxes:configure`.',
    params,
    body: updateMailboxInput,
    output: mailboxOutput,
    run: (app, { caller, params: { id }, body }) => updateMailbox(app, caller, id, body),
  }),
  delete: at.delete(`${path}/{id}`, {
    ...configures,
    name: 'deleteMailbox',
    summary: 'Delete a mailbox',
    description: 'Its addresses are free at once; mail to them is refused.',
    params,
    output: deleted,
    run: (app, { caller, params: { id } }) => deleteMailbox(app, caller, id),
  }),
  pause: at.post(`${path}/{id}/pause`, {
    ...configures,
    name: 'pauseMailbox',
    summary: 'Pause a mailbox',
    description:
      'Incoming mail is deferred (450), and the mailbox sends nothing, until it is resumed.',
    params,
    output: mailboxOutput,
    run: (app, { caller, params: { id } }) => pauseMailbox(app, caller, id),
  }),
  resume: at.post(`${path}/{id}/resume`, {
    ...configures,
    name: 'resumeMailbox',
    summary: 'Resume a mailbox: it sends and receives again',
    params,
    output: mailboxOutput,
    run: (app, { caller, params: { id } }) => resumeMailbox(app, caller, id),
  }),
  addAddress: at.post(`${path}/{id}/addresses`, {
    ...configures,
    name: 'addMailboxAddress',
    summary: 'Add an address to a mailbox',
    status: 201,
    params,
    body: addAddressInput,
    output: mailboxOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => addAddress(app, caller, id, body),
  }),
  removeAddress: at.delete(`${path}/{id}/addresses/{addressId}`, {
    name: 'removeMailboxAddress',
    summary: 'Remove an address from a mailbox',
    description: 'The next oldest address replaces a primary one; the last address stays.',
    ...configures,
    params: addressPath,
    output: mailboxOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id, addressId } }) => removeAddress(app, caller, id, addressId),
  }),
  events: at.get(`${path}/{id}/events`, {
    name: 'listMailboxEvents',
    summary: 'List the events of a mailbox',
    params,
    query: mailboxEventsQuery,
    output: logPage,
    run: (app, { caller, params: { id }, query }) => listMailboxEvents(app, caller, id, query),
  }),
};

const namespacePath = '/v1/mailbox-namespaces';

export const namespaceRoutes = {
  list: at.get(namespacePath, {
    name: 'listMailboxNamespaces',
    summary: 'List the namespaces of mailboxes, newest first',
    query: listNamespacesQuery,
    output: pageOf(namespaceOutput),
    run: (app, { caller, query }) => listNamespaces(app, caller, query),
  }),
  create: at.post(namespacePath, {
    name: 'createMailboxNamespace',
    summary: 'Create a namespace of mailboxes',
    body: createNamespaceInput,
    output: namespaceOutput,
    throws: [ConflictError],
    run: (app, { caller, body }) => createNamespace(app, caller, body),
  }),
};

const ofDomain = area('domains');

export const catchAllRoutes = {
  enable: ofDomain.post('/v1/email/catch-all/enable', {
    ...configures,
    name: 'enableCatchAll',
    summary: 'Deliver mail for unknown addresses of a domain to a mailbox',
    status: 200,
    body: enableCatchAllInput,
    output: catchAllOutput,
    throws: [ConflictError],
    run: (app, { caller, body }) => enableCatchAll(app, caller, body),
  }),
  disable: ofDomain.post('/v1/email/catch-all/disable', {
    ...configures,
    name: 'disableCatchAll',
    summary: 'Disable the catch-all of a domain',
    description: 'Succeeds also without a catch-all.',
    status: 200,
    body: disableCatchAllInput,
    output: catchAllOutput,
    run: (app, { caller, body }) => disableCatchAll(app, caller, body),
  }),
};
