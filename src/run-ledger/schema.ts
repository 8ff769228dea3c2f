// Statuses of campaign runs and their ledger. Contact groups, the queue and tracking read the rows
// of runs, so this folder is below them. src/campaigns does the work of a run.
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

/** Reasons to skip a contact, in the order of the checks. */
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

/** Limits for which a running run waits. */
const runLimits = ['rate', 'daily-quota', 'warming', 'queue'] as const;

export type RunLimit = (typeof runLimits)[number];

/** Troubles for which a scheduled or running run waits. */
export const runTroubles = ['audience', 'capacity', 'error'] as const;

export type RunTrouble = (typeof runTroubles)[number];

export const runWaitReasons = [...runLimits, ...runTroubles] as const;

export type RunWaitReason = (typeof runWaitReasons)[number];

/** Reasons for which the service holds a run. `restored`: paused because a backup was restored. */
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
