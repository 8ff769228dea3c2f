// Limits the confirmation mails to an address. The limits of a group (limits.ts) start again with
// each group, with a contact that is deleted and created again, and with each organization. Without
// a limit by address, a caller could flood a person by such changes. Each daemon counts only the
// mails that it sends, and forgets them when it ends.
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { recentlyUsed } from '../../platform/runtime/recently-used.ts';

/** Most mails to an address in a day, over all organizations. */
const mostADay = 10;
const dayMs = 24 * 3_600_000;
/** Most addresses remembered: the addresses mailed last. */
const mostKept = 100_000;

/** Times of mails, by folded address. */
const mailTimes = perApp((_app: App) => recentlyUsed<number[]>(mostKept));

/** Counts a mail to an address (as from `foldAddress`). Returns false beyond `mostADay`. */
export function takeMail(app: App, address: string, now: number): boolean {
  const times = mailTimes(app);
  // If the clock was set back, mails more than a day ahead are ignored.
  const recent = (times.get(address) ?? []).filter((at) => Math.abs(now - at) < dayMs);
  if (recent.length >= mostADay) return false;
  times.set(address, [...recent, now]);
  return true;
}
