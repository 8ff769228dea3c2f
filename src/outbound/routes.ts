// The send operation of specification 4.1.
import { z } from 'zod';
import { message, sendPayload } from '../messages/schema.ts';
import { type Route, route } from '../route.ts';
import { sendMessage } from './send.ts';

/** `Idempotency-Key`: 1 to 255 characters (specification 8.3). */
const idempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({ description: 'Repeating a request with the same key returns the original message' }),
});

export const outboundRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/messages',
    name: 'sendMessage',
    summary: 'Send an email message',
    description:
      'Accepts the message durably and returns it as `pending`; follow it by its events. Repeats ' +
      'with the same `Idempotency-Key` and content return the original message.',
    area: 'messages',
    permission: 'messages:send',
    headers: idempotencyHeader,
    body: sendPayload,
    drawsOnSendRate: true,
    status: 201,
    output: message,
    errors: [402, 409, 502],
    run: (app, { caller, headers, body }) =>
      sendMessage(app, caller, body, headers['idempotency-key'] ?? null),
  }),
];
