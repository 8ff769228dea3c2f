// Input and output shapes of the queue: entries, holds, and the requests of an operator.

import { z } from 'zod';
import { domainName, headerText } from '../../../core/api/address-schema.ts';
import { pageQuery } from '../../../core/api/pagination.ts';
import { idKinds, idOf } from '../../../core/api/resource-schema.ts';
import { idPattern } from '../../../platform/runtime/ids.ts';
import { type QueueState, queueStates } from '../../deliveries/queue-queries.ts';
import type { MessageStatus, WaitReason } from '../../deliveries/status.ts';
import { delivery } from '../../messages/schema.ts';

const mostIds = 100;

const waitReason = delivery.shape.scheduling.unwrap().shape.waitReason.unwrap();

/** A recipient domain in the form that deliveries keep. Accepts the dot of the root at the end. */
const recipientDomain = z
  .string()
  .max(255)
  .transform((text) => text.replace(/\.$/, ''))
  .pipe(domainName);

/** The id of a delivery, or the id of a message for all deliveries of the message. */
export const queueId = z
  .string()
  .refine(
    (id) => idPattern('delivery').test(id) || idPattern('message').test(id),
    'is not a delivery id (dlv_…) or a message id (msg_…)',
  )
  .register(idKinds, { kinds: ['delivery', 'message'] });

export const queueIds = z.array(queueId).min(1).max(mostIds, `at most ${mostIds} at once`);

export const listQueueQuery = z.strictObject({
  ...pageQuery,
  organizationId: z.string().optional(),
  state: z.enum(queueStates).optional(),
  waitReason: waitReason.optional(),
  domain: recipientDomain.optional(),
  lane: z.string().min(1).max(2_000).optional(),
});
export type ListQueueQuery = z.output<typeof listQueueQuery>;

/** Selects a part of the queue; without a field, all of it. */
export const queueScope = z.strictObject({
  organizationId: z.string().optional(),
  domain: recipientDomain.optional(),
});

/** A part of the queue that a person drops or retries at once. */
export const queueSelection = queueScope.extend({
  /** Only deliveries queued before this time, ms since 1970. */
  queuedBefore: z.int().optional(),
});
export type QueueSelection = z.output<typeof queueSelection>;

/**
 * Target of a hold: an organization, a domain, a domain for a single organization, a message, a
 * delivery.
 */
export const holdTarget = z
  .strictObject({ ...queueScope.shape, id: queueId.optional() })
  .refine(
    ({ organizationId, domain, id }) => (id === undefined) !== (!organizationId && !domain),
    'needs a domain, an organization or both; or the id of a message or delivery',
  );
export type HoldTarget = z.output<typeof holdTarget>;

export const holdNote = headerText(500).min(1).optional();

export const holdId = idOf('hold', 'is not a hold id (hold_…)');

/** A delivery as an entry of the queue, still queued or ended. */
export interface QueueEntry {
  id: string;
  messageId: string;
  organizationId: string;
  recipient: string;
  domain: string;
  senderDomain: string;
  status: MessageStatus;
  state: QueueState | 'ended';
  lane: string | null;
  holdId: string | null;
  waitReason: WaitReason | null;
  dueAt: string | null;
  expiresAt: string;
  queuedAt: string | null;
  claimedBy: string | null;
  lastAttemptAt: string | null;
  attemptCount: number;
  maxAttempts: number;
  errorCode: string | null;
  lastWords: string | null;
  createdAt: string;
}

export interface Hold {
  id: string;
  organizationId: string | null;
  domain: string | null;
  messageId: string | null;
  deliveryId: string | null;
  note: string | null;
  /** `releasing`: the held deliveries are getting turns again, or a release was interrupted. */
  state: 'active' | 'releasing';
  /** Number of deliveries set aside. Deliveries that are not due yet may be missing. */
  held: number;
  createdAt: string;
}
