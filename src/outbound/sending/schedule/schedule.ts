// The operation that schedules a message (specification 4.8, 8.1). Stores mail like any send, in
// the same transactions, but without drawing on rate or quota. At the scheduled time,
// src/outbound/queue/schedule/scheduled.ts continues.

import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import type { Message } from '../../messages/schema.ts';
import type { ScheduledPayload } from '../../messages/send-schema.ts';
import { fingerprint } from '../fingerprint.ts';
import { prepareSend } from '../prepare.ts';
import { acceptOne } from '../send.ts';

/**
 * Accepts a message for `scheduledFor`. Resolves after the durable commit. With an idempotency key,
 * a repeat of the same request gets the original answer, even after the scheduled time.
 * @throws ValidationError for a time in the past or beyond a year; ForbiddenError, ConflictError,
 * ResourceNotFoundError and CapacityError as `sendMessage`.
 */
export async function scheduleMessage(
  app: App,
  caller: Caller,
  scheduled: ScheduledPayload,
): Promise<Message> {
  const { scheduledFor, idempotencyKey, ...payload } = scheduled;
  const { organizationId } = caller;
  return acceptOne(app, {
    ...(await prepareSend(app, caller, payload)),
    idempotency:
      idempotencyKey == null
        ? null
        : {
            organizationId,
            key: idempotencyKey,
            fingerprint: fingerprint('POST', '/v1/messages/scheduled', scheduled),
          },
    scheduledFor,
  });
}
