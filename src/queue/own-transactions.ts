// The SMTP transactions in which this daemon hands mail of ours to its own listener. A return path is
// known to everybody who ever got mail with it, so that its token alone says nothing of who sends: it
// counts while the delivery that it names is under way, and to those recipients alone.
import type { App } from '../app.ts';
import { perApp } from '../runtime/per-app.ts';
import { readReturnPath } from './return-path.ts';

/** Recipients by the delivery that the return path names; several daemons each have their own. */
const underWay = perApp((_app: App) => new Map<string, ReadonlySet<string>>());

/** Begins one, whose return path names `deliveryId`; it lasts until `ended` settles. */
export function beginOwnTransaction(
  app: App,
  deliveryId: string,
  recipients: readonly string[],
  ended: Promise<unknown>,
): void {
  const all = underWay(app);
  const own = new Set(recipients);
  all.set(deliveryId, own);
  // A later attempt for the same delivery has its own.
  const end = () => all.get(deliveryId) === own && all.delete(deliveryId);
  ended.then(end, end);
}

/** Whether a transaction that the listener serves is one of these. */
export function isOwnTransaction(
  app: App,
  returnPath: string,
  recipients: readonly string[],
): boolean {
  const known = underWay(app);
  if (known.size === 0) return false;
  const deliveryId = readReturnPath(app, returnPath)?.deliveryId;
  const own = deliveryId === undefined ? undefined : known.get(deliveryId);
  return own !== undefined && recipients.every((recipient) => own.has(recipient));
}
