// The kinds of events on a mailbox (contract 7, `mailbox.*`).
import { eventKind } from '../events/kinds.ts';
import { mailboxOutput } from './schema.ts';

export const mailboxCreated = eventKind({
  type: 'mailbox.created',
  summary: 'It takes mail from now on',
  schema: mailboxOutput,
  sample: {
    id: 'mbx_06dq2k0qz8h3v5m1r9t4w7xy',
    organizationId: 'org_06dq2k0qz8h3v5m1r9t4w7xy',
    slug: 'support',
    displayName: 'Support',
    status: 'active' as const,
    primaryAddress: 'support@example.com',
    createdAt: '2026-01-05T12:00:00.000Z',
    updatedAt: '2026-01-05T12:00:00.000Z',
  },
});
