// The kinds of events on an organization.
import { eventKind } from '../../history/events/kinds.ts';
import { organizationOutput } from './schema.ts';

const sample = {
  id: 'org_06dq2k0qz8h3v5m1r9t4w7xy',
  name: 'acme',
  plan: 'growth',
  paymentMethodOnFile: true,
  timezone: 'Europe/Berlin',
  sendingStatus: 'enabled' as const,
  pausedAt: null,
  pauseReason: null,
  onboarding: { status: 'approved' as const, generation: 1 },
  tracking: { opens: false, clicks: false },
  metadataKeys: [],
  signIn: 'any' as const,
  retention: { messagesDays: null, contentDays: null },
  createdAt: '2026-01-05T12:00:00.000Z',
};

export const workspaceWarning = eventKind({
  type: 'workspace.warning',
  summary: 'Bounces or complaints near a limit, or hold a domain of the organization',
  schema: organizationOutput,
  sample,
});

export const workspacePaused = eventKind({
  type: 'workspace.paused',
  summary: 'The organization may not send until it is resumed',
  schema: organizationOutput,
  sample: {
    ...sample,
    sendingStatus: 'paused' as const,
    pausedAt: '2026-02-01T08:30:00.000Z',
    pauseReason: '10% of the last 100 messages bounced',
  },
});

export const workspaceResumed = eventKind({
  type: 'workspace.resumed',
  summary: 'The organization, or a domain of it, may send again',
  schema: organizationOutput,
  sample,
});
