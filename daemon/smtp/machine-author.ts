// The author of a submitted mail that names a user of the client's machine, such as
// `root@localhost` of Django's SERVER_EMAIL. As with sendmail, the default sender takes that place.
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { findSendingDomain } from '../../src/identity/domains/queries.ts';
import { findDefaultSender, findSenderByEmail } from '../../src/identity/senders/queries.ts';
import { completeAuthor } from '../../src/outbound/sending/hand-in/piped-mail.ts';
import { foldAddress } from '../../src/platform/net/address.ts';

/** A mail with a permitted author. */
export interface AuthoredMail {
  raw: Buffer;
  /** From as it was submitted, if the default sender took its place; else null. */
  replacedFrom: string | null;
}

/**
 * Replaces a From without a domain, of `localhost` or of the name that the client gave in EHLO. A
 * name that is a sending domain of the organization, or the domain of a sender, stays.
 * @throws ForbiddenError without a default sender
 */
export async function withMachineAuthor(
  app: App,
  { organizationId }: Caller,
  raw: Buffer,
  clientName: string,
): Promise<AuthoredMail> {
  const { db } = app.store;
  const name = clientName.toLowerCase().replace(/\.$/, '');
  const isOwn = (await findSendingDomain(db, organizationId, name)) !== undefined;
  const sender = (await findDefaultSender(db, organizationId)) ?? null;
  const found = completeAuthor(raw, isOwn ? [] : [name], sender);
  if (found === null) return { raw, replacedFrom: null };
  const { email } = found;
  const known =
    email === null ? undefined : await findSenderByEmail(db, organizationId, foldAddress(email));
  return known ? { raw, replacedFrom: null } : { raw: found.complete(), replacedFrom: found.from };
}
