// Addresses that get no mail with a token. A reader of the mailbox of such an address here could
// sign in as the person. Checked again for each mail, because mailboxes and domains change.
//
//   the address                                    | a token is mailed to it
//   -----------------------------------------------+----------------------------------------
//   has a mailbox or a catch-all of this daemon    | never
//   is on mailboxes.hostedDomain                   | never
//   is on a domain that an organization verified   | for members of this organization
//   any further domain                             | yes
import type { App } from '../../../core/app.ts';
import { findOwner } from '../../../identity/domains/owners.ts';
import { isLocalAddress } from '../../../identity/mailboxes/receivers.ts';
import { domainOf } from '../../../platform/net/address.ts';
import type { Db } from '../../../platform/store/db.ts';

/**
 * Returns the reason that an address gets no mail with a token; null if it may get the mail.
 * `organizationIds`: organizations that may own the domain of the address, which are the inviting
 * organization, or all organizations of the person.
 */
export async function refusedToken(
  { config }: App,
  db: Db,
  email: string,
  organizationIds: readonly string[],
): Promise<string | null> {
  const domain = domainOf(email);
  const isHosted = domain === config.mailboxes.hostedDomain;
  if (isHosted || (await isLocalAddress(db, email))) {
    return 'is received by this service, so who reads that mailbox here could sign in as this person';
  }
  const owner = await findOwner(db, domain);
  if (!owner || organizationIds.includes(owner.organization_id)) return null;
  return `is on ${domain}, which another organization of this service has verified`;
}
