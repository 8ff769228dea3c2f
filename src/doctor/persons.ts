// Mail to persons: whether it can leave, and the members whose address gets no link to sign in.
import { hasPersons, selectActiveMembers } from '../access/members/queries.ts';
import { providerDoubt, providerOf } from '../access/single-sign-on/provider.ts';
import type { App } from '../core/app.ts';
import { doesMailLeave } from '../core/config/problems.ts';
import { refusedSenderOfService } from '../outbound/sending/people/mail-as-service.ts';
import { refusedToken } from '../outbound/sending/people/token-recipients.ts';
import { type Check, ok, skipped, warn } from './finding.ts';

const mostMembers = 1_000;
const mostNamed = 5;

/**
 * Returns a warning if sign-in links and invitations cannot be mailed. Null if they can, if the
 * configuration mails none, or if there are no persons and `console.signIn.from` is not set.
 */
export async function personMailDoubt(app: App): Promise<string | null> {
  const { config, store } = app;
  const { link, from } = config.console.signIn;
  if (!config.console.enabled || !link || !doesMailLeave(config.delivery)) return null;
  if (from === null && !(await hasPersons(store.db))) return null;
  const refused = await refusedSenderOfService(app, store.db);
  return refused && `no link to sign in and no invitation can be mailed: ${refused}`;
}

/** Returns the addresses of members that get no link by mail, at most `mostNamed`. */
async function unreached(app: App): Promise<string[]> {
  const { db } = app.store;
  const found = new Set<string>();
  const members = await selectActiveMembers(db, mostMembers);
  const places = Map.groupBy(members, ({ person_id }) => person_id);
  for (const [row, ...more] of places.values()) {
    if (!row || found.size >= mostNamed) break;
    const organizationIds = [row, ...more].map(({ organization_id }) => organization_id);
    if (await refusedToken(app, db, row.email, organizationIds)) found.add(row.email);
  }
  return [...found];
}

export const personChecks: readonly Check[] = [
  {
    name: 'single-sign-on',
    async look({ app }) {
      const settings = providerOf(app);
      if (!settings) return skipped('console.signIn.oidc has no issuer');
      const doubt = await providerDoubt(app, settings);
      if (doubt === null) return ok(`${settings.issuer} answers`);
      return warn(doubt, 'Nobody signs in by the provider until it answers: see the issuer.');
    },
  },
  {
    name: 'people',
    async look({ app }) {
      const doubt = await personMailDoubt(app);
      if (doubt !== null) {
        const remedy = 'Set console.signIn.from to a verified address of the first organization.';
        return warn(doubt, remedy, 'svc senders list');
      }
      if (!(await hasPersons(app.store.db))) return skipped('there are no members yet');
      if (!app.config.console.signIn.link) return skipped('console.signIn.link is off');
      const addresses = await unreached(app);
      if (addresses.length === 0) return ok('every member can get a link by mail');
      return warn(
        `this service receives the mail of ${addresses.join(', ')}, or another organization has the domain: ` +
          'they get no link to sign in',
        'Let them add a passkey, or make a link for them.',
        'svc members link EMAIL',
      );
    },
  },
];
