// Decides whether a person may add a passkey. In an organization with `signIn: strong` only a
// passkey or the provider opens the console. A mailed link must not get around that by a new
// passkey, so:
//
//   fresh proof       | person                                              | may add
//   ------------------+-----------------------------------------------------+----------
//   passkey, provider | any                                                 | yes
//   mailed link       | member of no such organization                      | yes
//   mailed link       | got a new start from the operator within 7 days     | one
//   mailed link       | joined each such organization within 7 days         | the first
//   mailed link       | anybody else                                        | no
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';
import { findPerson, selectPlaces } from '../members/queries.ts';
import { findOrganizations } from '../organizations/queries.ts';
import { personsWithPasskey } from './queries.ts';

const startMs = 7 * 24 * 3_600_000;

/** Tells whether a person with a fresh proof may add a passkey now. */
export async function mayAddPasskey(
  { clock }: Pick<App, 'clock'>,
  db: Db,
  { personId, isStronglyProven }: { personId: string; isStronglyProven: boolean },
): Promise<boolean> {
  if (isStronglyProven) return true;
  const isRecent = (at: number | null) => at !== null && Math.abs(clock.now() - at) < startMs;
  // Disabled members count: they may be enabled again.
  const places = await selectPlaces(db, personId);
  const organizations = await findOrganizations(
    db,
    places.map(({ organization_id }) => organization_id),
  );
  const strong = new Set(
    organizations.filter(({ sign_in }) => sign_in === 'strong').map(({ id }) => id),
  );
  if (strong.size === 0) return true;
  const person = await findPerson(db, personId);
  if (isRecent(person?.new_start_at ?? null)) return true;
  if ((await personsWithPasskey(db, [personId])).size > 0) return false;
  return places.every(
    ({ organization_id, accepted_at }) => !strong.has(organization_id) || isRecent(accepted_at),
  );
}
