// The HTTP operations on sender identities (specification 4.7).
import { area } from '../../core/api/area.ts';
import { nounRoutes } from '../../core/api/noun-routes.ts';
import { ConflictError, PaymentRequiredError } from '../../platform/errors.ts';
import {
  createSenderInput,
  listSendersQuery,
  senderNoun,
  senderOutput,
  updateSenderInput,
} from './schema.ts';
import { createSender, deleteSender, getSender, listSenders, updateSender } from './senders.ts';

const at = area('senders', { about: 'Addresses for the From of messages', noun: senderNoun });

export const senderRoutes = nounRoutes(at, '/v1/email/senders', {
  one: 'a sender identity',
  many: 'sender identities',
  named: 'a sender',
  output: senderOutput,
  list: { query: listSendersQuery, run: listSenders },
  create: {
    description:
      'Verified at once if its domain is a verified domain. Otherwise it is pending, and its address is mailed a token. ' +
      'That mail is a send of the key: it draws on the rate and the quota, and a key that may not send it is refused. ' +
      'An organization has at most 20 pending proofs: then 409.',
    body: createSenderInput,
    throws: [ConflictError, PaymentRequiredError],
    run: createSender,
  },
  get: { run: getSender },
  update: { body: updateSenderInput, run: updateSender },
  delete: { run: deleteSender },
});
