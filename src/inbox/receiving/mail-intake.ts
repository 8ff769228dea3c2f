// Detects bursts of received mail. Mails of a burst are stored and answered first, and parsed when
// the burst is over (projector.ts). Mails arrive singly, so they are counted over a time span.
// Sends are counted by commit.
import type { App } from '../../core/app.ts';
import type { Intake } from '../../outbound/queue/intake.ts';
import { perApp } from '../../platform/runtime/per-app.ts';

/**
 * Number of mails within `whileMs` that counts as a burst. Fewer mails can be parsed while they are
 * stored.
 */
const pressingMails = 8;
const whileMs = 50;

/** Returns the counter of received mail that detects bursts. The process has a single counter. */
export const mailIntakeOf = perApp(({ clock }: App): Intake => {
  let pressedAt = Number.NEGATIVE_INFINITY;
  let countedFrom = Number.NEGATIVE_INFINITY;
  let counted = 0;
  return {
    took(mails) {
      const now = clock.elapsed();
      if (now - countedFrom >= whileMs) {
        countedFrom = now;
        counted = 0;
      }
      counted += mails;
      if (counted >= pressingMails) pressedAt = now;
    },
    isPressing: () => clock.elapsed() - pressedAt < 2 * whileMs,
  };
});
