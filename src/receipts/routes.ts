// The operation of receipts.
import { z } from 'zod';
import { area } from '../core/api/area.ts';
import { messageId } from '../outbound/messages/schema.ts';
import { ConflictError } from '../platform/errors.ts';
import { buildReceipt } from './receipt.ts';
import { receipt } from './schema.ts';

const at = area('messages');

export const receiptRoutes = {
  get: at.get('/v1/messages/{id}/receipt', {
    name: 'getMessageReceipt',
    summary: 'Get a proof of delivery that can be checked without this service',
    description:
      'The events of the message up to now, the answers of servers and the digest of the mail, with ' +
      'the path to a signed head. The keys are at `/.well-known/svc-receipts.json`.',
    params: z.strictObject({ id: messageId.describe('Id of the message') }),
    output: receipt,
    throws: [ConflictError],
    run: (app, { caller, params: { id } }) => buildReceipt(app, caller, id),
  }),
};
