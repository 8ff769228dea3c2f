// Pressure of incoming sends. A burst is answered first and delivered right after: while many sends
// wait for the same commit, the pipeline claims rarely (back-pressure.ts). So callers wait less,
// and the whole burst ends no later.
import { portionsOf } from '../../access/admission/portions.ts';
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';

/**
 * Fewest sends in a commit that count as a burst. For fewer sends, the event loop has time to
 * deliver as well. Several daemons divide a burst, so each daemon then counts fewer sends as a
 * burst.
 */
const pressingRequests = 16;
const fewestPressing = 4;
/** Time after a large commit during which the burst counts as ongoing. */
const pressingMs = 50;

export interface Intake {
  /** Reports how many sends a transaction accepted. */
  took(requests: number): void;
  /** Tells whether a burst is under way now. */
  isPressing(): boolean;
}

/** Returns the record of incoming sends that all parts of this process share. */
export const intakeOf = perApp((app: App): Intake => {
  const { clock } = app;
  let pressedAt = Number.NEGATIVE_INFINITY;
  const pressing = () => {
    const daemons = portionsOf(app).daemons(clock.elapsed());
    return Math.max(fewestPressing, pressingRequests / daemons);
  };
  return {
    took(requests) {
      if (requests >= pressing()) pressedAt = clock.elapsed();
    },
    isPressing: () => clock.elapsed() - pressedAt < pressingMs,
  };
});
