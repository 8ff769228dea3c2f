// Plays the coming days on a copy of a store (`svc rehearse`): queue, campaigns, confirmations and
// the jobs that end waits such as snoozes. A virtual clock is advanced. No listener is started, and
// no remote machine is contacted.

import { createRun } from '../src/campaigns/setup/runs.ts';
import { campaignLoop } from '../src/campaigns/walk/loop.ts';
import { createConfirmationLoop } from '../src/consent/opt-in/loop.ts';
import type { Caller } from '../src/core/api/route.ts';
import type { App } from '../src/core/app.ts';
import { loadProviders } from '../src/mail/smtp/load-providers.ts';
import { Lanes } from '../src/outbound/queue/lanes/lanes.ts';
import { Shares } from '../src/outbound/queue/lanes/shares.ts';
import { createPipeline } from '../src/outbound/queue/loop.ts';
import { isoTime } from '../src/platform/runtime/clock.ts';
import type { StandingClock } from '../src/platform/runtime/standing-clock.ts';
import { rehearsedAttempts } from '../src/service/rehearsal/attempt.ts';
import {
  dateOf,
  limitsNow,
  mergeLimits,
  nextDay,
  readLedger,
} from '../src/service/rehearsal/report.ts';
import type {
  Rehearsal,
  RehearsedDay,
  RehearsedLimit,
  Scenario,
} from '../src/service/rehearsal/schema.ts';
import { startJobs } from './scheduler/jobs.ts';
import { dueJobs } from './scheduler/service-jobs.ts';

const dayMs = 86_400_000;
/** Interval at which the limits are read. */
const lookEachMs = 6 * 3_600_000;

export interface RehearsalOptions {
  /** The clock of the app. */
  clock: StandingClock;
  /** Number of days to play, from `at` on. */
  days: number;
  /** Begin, ms since 1970. Days before the begin are played, but not reported. Default: now. */
  at?: number | undefined;
  /** Campaign to run at `at`. */
  campaignId?: string | undefined;
  scenario: Scenario;
  /** Called with the milliseconds played so far and in total; with 1 and 1 at the end. */
  onProgress?: (done: number, total: number) => void;
}

/**
 * Plays the days on the store of `app` by the clock of `app`. The store must be a copy. @throws the
 * errors of `createRun`; PastTimeError for a begin in the past
 */
export async function rehearse(
  app: App,
  caller: Caller,
  { clock, days, at, campaignId, scenario, onProgress = () => {} }: RehearsalOptions,
): Promise<Rehearsal> {
  const stop = await start(app, scenario);
  try {
    await clock.advanceTo(at ?? clock.now());
    const from = clock.now();
    const to = from + days * dayMs;
    if (campaignId !== undefined) await createRun(app, caller, campaignId, {});
    const told = await playDays(app, clock, { from, to, onProgress });
    const ledger = await readLedger(app.store.db, { from, to }, told);
    return { from: isoTime(from), to: isoTime(to), days: told, ledger };
  } finally {
    await stop();
  }
}

interface Span {
  from: number;
  to: number;
}

/** Plays the days, and records the limits of each day. */
async function playDays(
  app: App,
  clock: StandingClock,
  { from, to, onProgress }: Required<Pick<RehearsalOptions, 'onProgress'>> & Span,
): Promise<RehearsedDay[]> {
  const days: RehearsedDay[] = [];
  for (let start = from; start < to; start = nextDay(start)) {
    const end = Math.min(nextDay(start), to);
    const limits: RehearsedLimit[] = [];
    for (const look of looksOf(start, end)) {
      await clock.advanceTo(look);
      mergeLimits(limits, await limitsNow(app));
      onProgress(look - from, to - from);
    }
    days.push({ date: dateOf(start), accepted: 0, delivered: 0, bounced: 0, waiting: 0, limits });
  }
  onProgress(1, 1);
  return days;
}

/** Returns the times of a day at which the limits are read; the last is the last millisecond. */
function looksOf(start: number, end: number): number[] {
  const looks: number[] = [];
  for (let at = start; at < end - 1; at += lookEachMs) looks.push(at);
  return [...looks, end - 1];
}

/** Starts queue, campaigns, confirmations and jobs. Returns a function that stops them. */
async function start(app: App, scenario: Scenario): Promise<() => Promise<void>> {
  const { providersFile, maxConnectionsPerDomain } = app.config.delivery;
  const providers = loadProviders(providersFile, maxConnectionsPerDomain);
  const lanes = new Lanes(app.clock, app.random, providers);
  const pipeline = createPipeline(app, {
    worker: app.newId('worker'),
    choice: {
      lanes,
      shares: new Shares(app.clock),
      laneOf: () => null,
      soleLane: null,
    },
    attempt: rehearsedAttempts(app, scenario),
  });
  await pipeline.start();
  const campaigns = campaignLoop(app);
  await campaigns.start();
  const confirmations = createConfirmationLoop(app);
  confirmations.start();
  const jobs = await startJobs(app, dueJobs(app));
  return async () => {
    await jobs.stop(0);
    await confirmations.stop();
    await campaigns.stop();
    await pipeline.stop(0);
  };
}
