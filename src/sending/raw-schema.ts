// What a mail that is handed in as MIME may ask for in header fields of ours, under their names. The rules
// are those of the same fields of the API.
import { z } from 'zod';
import { scheduledPayload, sendPayload } from '../messages/send-schema.ts';

/** The fields that are read, and taken out with all others that begin so. */
export const ownFieldPrefix = 'x-service-';

export const rawSendOptions = z.strictObject({
  'X-Service-Idempotency-Key': scheduledPayload.shape.idempotencyKey,
  'X-Service-Tags': sendPayload.shape.tags,
  'X-Service-Metadata': sendPayload.shape.metadata,
  'X-Service-Scheduled-For': scheduledPayload.shape.scheduledFor.optional(),
});

export type RawSendOptions = z.output<typeof rawSendOptions>;
