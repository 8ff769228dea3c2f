// Statuses of campaign runs and their ledger. The rows of runs stand among people, as groups, the queue and
// tracking read them; what a run does is in src/campaigns.
export const runStatuses = [
  'scheduled',
  'running',
  'paused',
  'held',
  'completed',
  'failed',
  'cancelled',
] as const;

export type RunStatus = (typeof runStatuses)[number];

export const runOutcomes = ['dispatched', 'failed', 'skipped'] as const;

export type RunOutcome = (typeof runOutcomes)[number];

/** Reasons to skip a contact, in the order in which they are asked. */
export const skipReasons = [
  'excluded',
  'archived',
  'no-address',
  'blocked',
  'unsubscribed',
  'pending',
  'preference',
  'duplicate',
] as const;

export type SkipReason = (typeof skipReasons)[number];

/** Reasons for which a running run waits. */
export const runWaitReasons = ['rate', 'daily-quota', 'warming', 'queue'] as const;

export type RunWaitReason = (typeof runWaitReasons)[number];

/** Reasons of the service to hold a run, and `restored` for one that it paused. */
export const runHoldReasons = [
  'workspace-paused',
  'key',
  'sender',
  'domain-held',
  'warming-held',
  'run-health',
  'provider',
  'restored',
] as const;

export type RunHoldReason = (typeof runHoldReasons)[number];
