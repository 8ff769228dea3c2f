// Limits how many requests the HTTP server works on at once, and for how long (specification 7:
// 503, 504). The wait for a request body does not count as work: slow uploads cost no capacity, and
// the time limit does not cut off a large upload.
import type { App } from '../../src/core/app.ts';
import { CapacityError, TimeoutError } from '../../src/platform/errors.ts';
import type { Clock } from '../../src/platform/runtime/clock.ts';
import { FairShare } from '../../src/platform/runtime/fairness/fair-share.ts';
import type { Random } from '../../src/platform/runtime/random.ts';
import { type LoopDelay, loopDelayLimitMs, watchEventLoop } from './event-loop.ts';

export interface Workload {
  /**
   * Runs the first part of a request, before the organization is known. Only this part is refused
   * while the event loop is overloaded: the body of later parts has arrived already. @throws as
   * `runFor`
   */
  begin<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` within the organization's share of concurrent work. After the time limit the
   * request is answered, but `work` continues and counts until it ends. So the work on a hanging
   * store stays bounded. @throws CapacityError before `work` is called, TimeoutError, or the error
   * of `work`.
   */
  runFor<T>(organizationId: string, work: () => Promise<T>): Promise<T>;
}

interface WorkloadOptions {
  clock: Clock;
  mostInFlight: number;
  timeoutSeconds: number;
  isLoopOverloaded: () => boolean;
  /** Retry-After in seconds for the next refused request. */
  backoff: () => number;
  /** Reports a failure after the answer, which no caller would see. */
  onLateFailure: (error: unknown) => void;
}

/** Creates the workload of a process. Without `loopDelay` no delay refuses a request. */
export function openWorkload(app: App, loopDelay?: LoopDelay): Workload {
  const { maxInFlight, requestTimeoutSeconds } = app.config.http;
  const limitMs = loopDelayLimitMs(requestTimeoutSeconds);
  return createWorkload({
    clock: app.clock,
    mostInFlight: maxInFlight,
    timeoutSeconds: requestTimeoutSeconds,
    isLoopOverloaded: loopDelay ? watchEventLoop(app.clock, loopDelay, limitMs) : () => false,
    backoff: createBackoff(app.clock, app.random),
    onLateFailure: (error) => app.log.warn({ err: error }, 'A timed-out request failed later'),
  });
}

function createWorkload(options: WorkloadOptions): Workload {
  const { clock, mostInFlight, timeoutSeconds, onLateFailure } = options;
  const share = new FairShare(mostInFlight);
  let inFlight = 0;
  const refuse = (message: string, reason: CapacityError['reason']) =>
    Promise.reject(new CapacityError(message, options.backoff(), { reason }));
  const run = <T>(holder: string | null, work: () => Promise<T>): Promise<T> => {
    if (inFlight >= mostInFlight) {
      return refuse(`More than ${mostInFlight} requests are in progress`, 'capacity-in-flight');
    }
    inFlight++;
    if (holder !== null) share.hold(holder);
    const end = () => {
      inFlight--;
      if (holder !== null) share.letGo(holder);
    };
    return inTime(work, end);
  };
  const inTime = <T>(work: () => Promise<T>, end: () => void): Promise<T> => {
    let isLate = false;
    return new Promise((resolve, reject) => {
      const cancelTimer = clock.after(timeoutSeconds * 1000, () => {
        isLate = true;
        reject(new TimeoutError(`The request took longer than ${timeoutSeconds} s`));
      });
      work().then(
        (value) => {
          end();
          cancelTimer();
          resolve(value);
        },
        (error: unknown) => {
          end();
          cancelTimer();
          if (isLate) onLateFailure(error);
          else reject(error);
        },
      );
    });
  };
  return {
    begin(work) {
      if (!options.isLoopOverloaded()) return run(null, work);
      return refuse('The service is overloaded: its event loop lags', 'capacity-event-loop');
    },
    runFor(organizationId, work) {
      if (share.mayHold(organizationId)) return run(organizationId, work);
      return refuse('Too many requests of your organization are in progress', 'capacity-in-flight');
    },
  };
}

// Retry-After for requests refused for lack of capacity. It grows by a second for each second of
// refusals, so that well-behaved clients return at ever longer intervals (specification 7: 503).

const longestBaseSeconds = 15;

/**
 * Returns a function to call for each refusal. It returns whole seconds, at random between a base
 * and twice the base, so that clients refused together do not return together. The base grows from
 * 1 to 15 seconds, and starts again after four times the base without a refusal.
 */
export function createBackoff(clock: Clock, random: Random): () => number {
  let startedAt = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let baseSeconds = 1;
  return () => {
    const now = clock.elapsed();
    const calmMs = 4 * baseSeconds * 1000;
    if (now - lastAt > calmMs) startedAt = now;
    lastAt = now;
    const lastedSeconds = Math.floor((now - startedAt) / 1000);
    baseSeconds = Math.min(longestBaseSeconds, Math.max(1, lastedSeconds));
    return Math.floor(baseSeconds * (1 + random.float()));
  };
}
