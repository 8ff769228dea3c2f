// How much work the HTTP face takes on at once and how long a piece may last (specification 7: 503,
// 504). A piece is what our code does for a request; waiting for a body to arrive is none, so that
// slow uploads cost no capacity and a large one is not cut off by the time limit.

import { CapacityError, TimeoutError } from '../../src/errors.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { FairShare } from '../../src/runtime/fair-share.ts';

export interface Workload {
  /**
   * Runs the first piece of a request, before its organization is known. Refused too while the event
   * loop is overloaded; later pieces are not, as the body has travelled already.
   * @throws as `runFor`
   */
  begin<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` within the organization's share of what is in flight. A piece that outruns its time is
   * answered but goes on and counts until it ends: a store that hangs must not gather work without bound.
   * @throws CapacityError before `work` is called, TimeoutError, or what `work` throws.
   */
  runFor<T>(organizationId: string, work: () => Promise<T>): Promise<T>;
}

interface WorkloadOptions {
  clock: Clock;
  mostInFlight: number;
  timeoutSeconds: number;
  isLoopOverloaded: () => boolean;
  /** The seconds to wait for the next who is refused. */
  backoff: () => number;
  /** A failure that came after the answer; nobody else will hear of it. */
  onLateFailure: (error: unknown) => void;
}

export function createWorkload(options: WorkloadOptions): Workload {
  const { clock, mostInFlight, timeoutSeconds, onLateFailure } = options;
  const share = new FairShare(mostInFlight);
  let inFlight = 0;
  const refuse = (message: string, reason: CapacityError['reason']) =>
    Promise.reject(new CapacityError(message, options.backoff(), { reason }));
  const run = <T>(holder: string | null, work: () => Promise<T>): Promise<T> => {
    if (inFlight >= mostInFlight) {
      return refuse(`More than ${mostInFlight} requests are in work`, 'capacity-in-flight');
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
      return refuse('Too many requests of your organization are in work', 'capacity-in-flight');
    },
  };
}
