// Makes waiting work due after a clock ran ahead and was set back. This changes times in the store
// that the service itself sets: a time becomes the present if it is further ahead than the longest
// wait that a right clock sets. Deliveries (src/outbound/queue/present.ts), runs
// (src/campaigns/walk/loop.ts), windows of warming and jobs have separate rules. Times that a
// person chose stay.

import { bringConfirmationsToPresent } from '../../consent/opt-in/queries.ts';
import type { App } from '../../core/app.ts';
import { bringUnusedToPresent } from '../../core/blobs/queries.ts';
import { bringErasuresToPresent } from '../../history/erasures/queries.ts';
import { bringDomainsToPresent } from '../../identity/domains/check-queries.ts';
import { bringProjectionsToPresent } from '../../outbound/messages/contents/projection-queries.ts';
import { bringClaimsToPresent } from '../../outbound/messages/idempotency-queries.ts';
import { bringReportsToPresent } from '../../outbound/reports/queries.ts';
import {
  bringChecksToPresent,
  bringHostLeasesToPresent,
  bringOrdersToPresent,
  bringRateLimitToPresent,
} from '../../outbound/tracking/custom/queries.ts';
import { clockJumpsOf } from '../../platform/runtime/clock-jumps.ts';
import type { ToPresent } from '../../platform/store/changes/to-present.ts';
import { bringDeliveriesToPresent } from '../../webhooks/deliveries/delivery-queries.ts';
import { bringJobLeasesToPresent } from './queries.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Factor that allows for jitter of waits and for differing clocks of daemons. */
const slack = 1.25;

interface Wait {
  /** Longest wait that a right clock sets. */
  longestMs: number;
  bring: ToPresent;
}

function waitsOf({ config }: App): Wait[] {
  const retries = config.webhooks.retry.scheduleSeconds.map((seconds) => seconds * 1_000);
  return [
    { longestMs: Math.max(dayMs, ...retries), bring: bringDeliveriesToPresent },
    { longestMs: minuteMs, bring: bringProjectionsToPresent },
    { longestMs: minuteMs, bring: bringReportsToPresent },
    { longestMs: minuteMs, bring: bringHostLeasesToPresent },
    { longestMs: minuteMs, bring: bringClaimsToPresent },
    { longestMs: minuteMs, bring: bringJobLeasesToPresent },
    { longestMs: hourMs, bring: bringErasuresToPresent },
    { longestMs: dayMs, bring: bringDomainsToPresent },
    // The confirmation mails of an import of 100,000 contacts take 6 hours.
    { longestMs: dayMs, bring: bringConfirmationsToPresent },
    // Failing checks disable a tracking host after a week.
    { longestMs: 7 * dayMs, bring: bringChecksToPresent },
    // Certificate authorities limit orders by the week.
    { longestMs: 7 * dayMs, bring: bringOrdersToPresent },
    { longestMs: 7 * dayMs, bring: bringRateLimitToPresent },
    { longestMs: 0, bring: bringUnusedToPresent },
  ];
}

/**
 * Sets all times to the present if they are further ahead than a right clock sets them. Several
 * daemons may do so at once or repeatedly.
 */
async function bringWaitsToPresent(app: App): Promise<void> {
  for (const { longestMs, bring } of waitsOf(app)) {
    const now = app.clock.now();
    const latest = Math.ceil(now + slack * longestMs);
    const count = await app.store.write((trx) => bring(trx, now, latest), 'quiet');
    if (count > 0) app.log.warn({ count }, 'the clock was set back: waiting work is due now');
  }
}

/**
 * Brings waits to the present after each jump back of a daemon's clock. Returns a function that
 * ends the subscription and waits for a running change.
 */
export function followSetBacks(app: App): () => Promise<void> {
  let running = Promise.resolve();
  const bring = () =>
    bringWaitsToPresent(app).catch((error: unknown) => {
      app.log.error({ err: error }, 'waiting work was not brought to the present');
    });
  const unsubscribe = clockJumpsOf(app).onJump((jumpMs) => {
    if (jumpMs < 0) running = running.then(bring);
  });
  return () => {
    unsubscribe();
    return running;
  };
}
