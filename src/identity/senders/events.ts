// The kinds of events on a sender identity.
import { eventKind } from '../../history/events/kinds.ts';
import { senderOutput } from './schema.ts';

export const senderVerified = eventKind({
  type: 'sender.verified',
  summary: 'A sender address was verified: mail may come from it',
  schema: senderOutput,
  sample: {
    id: 'snd_06dq2k0qz8h3v5m1r9t4w7xy',
    organizationId: 'org_06dq2k0qz8h3v5m1r9t4w7xy',
    email: 'hello@example.com',
    name: 'Example',
    domainId: 'dom_06dq2k0qz8h3v5m1r9t4w7xy',
    verificationStatus: 'verified' as const,
    verifiedAt: '2026-01-05T12:00:00.000Z',
    verificationToken: null,
    providerLifecycle: 'active' as const,
    providerFailureCode: null,
    isDefault: true,
    replyToEmails: null,
    deliverability: {
      bounceRate: 0,
      complaintRate: 0,
      windowSends: 0,
      sendingStatus: 'enabled' as const,
    },
    series: Array.from({ length: 14 }, () => 0),
    isActive: true,
    createdAt: '2026-01-05T11:40:00.000Z',
    updatedAt: '2026-01-05T12:00:00.000Z',
  },
});
