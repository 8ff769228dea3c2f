// Kinds of message events and their payload: the message in the present state, with the status at
// the time of the event.

import type { MessageLogEntry, MessagePresenter } from '../../history/events/hooks.ts';
import { eventKind } from '../../history/events/kinds.ts';
import type { EventType } from '../../history/events/names.ts';
import type { MessageStatus } from '../deliveries/status.ts';
import { findMessages } from './messages.ts';
import { messageEventData } from './schema.ts';

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

/** Builds the `data` of message events, by event id. Reads all messages together. */
export const presentMessageEvents: MessagePresenter = async (app, organizationId, entries) => {
  const ids = [...new Set(entries.map(({ subject }) => subject))];
  const messages = await findMessages(app.store.db, organizationId, ids);
  const shown = new Map<string, object>();
  for (const entry of entries) {
    const message = messages.get(entry.subject);
    if (message) shown.set(entry.id, { ...message, status: entry.status, event: recordOf(entry) });
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
