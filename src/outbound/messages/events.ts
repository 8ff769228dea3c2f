// Kinds of message events and their payload: the message as it was at the time of the event. An
// earlier state is computed from the present state, because deliveries store the times of their
// steps.

import type { MessageLogEntry, MessagePresenter } from '../../history/events/hooks.ts';
import { eventKind } from '../../history/events/kinds.ts';
import type { EventType } from '../../history/events/names.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { MessageStatus } from '../deliveries/status.ts';
import { metadataOf } from './captured.ts';
import { findMessages } from './messages.ts';
import { type Delivery, type Message, messageEventData } from './schema.ts';

const id = '06dq2k0qz8h3v5m1r9t4w7xy';
const at = '2026-01-05T12:00:00.000Z';
const to = { email: 'ada@example.com', name: 'Ada', contactId: null };

const sample = {
  id: `msg_${id}`,
  organizationId: `org_${id}`,
  channel: 'email' as const,
  direction: 'outbound' as const,
  status: 'delivered' as const,
  conversationId: null,
  campaignRunId: null,
  templateVersion: null,
  unsubscribeGroupId: null,
  resendOf: null,
  origin: null,
  subject: 'Your receipt',
  from: { email: 'hello@example.com', name: 'Example' },
  replyTo: null,
  to: [to],
  cc: [],
  bcc: [],
  recipients: [{ id: `rcp_${id}`, kind: 'to' as const, ...to, status: 'delivered' as const }],
  deliveries: [],
  templateId: null,
  tags: ['receipt'],
  metadata: {},
  tracking: { opens: false, clicks: false },
  scheduledFor: null,
  createdAt: at,
  updatedAt: at,
};

interface Told {
  status: MessageStatus;
  errorCode?: string;
  reply?: string;
  url?: string;
}

function messageKind(type: EventType, summary: string, { status, ...event }: Told) {
  const about = { recipient: to.email, errorCode: null, reply: null, url: null, ...event };
  const isOfAll = status === 'scheduled' || type === 'message.accepted';
  return eventKind({
    type,
    summary,
    schema: messageEventData,
    sample: { ...sample, status, event: isOfAll ? { ...about, recipient: null } : about },
  });
}

export const messageKinds = [
  messageKind('message.accepted', 'A message was accepted for sending', { status: 'pending' }),
  messageKind('message.scheduled', 'A message was accepted for sending later', {
    status: 'scheduled',
  }),
  messageKind('message.deferred', 'A server refused the message for now; it is tried again', {
    status: 'processing',
    errorCode: 'deferred',
    reply: '451 4.3.0 Try again later',
  }),
  messageKind('message.sent', 'The next server accepted the message', {
    status: 'sent',
    reply: '250 2.0.0 Ok',
  }),
  messageKind('message.delivered', "The recipient's server accepted the message", {
    status: 'delivered',
  }),
  messageKind('message.opened', 'The recipient opened the message', { status: 'read' }),
  messageKind('message.clicked', 'The recipient followed a link', {
    status: 'read',
    url: 'https://example.com/receipt',
  }),
  messageKind('message.bounced', "The recipient's server refused the message permanently", {
    status: 'bounced',
    errorCode: 'hard-bounce',
    reply: '550 5.1.1 No such user',
  }),
  messageKind('message.complained', 'The recipient reported the message as spam', {
    status: 'complained',
  }),
  messageKind('message.failed', 'The message was given up', {
    status: 'failed',
    errorCode: 'expired',
  }),
  messageKind('message.cancelled', 'The message was cancelled before it was sent', {
    status: 'failed',
  }),
  messageKind('message.unsubscribed', 'The recipient unsubscribed', {
    status: 'read',
  }),
];

function factOf({ facts }: MessageLogEntry, name: string): string | null {
  const fact = facts?.[name];
  return typeof fact === 'string' ? fact : null;
}

/** Status of the recipient's delivery after a step, for steps that determine it. */
const statusAfter: Partial<Record<string, MessageStatus>> = {
  'message.accepted': 'pending',
  'message.scheduled': 'scheduled',
  'message.deferred': 'processing',
  'message.sent': 'sent',
  'message.delivered': 'delivered',
  'message.bounced': 'bounced',
  'message.complained': 'complained',
  'message.failed': 'failed',
  'message.cancelled': 'failed',
};

const isUpTo = (time: string | null, at: number) => time !== null && Date.parse(time) <= at;

/** Returns the status of a delivery at a time, from the times of its steps. */
function statusThen(one: Delivery, at: number, scheduledFor: string | null): MessageStatus {
  if (isUpTo(one.updatedAt, at)) return one.status;
  const failed = one.status === 'failed' ? 'failed' : 'bounced';
  const steps: [string | null, MessageStatus][] = [
    [one.failedAt, failed],
    [one.readAt, 'read'],
    [one.deliveredAt, 'delivered'],
    [one.sentAt, 'sent'],
  ];
  const reached = steps.find(([time]) => isUpTo(time, at));
  if (reached) return reached[1];
  if (one.attempts.some((attempt) => isUpTo(attempt.at, at))) return 'processing';
  if (scheduledFor === null) return 'pending';
  return isUpTo(scheduledFor, at) ? 'queued' : 'scheduled';
}

/**
 * Returns the names of the time fields of steps after this status. `deliveryThen` clears them: a
 * later step may have the same time as the event, so that a comparison of times is not enough.
 */
function aheadOf(status: MessageStatus): (keyof Delivery)[] {
  if (status === 'sent') return ['deliveredAt', 'readAt', 'failedAt', 'terminalAt'];
  if (status === 'delivered') return ['readAt', 'failedAt'];
  const isAtWork = ['pending', 'scheduled', 'queued', 'processing'].includes(status);
  return isAtWork ? ['sentAt', 'deliveredAt', 'readAt', 'failedAt', 'terminalAt'] : [];
}

/** Returns a delivery as it was at a time, with this status. Unknown fields are null. */
function deliveryThen(one: Delivery, status: MessageStatus, { timestamp: at, facts }: About) {
  if (isUpTo(one.updatedAt, at) && status === one.status) return one;
  const attempts = one.attempts.filter((attempt) => isUpTo(attempt.at, at));
  const then = (time: string | null) => (isUpTo(time, at) ? time : null);
  const errorCode = typeof facts?.['errorCode'] === 'string' ? facts['errorCode'] : null;
  const known: Delivery = {
    ...one,
    status,
    attempts,
    attemptCount: one.attemptCount - (one.attempts.length - attempts.length),
    queuedAt: then(one.queuedAt),
    claimedAt: then(one.claimedAt),
    lastAttemptAt: then(one.lastAttemptAt) ?? attempts.at(-1)?.at ?? null,
    sentAt: then(one.sentAt),
    deliveredAt: then(one.deliveredAt),
    readAt: then(one.readAt),
    failedAt: then(one.failedAt),
    terminalAt: then(one.terminalAt),
    metadata: metadataOf(attempts),
    updatedAt: then(one.updatedAt) ?? isoTime(at),
    ...{ errorCode, errorMessage: null, errorDetails: null, nextRetryAt: null, scheduling: null },
  };
  return Object.assign(known, Object.fromEntries(aheadOf(status).map((name) => [name, null])));
}

type About = Pick<MessageLogEntry, 'timestamp' | 'facts'>;

/** Returns the message as it was right after an event. */
function messageThen(message: Message, entry: MessageLogEntry): Message {
  const { timestamp: at, type, recipientId, facts } = entry;
  const status = entry.status as MessageStatus;
  const deliveries = message.deliveries.map((one) => {
    const isOwn = one.recipientId === recipientId;
    const known = message.deliveries.length === 1 ? status : isOwn && statusAfter[type];
    const then = known || statusThen(one, at, message.scheduledFor);
    return deliveryThen(one, then, { timestamp: at, facts: isOwn ? facts : null });
  });
  const statusOf = new Map(deliveries.map((one) => [one.recipientId, one.status]));
  const recipients = message.recipients.map((one) => {
    return { ...one, status: statusOf.get(one.id) ?? status };
  });
  const updatedAt = isUpTo(message.updatedAt, at) ? message.updatedAt : isoTime(at);
  return { ...message, status, recipients, deliveries, updatedAt };
}

/** Builds the `data` of message events, by event id. Reads all messages together. */
export const presentMessageEvents: MessagePresenter = async (app, organizationId, entries) => {
  const ids = [...new Set(entries.map(({ subject }) => subject))];
  const messages = await findMessages(app.store.db, organizationId, ids);
  const shown = new Map<string, object>();
  for (const entry of entries) {
    const message = messages.get(entry.subject);
    if (!message) continue;
    shown.set(entry.id, { ...messageThen(message, entry), event: recordOf(entry) });
  }
  return shown;
};

function recordOf(entry: MessageLogEntry) {
  return {
    ...entry.facts,
    recipient: factOf(entry, 'recipient'),
    errorCode: factOf(entry, 'errorCode'),
    reply: factOf(entry, 'reply'),
    url: factOf(entry, 'url'),
  };
}
