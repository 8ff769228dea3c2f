// The kinds of events on actions in a mailbox.
import { eventKind } from '../../history/events/kinds.ts';
import { mailboxActionOutput } from './schema.ts';

const key = {
  kind: 'key' as const,
  id: 'key_06dq2k0qz8h3v5m1r9t4w7xy',
  displayName: 'assistant',
};

const sample = {
  id: 'act_06dq2k0qz8h3v5m1r9t4w7xy',
  mailboxId: 'mbx_06dq2k0qz8h3v5m1r9t4w7xy',
  type: 'reply' as const,
  state: 'proposed' as const,
  actor: key,
  messageId: null,
  threadId: 'thread_06dq2k0qz8h3v5m1r9t4w7xy',
  summary: {
    from: 'Support <support@example.com>',
    replyTo: [],
    to: ['ada@example.com'],
    cc: [],
    bcc: [],
    subject: 'Re: A question',
    preview: 'The answer',
    attachments: 0,
  },
  createdAt: '2026-01-05T12:00:00.000Z',
  decidedAt: null,
  decidedBy: null,
  note: null,
  expiresAt: '2026-01-12T12:00:00.000Z',
  failure: null,
  digest: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  editedDigest: null,
};

const decided = {
  ...sample,
  decidedAt: '2026-01-05T12:10:00.000Z',
  decidedBy: { kind: 'user' as const, id: null, displayName: 'operator' },
};

export const mailboxActionProposed = eventKind({
  type: 'mailbox.action.proposed',
  summary: 'A key proposed an action, which waits for approval by a person',
  schema: mailboxActionOutput,
  sample,
});

export const mailboxActionApproved = eventKind({
  type: 'mailbox.action.approved',
  summary: 'A person approved an action: it was sent, or could not be',
  schema: mailboxActionOutput,
  sample: { ...decided, state: 'executed' as const, messageId: 'msg_06dq2k0qz8h3v5m1r9t4w7xy' },
});

export const mailboxActionRejected = eventKind({
  type: 'mailbox.action.rejected',
  summary: 'A person rejected an action',
  schema: mailboxActionOutput,
  sample: { ...decided, state: 'rejected' as const, note: 'Ask for the order number first' },
});
