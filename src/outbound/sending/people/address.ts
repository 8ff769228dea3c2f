// Asks for a change of a person's address (states: src/access/sessions/address-change.ts). The
// caller has a fresh proof of the person. An address of a different person gets the same answer,
// but the link then changes nothing.
import { normalAddress } from '../../../access/members/address.ts';
import { placesOf } from '../../../access/members/persons.ts';
import { findPerson } from '../../../access/members/queries.ts';
import { beginAddressChange } from '../../../access/sessions/address-change.ts';
import { setLinkMail } from '../../../access/sessions/link-queries.ts';
import { countMail, invitationLimits } from '../../../access/sessions/mail-limits.ts';
import { makeMailedLink } from '../../../access/sessions/mailed-links.ts';
import type { App } from '../../../core/app.ts';
import { linkPath } from '../../../core/link-pages/person-links.ts';
import { ResourceNotFoundError, ValidationError } from '../../../platform/errors.ts';
import { mailAsService } from './mail-as-service.ts';
import { refusedToken } from './token-recipients.ts';
import { mailWarning } from './warnings.ts';
import { type Asker, askerWords, hostOf, tooManyMails } from './words.ts';

/** Request of a person for a new address. */
export interface AddressWish extends Asker {
  personId: string;
  /** The new address as it was typed. */
  email: string;
}

/**
 * Mails a link to the new address of a person, and a warning to the present address.
 * @throws ValidationError on `email`; ConflictError within 7 days of the last change;
 * RateLimitedError after five mails to the address in a day; the refusal of the mail
 */
export async function askForAddress(app: App, wish: AddressWish): Promise<void> {
  const { personId, browser, address } = wish;
  const email = normalAddress(wish.email);
  if (email === null) {
    throw ValidationError.of('email', 'is not an address with ASCII letters before the @');
  }
  const asker = { browser, address };
  await app.store.write(async (trx) => {
    const person = await findPerson(trx, personId);
    if (!person) throw new ResourceNotFoundError('person', personId);
    if (person.email === email) throw ValidationError.of('email', 'is your address already');
    const organizationIds = (await placesOf(trx, personId)).map((place) => place.organization_id);
    const refused = await refusedToken(app, trx, email, organizationIds);
    if (refused) throw ValidationError.of('email', `${refused}: choose another address`);
    await beginAddressChange(app, trx, person, email);
    const waitMs = await countMail(trx, invitationLimits(email), app.clock.now());
    if (waitMs !== null) throw tooManyMails(email, waitMs);
    const link = { personId, purpose: 'address', email, ...asker } as const;
    const { hash } = await makeMailedLink(app, trx, link, true);
    const words = {
      subject: `Your new address at ${hostOf(app)}`,
      opening: `Somebody wants to sign in at ${hostOf(app)} with the address ${email} in future.`,
      purpose: 'confirm it',
      button: 'Use this address',
      closing: 'The link works once, for 15 minutes. If you did not ask for it, do nothing.',
    };
    const mail = { to: email, words, path: linkPath, isShort: true } as const;
    await setLinkMail(trx, hash, await mailAsService(app, trx, mail));
    const warning = {
      subject: `Your address at ${hostOf(app)} is to change`,
      opening: `The account ${person.email} is to get another address. It was asked for here: ${askerWords(app, asker)}.`,
      purpose: 'stop the change or take it back, and end all sessions',
      button: 'It was not me',
      closing: 'The link works for 7 days, after the change too. If it was you, do nothing.',
    };
    await mailWarning(app, trx, person, { purpose: 'take-back', asker, words: warning });
  });
}
