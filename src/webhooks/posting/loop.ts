// Engine of webhooks: finds endpoints with due deliveries, starts claims and posts, and sleeps
// until the next due time. claim.ts claims, under-way.ts posts, settle.ts records outcomes (with
// the state table).
//
//   pressure | is on while                           | the next claim
//   ---------+---------------------------------------+--------------------------------------
//   none     | no burst of sends or mails comes in   | at once
//   burst    | a burst comes in                      | a second after the last claim
//   late     | the last claim was overdue by 10 s    | at once, burst or not
import type { App } from '../../core/app.ts';
import { createDueLoop, type Pause } from '../../platform/store/changes/due-loop.ts';
import { leaseDelayMs } from '../../platform/store/changes/lease.ts';
import { togetherOrAlone } from '../../platform/store/rows/each-alone.ts';
import {
  countPending,
  type EndpointWork,
  endpointsWithWork,
  releaseDeliveries,
} from '../deliveries/delivery-queries.ts';
import { cancelSome } from '../endpoints/disable.ts';
import {
  type Claimed,
  type ClaimOptions,
  chooseWishes,
  claim,
  type Reserve,
  type Wish,
} from './claim.ts';
import { createPoster, type Poster } from './post.ts';
import { UnderWay } from './under-way.ts';

/** Number of endpoints that a single read checks. */
const endpointsPerLook = 1_000;
/** Number of checked endpoints for which the loop then pauses 1 ms. Their check takes 0.25 ms. */
const endpointsPerMs = 50;
/** Length of a lease, in ms, beyond twice the time limit of a post. */
const leaseSlackMs = 60_000;
const pendingEachMs = 10_000;
const mostCounted = 100_000;
const besideBurstMs = 1_000;
const patienceMs = 10_000;
/** Pause of an endpoint after an error while its deliveries were claimed. */
const afterErrorMs = 60_000;

export interface WebhookLoop {
  /** Starts the loop. On SQLite (a single daemon) it first releases the claims of a dead daemon. */
  start(): Promise<void>;
  /** Stops claiming, lets posts end for `graceMs`, then aborts them, and releases deliveries. */
  stop(graceMs: number): Promise<void>;
  /** Resolves when no delivery is due and no post runs; for tests. */
  idle(): Promise<void>;
}

interface WebhookLoopParts {
  poster?: Poster;
  /** Whether a burst of sends or mails comes in at this moment. */
  isPressing?: () => boolean;
}

/** Creates the loop of a daemon that posts due deliveries to webhook endpoints. */
export function createWebhookLoop(
  app: App,
  { poster = createPoster(app), isPressing = () => false }: WebhookLoopParts = {},
): WebhookLoop {
  const worker = app.newId('worker');
  const leaseMs = 2 * app.config.webhooks.timeoutSeconds * 1000 + leaseSlackMs;
  const underWay = new UnderWay(app, { worker, leaseMs, poster, onEnd: () => loop.wake() });
  const step = createStep(app, { worker, leaseMs, underWay, isPressing });
  const loop = createDueLoop(app, {
    name: 'webhooks',
    step,
    trouble: 'webhooks cannot be delivered now: trying again',
    isQuiet: () => underWay.held === 0,
  });

  return {
    async start() {
      if (app.store.kind === 'sqlite') {
        const { clock } = app;
        await app.store.write((trx) => releaseDeliveries(trx, null, null, clock.now()), 'quiet');
      }
      loop.start();
    },
    async stop(graceMs) {
      await loop.stop();
      await underWay.end(graceMs);
    },
    idle: loop.idle,
  };
}

interface StepParts {
  worker: string;
  leaseMs: number;
  underWay: UnderWay;
  isPressing: () => boolean;
}

function createStep(
  app: App,
  { worker, leaseMs, underWay, isPressing }: StepParts,
): () => Promise<number | Pause> {
  const { clock } = app;
  const report = createReport(app);
  let lookAt = Number.NEGATIVE_INFINITY;
  let claimedAt = Number.NEGATIVE_INFINITY;
  let latenessMs = 0;
  /** Last endpoint with a claim. The next claim begins after this endpoint. */
  let last = '';
  /** Steady times until which endpoints wait after an error. */
  const waits = new Map<string, number>();
  const onFailure = ({ endpointId }: Wish, error: unknown) => {
    waits.set(endpointId, clock.elapsed() + afterErrorMs);
    const text = 'deliveries of a webhook endpoint cannot be claimed: it waits for a minute';
    app.log.error({ err: error, endpointId }, text);
  };

  return async () => {
    const startedAt = clock.elapsed();
    const givesWay = isPressing() && latenessMs < patienceMs;
    const at = Math.max(lookAt, givesWay ? claimedAt + besideBurstMs : lookAt);
    if (startedAt < at) return { pauseMs: at - startedAt };
    // Claims nothing while all places are used: each ended post wakes the loop.
    if (underWay.isFull) return Infinity;
    for (const [id, until] of waits) if (until <= startedAt) waits.delete(id);
    const work = (await checkAll(app)).filter(({ id }) => !waits.has(id));
    lookAt = clock.elapsed() + Math.floor(work.length / endpointsPerMs);
    await report(work);
    const isCancelling = await cancelOfDisabled(app, work);
    const reserve: Reserve = (one, isReplay) => underWay.reserve(one, isReplay);
    const now = clock.now();
    const delayMs = leaseDelayMs(app, leaseMs);
    const dueTo = now - delayMs;
    const wishes = chooseWishes(work, { now: dueTo, last, reserve });
    last = wishes.at(-1)?.endpointId ?? last;
    if (wishes.length > 0) latenessMs = now - Math.min(...wishes.map(({ dueAt }) => dueAt));
    const options = { worker, dueTo, leaseUntil: now + leaseMs };
    const claiming = claimWished(app, wishes, options, onFailure);
    const claimed = await underWay.launch(wishes, claiming);
    if (claimed > 0) claimedAt = clock.elapsed();
    if (claimed > 0 || isCancelling) return 0;
    return nextDue(work, dueTo) + delayMs;
  };
}

async function checkAll({ store }: App): Promise<EndpointWork[]> {
  const all: EndpointWork[] = [];
  for (let after = ''; ; after = all.at(-1)?.id ?? '') {
    const some = await endpointsWithWork(store.db, after, endpointsPerLook);
    all.push(...some);
    if (some.length < endpointsPerLook) return all;
  }
}

async function claimWished(
  app: App,
  wishes: readonly Wish[],
  options: ClaimOptions,
  onFailure: (wish: Wish, error: unknown) => void,
): Promise<Claimed[]> {
  if (wishes.length === 0) return [];
  const claimSome = (some: readonly Wish[]) =>
    app.store.write((trx) => claim(app, trx, some, options), 'quiet');
  return (await togetherOrAlone(wishes, claimSome, onFailure)).flat();
}

/** Cancels waiting deliveries of disabled endpoints. Returns whether more may remain. */
async function cancelOfDisabled(app: App, work: readonly EndpointWork[]): Promise<boolean> {
  let isMore = false;
  for (const { id, status } of work) {
    if (status !== 'disabled') continue;
    if (await app.store.write((trx) => cancelSome(app, trx, id), 'quiet')) isMore = true;
  }
  return isMore;
}

/**
 * Returns the next due time after `now`; Infinity if no delivery is due later. Leaves out overdue
 * deliveries, as each ended post wakes the loop to claim them.
 */
function nextDue(work: readonly EndpointWork[], now: number): number {
  let at = Infinity;
  for (const { status, live_due, replay_due } of work) {
    if (status !== 'active') continue;
    for (const dueAt of [live_due, replay_due]) {
      if (dueAt !== null && dueAt > now) at = Math.min(at, dueAt);
    }
  }
  return at;
}

/** Creates the function that updates the gauges of the lag and of pending deliveries. */
function createReport({ store, clock, metrics }: App): (work: EndpointWork[]) => Promise<void> {
  let countAt = Number.NEGATIVE_INFINITY;
  return async (work) => {
    const now = clock.now();
    const posted = work.filter(({ status }) => status === 'active');
    const dueAt = posted.flatMap(({ live_due, replay_due }) => [
      live_due ?? now,
      replay_due ?? now,
    ]);
    const first = dueAt.reduce((least, at) => Math.min(least, at), now);
    metrics.webhookLag.set((now - first) / 1000);
    if (clock.elapsed() >= countAt) {
      countAt = clock.elapsed() + pendingEachMs;
      metrics.webhooksPending.set(await countPending(store.db, mostCounted));
    }
  };
}
