// Passkeys for a former host of the service: browsers offer a passkey only to the host for which
// the passkey was made.
import { findPerson, selectPlaces } from '../access/members/queries.ts';
import { findOrganizations } from '../access/organizations/queries.ts';
import { countByHost, selectLeftBehind } from '../access/passkeys/queries.ts';
import { passkeySite } from '../access/passkeys/site.ts';
import type { App } from '../core/app.ts';
import { refusedToken } from '../outbound/sending/people/token-recipients.ts';
import { type Check, ok, skipped, warn } from './finding.ts';

const mostPersons = 1_000;

/** Tells whether a person can sign in without a passkey: by the provider, or by a mailed link. */
async function hasOtherWay(app: App, personId: string): Promise<boolean> {
  const { db } = app.store;
  const { link, oidc } = app.config.console.signIn;
  const person = await findPerson(db, personId);
  if (!person) return true;
  if (oidc.issuer !== null && person.oidc_issuer === oidc.issuer) return true;
  if (!link) return false;
  const places = await selectPlaces(db, personId);
  const active = places.filter(({ status }) => status === 'active');
  const ids = active.map(({ organization_id }) => organization_id);
  if ((await refusedToken(app, db, person.email, ids)) !== null) return false;
  const organizations = await findOrganizations(db, ids);
  return organizations.some(({ sign_in }) => sign_in !== 'strong');
}

/** Returns a warning about passkeys of a different host; null if none, or if passkeys are off. */
export async function leftBehindDoubt(app: App): Promise<string | null> {
  const { db } = app.store;
  if (!app.config.console.signIn.passkeys) return null;
  const rpId = passkeySite(app)?.rpId ?? '';
  const away = (await countByHost(db)).filter(({ rp_id }) => rp_id !== rpId);
  if (away.length === 0) return null;
  const count = away.reduce((sum, one) => sum + Number(one.count), 0);
  const persons = await selectLeftBehind(db, rpId, mostPersons);
  let lost = 0;
  for (const person of persons) if (!(await hasOtherWay(app, person))) lost += 1;
  const hosts = away.map(({ rp_id }) => rp_id).slice(0, 3);
  const here = rpId === '' ? 'has none of its own' : `is ${rpId}`;
  return (
    `browsers offer ${count} passkeys for ${hosts.join(', ')} alone, and this service ${here} ` +
    `(http.publicUrl). People with no other way in: ${lost}`
  );
}

export const passkeyChecks: readonly Check[] = [
  {
    name: 'passkeys',
    async look({ app }) {
      const doubt = await leftBehindDoubt(app);
      if (doubt !== null) {
        const remedy =
          'Set http.publicUrl back, or give each of these people a new start by a mailed link.';
        return warn(doubt, remedy, 'svc members reset EMAIL');
      }
      if (!app.config.console.signIn.passkeys) return skipped('console.signIn.passkeys is off');
      const [counted] = await countByHost(app.store.db);
      if (!counted) return skipped('there is no passkey yet');
      return ok(`every passkey is for ${counted.rp_id}`);
    },
  },
];
