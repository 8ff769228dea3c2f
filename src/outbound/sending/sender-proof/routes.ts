// The HTTP operations that prove a sender address (specification 4.7). They are here, not beside
// the senders, because the token is mailed.
import { area } from '../../../core/api/area.ts';
import {
  senderPath as params,
  senderNoun,
  senderOutput,
  verifySenderInput,
} from '../../../identity/senders/schema.ts';
import { ConflictError, PaymentRequiredError } from '../../../platform/errors.ts';
import { resendProof, verifySender } from './prove.ts';

const at = area('senders', { noun: senderNoun });
const path = '/v1/email/senders/{id}';

export const proofRoutes = {
  verify: at.post(`${path}/verify`, {
    name: 'verifySender',
    summary: 'Verify a sender by the token that was mailed to it',
    status: 200,
    params,
    body: verifySenderInput,
    output: senderOutput,
    run: (app, { caller, params: { id }, body: { token } }) => verifySender(app, caller, id, token),
  }),
  resend: at.post(`${path}/resend`, {
    name: 'resendSender',
    summary: 'Mail a new token to the address of a sender',
    description:
      'The earlier token is void. The mail is a send of the key: it draws on the rate and the quota, and is refused ' +
      'where the key may not send. An address gets five such mails a day: then 429 with `Retry-After`. ' +
      'An organization has at most 20 pending proofs: then 409.',
    status: 200,
    drawsOnSendRate: true,
    params,
    output: senderOutput,
    throws: [ConflictError, PaymentRequiredError],
    run: (app, { caller, params: { id } }) => resendProof(app, caller, id),
  }),
};
