// The SMTP transactions in which this daemon delivers its own mail to its own listener. Every
// recipient of a mail can read the return path, so the token in it does not prove the sender. The
// token counts only while the named delivery is in flight, and only for the recipients of that
// transaction.
import type { App } from '../../../core/app.ts';
import { perApp } from '../../../platform/runtime/per-app.ts';
import { readReturnPath } from './return-path.ts';

/** Recipients by the delivery that the return path names. Each daemon has a separate map. */
const underWay = perApp((_app: App) => new Map<string, ReadonlySet<string>>());

/**
 * Begins a transaction with a return path that names `deliveryId`. It lasts until `ended` settles.
 */
export function beginOwnTransaction(
  app: App,
  deliveryId: string,
  recipients: readonly string[],
  ended: Promise<unknown>,
): void {
  const all = underWay(app);
  const own = new Set(recipients);
  all.set(deliveryId, own);
  // Keeps the entry of a later attempt for the same delivery.
  const end = () => all.get(deliveryId) === own && all.delete(deliveryId);
  ended.then(end, end);
}

/** Tells whether a transaction of the listener is our own. */
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
