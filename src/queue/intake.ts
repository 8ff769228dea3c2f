// How hard sends press in. A burst is answered first and delivered right after: while many sends wait
// for one commit, the pipeline claims seldom (loop.ts), so that who sends waits less and the
// burst as a whole is over no later.
import type { App } from '../app.ts';
import { perApp } from '../runtime/per-app.ts';

/** So many in one commit are a burst; fewer leave the event loop enough for both. */
const pressingRequests = 16;
/** A burst has a commit at least this often. */
const pressingMs = 50;

export interface Intake {
  /** So many sends were in one transaction. */
  took(requests: number): void;
  /** A burst comes in at this moment. */
  isPressing(): boolean;
}

/** The intake of this process. */
export const intakeOf = perApp(({ clock }: App): Intake => {
  let pressedAt = Number.NEGATIVE_INFINITY;
  return {
    took(requests) {
      if (requests >= pressingRequests) pressedAt = clock.elapsed();
    },
    isPressing: () => clock.elapsed() - pressedAt < pressingMs,
  };
});
