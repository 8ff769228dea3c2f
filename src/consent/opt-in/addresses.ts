// Mails to confirm by address. The bounds of a group (limits.ts) begin anew with each group, with a
// contact that is deleted and made again, and with each organization: together they would let a
// caller flood a stranger, outside of the quota. Each daemon counts its own mails, and forgets them
// when it ends.
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { recentlyUsed } from '../../platform/runtime/recently-used.ts';

/** Mails to an address in a day, of all organizations. */
const mostADay = 10;
const dayMs = 24 * 3_600_000;
/** Addresses that are remembered: the addresses mailed last. */
const mostKept = 100_000;

/** Times of mails, by folded address. */
const mailTimes = perApp((_app: App) => recentlyUsed<number[]>(mostKept));

/** Takes a place for a mail to an address; false without a place. `address` is by `foldAddress`. */
export function takeMail(app: App, address: string, now: number): boolean {
  const times = mailTimes(app);
  // A clock that was set back forgets the later mails.
  const recent = (times.get(address) ?? []).filter((at) => Math.abs(now - at) < dayMs);
  if (recent.length >= mostADay) return false;
  times.set(address, [...recent, now]);
  return true;
}
