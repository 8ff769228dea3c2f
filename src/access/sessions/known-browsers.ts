// Browsers in which a person signed in before. A browser has a long-lived cookie with a random
// token. The store has a hash of token and person, and so does not reveal that two persons share a
// browser.
import type { App } from '../../core/app.ts';
import { hashOfToken } from '../../platform/runtime/tokens.ts';
import type { Db } from '../../platform/store/db.ts';
import { countBrowsers, findKnownBrowser, putKnownBrowser } from './link-queries.ts';

const hashFor = (personId: string, token: string) => hashOfToken(`${personId} ${token}`);

/** Returns the hash of a browser in which the person signed in before; null for a new browser. */
export async function knownBrowser(
  db: Db,
  personId: string,
  token: string | null,
): Promise<string | null> {
  if (token === null) return null;
  const hash = hashFor(personId, token);
  return (await findKnownBrowser(db, hash)) ? hash : null;
}

/**
 * Remembers the browser of a sign-in. Returns true if the browser is new, and the person has signed
 * in from a different browser before.
 */
export async function rememberBrowser(
  app: App,
  trx: Db,
  personId: string,
  token: string,
): Promise<boolean> {
  const hash = hashFor(personId, token);
  const isKnown = (await findKnownBrowser(trx, hash)) !== undefined;
  const earlier = await countBrowsers(trx, personId);
  await putKnownBrowser(trx, { hash, person_id: personId, last_at: app.clock.now() });
  return !isKnown && earlier > 0;
}
