// The HTTP operations that send mail (specification 4.1, 4.8).
import { z } from 'zod';
import { admissionOf } from '../../access/admission/admission.ts';
import { area } from '../../core/api/area.ts';
import { idempotencyHeader } from '../../core/api/idempotency.ts';
import { ConflictError, PaymentRequiredError } from '../../platform/errors.ts';
import { batchResult, dryRunResult, message, messageId } from '../messages/schema.ts';
import { batchPayload, scheduledPayload, sendBody } from '../messages/send-schema.ts';
import { sendBatch } from './batch.ts';
import { dryRunMessage } from './dry-run.ts';
import { releaseMessage, resendMessage } from './resend.ts';
import { scheduleMessage } from './schedule/schedule.ts';
import { sendMessage } from './send.ts';

/** Status 502: the specification declares it, but the service never answers with it. */
const badGateway = { status: 502 };

const at = area('messages');
const path = '/v1/messages';

export const sendingRoutes = {
  send: at.post(path, {
    name: 'sendMessage',
    summary: 'Send an email message',
    description:
      'Accepts the message durably and returns it as `pending`; follow it by its events. Repeats ' +
      'with the same `Idempotency-Key` and content return the original message.',
    permission: 'messages:send',
    headers: idempotencyHeader,
    body: sendBody,
    drawsOnSendRate: true,
    output: message,
    dryRun: {
      output: dryRunResult,
      run: (app, { caller, body: { dryRun, ...payload } }) => dryRunMessage(app, caller, payload),
    },
    throws: [PaymentRequiredError, ConflictError, badGateway],
    run: (app, { caller, headers, body: { dryRun, ...payload } }) =>
      sendMessage(app, caller, payload, headers['idempotency-key'] ?? null),
  }),
  sendBatch: at.post(`${path}/batch`, {
    name: 'sendMessageBatch',
    summary: 'Send up to 100 messages',
    description:
      'Answers with one result for each entry, in order: the `message`, or the `error` of ' +
      'this send as if it had been sent alone. Each entry is checked alone, its fields ' +
      'too; a refused entry does not stop the others. All accepted entries are stored at ' +
      'once. Counts as one request for each entry. A repeat with the same ' +
      '`Idempotency-Key` and content returns the same results; if no entry was accepted, ' +
      'the key is free again.',
    permission: 'messages:send',
    headers: idempotencyHeader,
    body: batchPayload,
    drawsOnSendRate: 'batch',
    status: 200,
    output: z.array(batchResult),
    throws: [ConflictError],
    run: async (app, { caller, headers, body }) => {
      // The rate limit is for keys: the operator at the command line has none.
      if (caller.by.kind !== 'operator') {
        await admissionOf(app).admitBatch(caller, body.length, 'sendMessageBatch');
      }
      return sendBatch(app, caller, body, headers['idempotency-key'] ?? null);
    },
  }),
  schedule: at.post(`${path}/scheduled`, {
    name: 'scheduleMessage',
    summary: 'Send an email message later',
    description:
      'Accepts the message as `scheduled` and sends it at `scheduledFor`. It draws on the ' +
      'rate limit and the daily quota then, not now, and waits for them instead of ' +
      'failing: `scheduling` of its deliveries gives the reason (`waitReason`) and the ' +
      'time. Repeats with the same `idempotencyKey` and content return the original ' +
      'message.',
    permission: 'messages:send',
    body: scheduledPayload,
    output: message,
    throws: [ConflictError],
    run: (app, { caller, body }) => scheduleMessage(app, caller, body),
  }),
  resend: at.post(`${path}/{id}/resend`, {
    name: 'resendMessage',
    summary: 'Send a message again',
    description:
      'Sends the stored content to the same recipients as a new message, whose `resendOf` ' +
      'is the first one. All checks of a send apply. A message with deliveries in the ' +
      'queue is a conflict.',
    permission: 'messages:send',
    params: z.strictObject({ id: messageId.describe('Id of the message') }),
    headers: idempotencyHeader,
    drawsOnSendRate: true,
    status: 201,
    output: message,
    throws: [PaymentRequiredError, ConflictError, badGateway],
    run: (app, { caller, params: { id }, headers }) =>
      resendMessage(app, caller, id, headers['idempotency-key'] ?? null),
  }),
  release: at.post(`${path}/{id}/release`, {
    name: 'releaseMessage',
    summary: 'Send captured mail to its recipients',
    description:
      'Sends the copies that `delivery.mode`, `delivery.allow` or a route kept on this ' +
      'machine as a new message, whose `resendOf` is the first one. Leaves out recipients ' +
      'whose mail is still captured; if all are, it is a conflict. A copy is released once.',
    permission: 'messages:send',
    params: z.strictObject({ id: messageId.describe('Id of the message') }),
    drawsOnSendRate: true,
    status: 201,
    output: message,
    throws: [PaymentRequiredError, ConflictError, badGateway],
    run: (app, { caller, params: { id } }) => releaseMessage(app, caller, id),
  }),
};
