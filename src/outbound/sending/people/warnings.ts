// Mails that warn a person of a change in the account. A warning that cannot be mailed is logged,
// and the change stays. A warning has a link only if its address may get a token.
import { placesOf } from '../../../access/members/persons.ts';
import { findPerson, type PersonRow, selectActiveOwners } from '../../../access/members/queries.ts';
import type { WarnPerson } from '../../../access/sessions/hooks.ts';
import { rememberBrowser } from '../../../access/sessions/known-browsers.ts';
import { type LinkPurpose, setLinkMail } from '../../../access/sessions/link-queries.ts';
import { makeMailedLink } from '../../../access/sessions/mailed-links.ts';
import type { App } from '../../../core/app.ts';
import { linkPath } from '../../../core/link-pages/person-links.ts';
import type { Db } from '../../../platform/store/db.ts';
import type { ServiceWords } from '../service-mail.ts';
import { mailAsService, unlessRefused } from './mail-as-service.ts';
import { refusedToken } from './token-recipients.ts';
import { type Asker, askerWords, hostOf } from './words.ts';

const what = 'a warning to a person';
const mostOwners = 20;

/** Mails a warning, with a link for `purpose` if the address may get one. */
export async function mailWarning(
  app: App,
  trx: Db,
  { id: personId, email }: PersonRow,
  { purpose, asker, words }: { purpose: LinkPurpose; asker: Asker; words: ServiceWords },
): Promise<void> {
  const places = await placesOf(trx, personId);
  const organizationIds = places.map((place) => place.organization_id);
  if (await refusedToken(app, trx, email, organizationIds)) {
    await unlessRefused(app, what, mailAsService(app, trx, { to: email, words, path: null }));
    return;
  }
  const made = { personId, purpose, email, ...asker };
  const { hash } = await makeMailedLink(app, trx, made, true);
  const mailed = mailAsService(app, trx, { to: email, words, path: linkPath });
  const messageId = await unlessRefused(app, what, mailed);
  if (messageId !== null) await setLinkMail(trx, hash, messageId);
}

/** A sign-in in a browser. */
interface SignedIn extends Asker {
  personId: string;
  /** Token of the long-lived cookie of the browser. */
  browserToken: string;
}

/** Remembers the browser of a sign-in, and mails a warning to the person if it is new. */
export async function greetBrowser(app: App, signedIn: SignedIn): Promise<void> {
  const { personId, browserToken, browser, address } = signedIn;
  await app.store.write(async (trx) => {
    const isNew = await rememberBrowser(app, trx, personId, browserToken);
    const person = isNew ? await findPerson(trx, personId) : undefined;
    if (!person) return;
    const asker = { browser, address };
    const words = {
      subject: `New sign-in at ${hostOf(app)}`,
      opening: `${person.email} signed in from a new browser: ${askerWords(app, asker)}.`,
      purpose: 'end all sessions',
      button: 'It was not me',
      closing: 'If it was you, there is nothing to do. The link works for 7 days.',
    };
    await mailWarning(app, trx, person, { purpose: 'end-sessions', asker, words });
  });
}

/** Phrase of the mail for each change by the operator. */
const changes = {
  link: 'made a link that signs in as',
  reset: 'ended the passkeys, the binding and all sessions of',
};

/**
 * Warns a person of a change by the operator. If the operator made a sign-in link, also warns up to
 * 20 active owners of each organization in which the person is active.
 */
export const warnPerson: WarnPerson = async (app, trx, personId, change) => {
  const person = await findPerson(trx, personId);
  if (!person) return;
  const addresses = new Set([person.email]);
  for (const { organization_id, status } of await placesOf(trx, personId)) {
    if (change !== 'link' || status !== 'active') continue;
    for (const { email } of await selectActiveOwners(trx, organization_id, mostOwners)) {
      addresses.add(email);
    }
  }
  const words = {
    subject: `The operator of ${hostOf(app)} changed an account`,
    opening: `The operator of ${hostOf(app)} ${changes[change]} ${person.email}.`,
    closing: 'If nobody expected it, ask the operator of this service.',
  };
  for (const to of addresses) {
    await unlessRefused(app, what, mailAsService(app, trx, { to, words, path: null }));
  }
};
