// How hard mail that comes in presses. A burst is stored and answered first, and parsed after it
// (projector.ts): unlike sends, mails come one by one, so they are counted over a while, not by commit.
import type { App } from '../app.ts';
import type { Intake } from '../queue/intake.ts';
import { perApp } from '../runtime/per-app.ts';

/** So many within `whileMs` are a burst; fewer leave the cores enough for both. */
const pressingMails = 8;
const whileMs = 50;

/** The intake of mail of this process. */
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
