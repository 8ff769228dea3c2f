// The change of a person's address. The caller has a fresh proof of the person.
//
//   state   | event                              | state   | effect
//   --------+------------------------------------+---------+------------------------------------
//   settled | asked                              | asked   | links to the new and the old address
//   asked   | asked again                        | asked   | the earlier links end
//   asked   | the button behind the new address  | moved   | the person has the new address
//   asked   | the button behind the old address  | settled | all sessions end
//   moved   | that button, within 7 days         | settled | the old address, all sessions end
//   moved   | asked, within 7 days               | moved   | refused
//   moved   | 7 days passed                      | settled |
import type { App } from '../../core/app.ts';
import { ConflictError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import { recordOfPerson } from '../members/persons.ts';
import {
  findMemberByEmail,
  findPersonByEmail,
  moveAddress,
  type PersonRow,
  selectPlaces,
  updatePerson,
} from '../members/queries.ts';
import { deleteLinksForPurpose, deleteLinksOfPerson } from './link-queries.ts';
import { deleteSessionsOfPerson } from './queries.ts';

const takeBackMs = 7 * 24 * 3_600_000;

/**
 * Begins a change of address; the links of an earlier request end.
 * @throws ConflictError within 7 days of the last change
 */
export async function beginAddressChange(
  app: App,
  trx: Db,
  { id, moved_at }: PersonRow,
  email: string,
): Promise<void> {
  const now = app.clock.now();
  if (moved_at !== null && now - moved_at < takeBackMs) {
    const until = isoTime(moved_at + takeBackMs);
    throw new ConflictError(
      'address',
      `it changed a short time ago: change it again after ${until}`,
    );
  }
  await deleteLinksForPurpose(trx, id, 'address');
  await deleteLinksForPurpose(trx, id, 'take-back');
  await updatePerson(trx, id, { new_email: email, former_email: null, moved_at: null });
}

/**
 * Tells whether a person may get an address: no person has it, and no member or invitation in an
 * organization of the person.
 */
async function isFree(db: Db, personId: string, email: string): Promise<boolean> {
  if (await findPersonByEmail(db, email)) return false;
  for (const { organization_id } of await selectPlaces(db, personId)) {
    if (await findMemberByEmail(db, organization_id, email)) return false;
  }
  return true;
}

/** Gives a person the new address. Returns false if it was not asked for, or is taken. */
export async function moveToNewAddress(
  app: App,
  trx: Db,
  person: PersonRow,
  email: string,
): Promise<boolean> {
  const { id, new_email, email: former_email } = person;
  if (new_email !== email || !(await isFree(trx, id, email))) return false;
  const change = { email, new_email: null, former_email, moved_at: app.clock.now() };
  await updatePerson(trx, id, change);
  await moveAddress(trx, id, email);
  for (const purpose of ['sign-in', 'proof'] as const) {
    await deleteLinksForPurpose(trx, id, purpose);
  }
  await recordOfPerson(app, trx, id, { action: 'member.address-changed' });
  return true;
}

/**
 * Stops a requested change of address, or restores the old address within 7 days if it is free.
 * Ends all sessions and links of the person.
 */
export async function takeBackAddress(app: App, trx: Db, person: PersonRow): Promise<void> {
  const { id, former_email: former, moved_at } = person;
  const isLate = moved_at === null || app.clock.now() - moved_at >= takeBackMs;
  await updatePerson(trx, id, { new_email: null });
  if (former !== null && !isLate && (await isFree(trx, id, former))) {
    await updatePerson(trx, id, { email: former, former_email: null, moved_at: null });
    await moveAddress(trx, id, former);
  }
  await deleteSessionsOfPerson(trx, id);
  await deleteLinksOfPerson(trx, id);
  await recordOfPerson(app, trx, id, { action: 'member.address-taken-back' });
}
