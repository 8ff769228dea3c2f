// Browsers in which a person signed in before. A browser has a long-lived cookie with a random
// token; the store has a hash of token and person, so it shows no two persons at one browser.
import type { App } from '../../core/app.ts';
import { hashOfToken } from '../../platform/runtime/tokens.ts';
import type { Db } from '../../platform/store/db.ts';
import { countBrowsers, findKnownBrowser, putKnownBrowser } from './link-queries.ts';

const hashFor = (personId: string, token: string) => hashOfToken(`${personId} ${token}`);

/** Returns the hash of a browser in which the person signed in before; null for any other. */
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
 * Remembers the browser of a sign-in. Returns whether it is new to a person who signed in from
 * other browsers before.
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
