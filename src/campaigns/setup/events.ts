// The kinds of events on runs of campaigns.
import { eventKind } from '../../history/events/kinds.ts';
import { runSummary } from './run-schema.ts';

const sample = {
  id: 'run_06dq2k0qz8h3v5m1r9t4w7xy',
  organizationId: 'org_06dq2k0qz8h3v5m1r9t4w7xy',
  campaignId: 'camp_06dq2k0qz8h3v5m1r9t4w7xy',
  status: 'running' as const,
  scheduledFor: null,
  idempotencyKey: 'newsletter-2026-01',
  retryOf: null,
  onlyNew: false,
  startedAt: '2026-01-05T12:00:00.000Z',
  completedAt: null,
  policySnapshot: { unsubscribeGroupId: 'usg_06dq2k0qz8h3v5m1r9t4w7xy', pageSize: 500 },
  totalRecipients: 12_000,
  dispatchedCount: 0,
  failedCount: 0,
  skippedCount: 0,
  failureReason: null,
  holdReason: null,
  holdDomainId: null,
  holdDetail: null,
  lastContactId: null,
  waitReason: null,
  nextDispatchAt: null,
  stats: {
    sent: 0,
    delivered: 0,
    bounced: 0,
    complained: 0,
    opened: 0,
    clicked: 0,
    unsubscribed: 0,
    failed: 0,
  },
  isTest: false,
  createdBy: 'key_06dq2k0qz8h3v5m1r9t4w7xy',
  actorEmail: null,
  memberRole: 'developer',
  createdAt: '2026-01-05T11:59:59.000Z',
  updatedAt: '2026-01-05T12:00:00.000Z',
};

const half = {
  ...sample,
  dispatchedCount: 6_000,
  failedCount: 3,
  skippedCount: 97,
  lastContactId: 'contact_06dq2k0qz8h3v5m1r9t4w7xy',
  stats: { ...sample.stats, sent: 5_900, delivered: 5_500, bounced: 310 },
  updatedAt: '2026-01-05T12:10:00.000Z',
};

export const campaignRunStarted = eventKind({
  type: 'campaign.run.started',
  summary: 'A run has taken its snapshots and begins',
  schema: runSummary,
  sample,
});

export const campaignRunCompleted = eventKind({
  type: 'campaign.run.completed',
  summary: 'A run has judged its last contact; its mail may still be on its way',
  schema: runSummary,
  sample: {
    ...half,
    status: 'completed' as const,
    completedAt: '2026-01-05T12:20:00.000Z',
    dispatchedCount: 11_800,
    failedCount: 3,
    skippedCount: 197,
    updatedAt: '2026-01-05T12:20:00.000Z',
  },
});

export const campaignRunHeld = eventKind({
  type: 'campaign.run.held',
  summary: 'The service stopped a run: it continues when the cause ends, or a person resumes it',
  schema: runSummary,
  sample: {
    ...half,
    status: 'held' as const,
    holdReason: 'run-health',
    holdDetail: '5.2% of 5,900 messages bounced (limit 5%)',
  },
});

export const campaignRunFailed = eventKind({
  type: 'campaign.run.failed',
  summary:
    'A run has ended, as its content could not be sent, or was cancelled, as its key may not run campaigns any more',
  schema: runSummary,
  sample: {
    ...sample,
    status: 'failed' as const,
    startedAt: null,
    policySnapshot: null,
    totalRecipients: 0,
    failureReason: 'template: is not published',
  },
});
