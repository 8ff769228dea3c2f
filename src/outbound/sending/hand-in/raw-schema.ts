// Options of a mail submitted as MIME, by the names of their header fields. The API has the same
// rules for these options.
import { z } from 'zod';
import { scheduledPayload, sendPayload } from '../../messages/send-schema.ts';

/**
 * Prefix of our header fields. All fields with this prefix are removed from the mail; the fields
 * below are read.
 */
export const ownFieldPrefix = 'x-service-';

export const rawSendOptions = z.strictObject({
  'X-Service-Idempotency-Key': scheduledPayload.shape.idempotencyKey,
  'X-Service-Tags': sendPayload.shape.tags,
  'X-Service-Metadata': sendPayload.shape.metadata,
  'X-Service-Scheduled-For': scheduledPayload.shape.scheduledFor.optional(),
});

export type RawSendOptions = z.output<typeof rawSendOptions>;
