// The scheduled jobs of a daemon: work that falls due within minutes, and sweeps at quiet times.
import { sweepBuckets } from '../../src/access/admission/shared-buckets.ts';
import type { Authenticator } from '../../src/access/keys/authenticator.ts';
import { sweepChallenges } from '../../src/access/passkeys/challenges.ts';
import { sweepMailedLinks } from '../../src/access/sessions/mailed-links.ts';
import { sweepSessions } from '../../src/access/sessions/sessions.ts';
import { sweepAnswers } from '../../src/content/templates/workspace/retention.ts';
import type { App } from '../../src/core/app.ts';
import { sweepObjects } from '../../src/core/blobs/sweep.ts';
import { examineDaily } from '../../src/doctor/daily.ts';
import { sweepAudit } from '../../src/history/audit/retention.ts';
import { sweepEvents } from '../../src/history/events/retention.ts';
import { nextCheckAt } from '../../src/identity/domains/check-queries.ts';
import { checkDueDomains } from '../../src/identity/domains/verification.ts';
import { sweepHealth } from '../../src/identity/reputation/health.ts';
import { nextWindowEnd } from '../../src/identity/warming/queries.ts';
import { moveWindows } from '../../src/identity/warming/windows.ts';
import { expireActions } from '../../src/inbox/approvals/actions.ts';
import { nextExpiryAt } from '../../src/inbox/approvals/queries.ts';
import { sweepActions } from '../../src/inbox/approvals/retention.ts';
import { sweepDelayed } from '../../src/inbox/replies/undo/delayed.ts';
import { sweepThreads, wakeThreads } from '../../src/inbox/threads/jobs.ts';
import { nextWakeAt } from '../../src/inbox/threads/queries.ts';
import { deleteOldMessages } from '../../src/outbound/messages/forget/retention.ts';
import type { Surroundings } from '../../src/outbound/messages/lists/search.ts';
import { sweepIdempotencyKeys } from '../../src/outbound/sending/send.ts';
import { linkKeeper } from '../../src/outbound/tracking/kept-links.ts';
import { sweepMemberRefusals } from '../../src/people/blocks/member-refusals.ts';
import { anchorHeads } from '../../src/receipts/anchors.ts';
import type { Sealer } from '../../src/receipts/sealer.ts';
import { sweepRunMinutes } from '../../src/run-ledger/counters.ts';
import { sweepWebhooks } from '../../src/webhooks/deliveries/retention.ts';
import type { Job } from './jobs.ts';

const eachMinute = '* * * * *';

/** Returns the jobs that act when the time of a row has come, such as the end of a snooze. */
export function dueJobs(app: App): Job[] {
  const { db } = app.store;
  return [
    {
      name: 'end snoozes',
      pattern: eachMinute,
      run: () => wakeThreads(app),
      dueAt: () => nextWakeAt(db),
    },
    {
      name: 'move warming windows',
      pattern: eachMinute,
      run: () => moveWindows(app),
      dueAt: () => nextWindowEnd(db),
    },
    {
      name: 'expire proposals',
      pattern: eachMinute,
      run: () => expireActions(app),
      dueAt: () => nextExpiryAt(db),
    },
  ];
}

/** Returns all jobs of a daemon. */
export function serviceJobs(
  app: App,
  parts: { authenticator: Authenticator; sealer: Sealer; surroundings: Surroundings },
): Job[] {
  const { authenticator, sealer, surroundings } = parts;
  return [
    ...dueJobs(app),
    {
      name: 'check domains',
      pattern: eachMinute,
      run: () => checkDueDomains(app),
      dueAt: () => nextCheckAt(app.store.db),
    },
    {
      name: 'flush key use',
      pattern: eachMinute,
      run: () => authenticator.flushLastUsed(),
      isOfEachDaemon: true,
    },
    {
      name: 'sweep idempotency claims',
      pattern: '17 * * * *',
      run: () => sweepIdempotencyKeys(app),
    },
    { name: 'sweep files', pattern: '33 * * * *', run: (signal) => sweepObjects(app, signal) },
    { name: 'sweep challenges', pattern: '28 * * * *', run: () => sweepChallenges(app) },
    { name: 'sweep sessions', pattern: '27 * * * *', run: () => sweepSessions(app) },
    { name: 'sweep mailed links', pattern: '37 * * * *', run: () => sweepMailedLinks(app) },
    { name: 'sweep rate limits', pattern: '47 * * * *', run: () => sweepBuckets(app) },
    { name: 'seal events', pattern: '7 * * * *', run: () => sealer.sweep() },
    { name: 'anchor heads', pattern: '11 0 * * *', run: () => anchorHeads(app) },
    { name: 'sweep events', pattern: '13 2 * * *', run: () => sweepEvents(app) },
    { name: 'sweep audit', pattern: '17 2 * * *', run: () => sweepAudit(app) },
    { name: 'sweep workspace answers', pattern: '57 2 * * *', run: () => sweepAnswers(app) },
    { name: 'sweep actions', pattern: '53 2 * * *', run: () => sweepActions(app) },
    { name: 'sweep webhooks', pattern: '23 2 * * *', run: () => sweepWebhooks(app) },
    { name: 'sweep delayed drafts', pattern: '41 * * * *', run: () => sweepDelayed(app) },
    { name: 'sweep threads', pattern: '43 3 * * *', run: () => sweepThreads(app) },
    { name: 'sweep health counters', pattern: '37 3 * * *', run: () => sweepHealth(app) },
    { name: 'examine the service', pattern: '37 4 * * *', run: () => examineDaily(app) },
    {
      name: 'delete old messages',
      pattern: '23 * * * *',
      run: (signal) => deleteOldMessages(app, { ...surroundings, keeper: linkKeeper }, signal),
    },
    {
      name: 'sweep refusals of members',
      pattern: '51 * * * *',
      run: () => sweepMemberRefusals(app),
    },
    { name: 'sweep minutes of runs', pattern: '43 * * * *', run: () => sweepRunMinutes(app) },
  ];
}
