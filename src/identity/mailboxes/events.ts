// The kinds of events on a mailbox.
import { eventKind } from '../../history/events/kinds.ts';
import { mailboxMessageData, mailboxOutput, receivedMessageData } from './schema.ts';

const sample = {
  id: 'mbx_06dq2k0qz8h3v5m1r9t4w7xy',
  namespaceId: 'ns_06dq2k0qz8h3v5m1r9t4w7xy',
  slug: 'support',
  displayName: 'Support',
  status: 'active' as const,
  primaryAddress: 'support@example.com',
  createdAt: '2026-01-05T12:00:00.000Z',
  description: null,
  metadata: {},
  addresses: [
    {
      id: 'mba_06dq2k0qz8h3v5m1r9t4w7xy',
      address: 'support@example.com',
      source: 'customDomain' as const,
      domainId: 'dom_06dq2k0qz8h3v5m1r9t4w7xy',
      displayName: 'Support',
    },
  ],
  defaultFrom: { address: 'support@example.com', displayName: 'Support' },
  filters: { allow: [], block: [] },
  updatedAt: '2026-01-05T12:00:00.000Z',
};

export const mailboxCreated = eventKind({
  type: 'mailbox.created',
  summary: 'A mailbox was created',
  schema: mailboxOutput,
  sample,
});

export const mailboxUpdated = eventKind({
  type: 'mailbox.updated',
  summary: 'The name, an address or a setting of a mailbox was changed',
  schema: mailboxOutput,
  sample,
});

export const mailboxPaused = eventKind({
  type: 'mailbox.paused',
  summary: 'A mailbox was paused',
  schema: mailboxOutput,
  sample: { ...sample, status: 'paused' as const },
});

export const mailboxResumed = eventKind({
  type: 'mailbox.resumed',
  summary: 'A mailbox was resumed',
  schema: mailboxOutput,
  sample,
});

export const mailboxDeleted = eventKind({
  type: 'mailbox.deleted',
  summary: 'A mailbox was deleted, and its addresses are free',
  schema: mailboxOutput,
  sample: { ...sample, status: 'deleted' as const },
});

const message = {
  mailboxId: sample.id,
  threadId: 'thread_06dq2k0qz8h3v5m1r9t4w7xy',
  message: { id: 'msg_06dq2k0qz8h3v5m1r9t4w7xy', subject: 'A question' },
};

export const mailboxMessageReceived = eventKind({
  type: 'mailbox.message.received',
  summary: 'A mailbox received a message',
  schema: receivedMessageData,
  sample: {
    ...message,
    email: {
      ...{ text: 'Can you help me?', textTruncated: false },
      ...{ spfVerdict: 'pass', dkimVerdict: 'pass', dmarcVerdict: 'pass', arcVerdict: null },
      attachments: [
        { n: 1, filename: 'invoice.pdf', contentType: 'application/pdf', size: 24_576 },
      ],
    },
  },
});

export const mailboxMessageSent = eventKind({
  type: 'mailbox.message.sent',
  summary: 'A mailbox sent a message',
  schema: mailboxMessageData,
  sample: message,
});
