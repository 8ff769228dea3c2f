// Challenges of passkeys: random, and signed over browser, purpose, person and time. So an unused
// challenge needs no row: only used challenges are stored.
import { createHash } from 'node:crypto';
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import { deleteUsedChallenges } from './queries.ts';

const liveMs = 5 * 60_000;
const nonceBytes = 16;
const digestCharacters = 32;
const tokenPurpose = 'passkey challenge';

/** Reasons to ask for a passkey: a sign-in, a fresh proof within a session, or a new passkey. */
export type PasskeyPurpose = 'sign-in' | 'proof' | 'add';

/** Context to which a challenge is bound. */
export interface Asking {
  purpose: PasskeyPurpose;
  /** Secret that only the asking browser has: the token of a cookie. */
  browser: string;
  /** Null at a sign-in: the passkey names the person. */
  personId: string | null;
}

function digestOf({ purpose, browser, personId }: Asking): string {
  const text = JSON.stringify([purpose, browser, personId]);
  return createHash('sha256').update(text).digest('hex').slice(0, digestCharacters);
}

/** Returns a new challenge, bound to `asking` and to the present time. */
export function newChallenge({ clock, random, secrets }: App, asking: Asking): string {
  const now = clock.now();
  const nonce = Buffer.from(random.bytes(nonceBytes)).toString('hex');
  return secrets.token(tokenPurpose, `${now}_${nonce}_${digestOf(asking)}`, now);
}

function timeOf(payload: string): number {
  return Number(payload.split('_', 1)[0]);
}

/**
 * Returns `right` for a challenge of this context, `old` for such a challenge after 5 minutes, and
 * `foreign` for any different text.
 */
export function checkChallenge(
  { clock, secrets }: App,
  challenge: string,
  asking: Asking,
): 'right' | 'old' | 'foreign' {
  const within = (payload: string) => ({ from: timeOf(payload), until: timeOf(payload) });
  const payload = secrets.verifyToken(tokenPurpose, challenge, { timeOf: within });
  if (payload?.split('_')[2] !== digestOf(asking)) return 'foreign';
  // After the clock was set back, challenges of the future do not live longer.
  return Math.abs(clock.now() - timeOf(payload)) < liveMs ? 'right' : 'old';
}

const swept = 1_000;

/** Deletes used challenges that would be too old by now; for the scheduler. */
export async function sweepChallenges(app: App): Promise<void> {
  const before = await timeOfAge(app, 2 * liveMs);
  for (let count = swept; count === swept; ) {
    count = await app.store.write((trx) => deleteUsedChallenges(trx, before, swept), 'quiet');
  }
}
