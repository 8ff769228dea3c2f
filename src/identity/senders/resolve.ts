// Decides which From addresses mail may have, inside the accept transaction of every send. Each
// send takes two prepared statements; a third reads the owner of a domain that is not verified
// here. senders.ts has the resource.

import { findFirstOrganization } from '../../access/organizations/queries.ts';
import { ConflictError, ForbiddenError } from '../../platform/errors.ts';
import { domainOf, foldAddress } from '../../platform/net/address.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { findOwner } from '../domains/owners.ts';
import { findSendingDomain, isLocalDomain } from '../domains/queries.ts';
import { findDefaultSender, findSenderByEmail, type SenderRow } from './queries.ts';

/** The `from` of a send, the address in the normal form of src/platform/net/address.ts. */
export interface FromAddress {
  email: string;
  /** An empty name omits the name. If left out, the name of the sender is used. */
  name?: string | null | undefined;
}

export interface ResolvedSender {
  /** Id of the sender identity; null for an address that is not a sender identity. */
  id: string | null;
  email: string;
  name: string | null;
  /** Domain with the signing keys; null for a verified address on a domain that is not ours. */
  domainId: string | null;
  /**
   * Set for a domain that is known only on this machine, so that mail from it may not leave the
   * machine.
   */
  isLocal: boolean;
  /** Default addresses for mail without a Reply-To. */
  replyToEmails: string[] | null;
}

/** A mailbox address of the organization on the hosted domain, which all organizations share. */
export interface HostedSender {
  domainId: string | null;
  isPaused: boolean;
}

/**
 * Finds the mailbox of an organization on the hosted domain by the folded address. Called only for
 * a domain of another organization. A parameter, because the mailboxes area imports this area.
 */
export type FindHostedSender = (
  db: Db,
  organizationId: string,
  address: string,
) => Promise<HostedSender | undefined>;

const noneHosted: FindHostedSender = async () => undefined;

/**
 * Returns the sender of a message: `from`, or the organization's default sender. Allows every
 * address of a verified domain, except inactive senders; a verified sender on a domain that no
 * organization has verified; and an address that `findHosted` finds on the hosted domain.
 * @throws ForbiddenError that names the address, the domain and the remedy; ConflictError if the
 * mailbox of the address is paused.
 */
export async function resolveSender(
  db: Db,
  organizationId: string,
  from: FromAddress | undefined,
  findHosted = noneHosted,
): Promise<ResolvedSender> {
  const sender = from
    ? await findSenderByEmail(db, organizationId, foldAddress(from.email))
    : await findDefaultSender(db, organizationId);
  const email = from?.email ?? sender?.email;
  if (email === undefined) throw noDefaultSender();
  const domainName = domainOf(email);
  const domain = await findSendingDomain(db, organizationId, domainName);
  if (sender?.is_active === 0) throw inactive(sender);
  const isOwn = domain?.status === 'verified';
  const owner = isOwn ? undefined : await findOwner(db, domainName);
  const isVerified = isOwn || (!owner && (sender?.verified_at ?? null) !== null);
  const found = owner && (await findHosted(db, organizationId, foldAddress(email)));
  const hosted = found?.domainId === owner?.id ? found : undefined;
  if (!isVerified && !hosted) throw unverified(email, domainName, domain);
  if (hosted?.isPaused)
    throw new ConflictError('mailbox', `${email} may not send: ${pausedMailbox}`);
  const domainId = hosted ? hosted.domainId : (domain?.id ?? null);
  const isOfOther = domainId !== null && domainId !== domain?.id;
  return {
    id: sender?.id ?? null,
    email,
    name: (from?.name ?? sender?.name) || null,
    domainId,
    isLocal: isOfOther ? await isLocalDomain(db, domainId) : domain?.is_local === 1,
    replyToEmails: fromJson<string[]>(sender?.reply_to_emails ?? null),
  };
}

/** Reason why a sender may not send now. */
type Refused = ForbiddenError | ConflictError;

/**
 * Returns the sender of mail that the service writes: `from` or the default sender of the first
 * organization, without id and Reply-To. Thereby an answer, which may quote the mail, never goes to
 * the organization that caused the mail. @throws ConflictError without a sender that may send.
 */
async function resolveServiceSender(
  db: Db,
  from: FromAddress | undefined,
  findHosted = noneHosted,
): Promise<ResolvedSender> {
  const first = await findFirstOrganization(db);
  if (!first) throw new ConflictError('sender', noServiceSender);
  try {
    const sender = await resolveSender(db, first.id, from, findHosted);
    return { ...sender, id: null, replyToEmails: null };
  } catch (error) {
    if (!(error instanceof ForbiddenError || error instanceof ConflictError)) throw error;
    throw new ConflictError('sender', noServiceSender);
  }
}

const noServiceSender =
  'no sender of this service can mail it: its operator gives the first organization a default sender of a verified ' +
  'domain (`svc domains verify`, then `svc senders create --default`)';

/**
 * From address to resolve. If `onBehalfOf` is a string, the service writes the mail, and the first
 * organization gives the sender.
 */
interface SenderQuestion {
  organizationId: string;
  from: FromAddress | undefined;
  onBehalfOf?: string | null;
}

/**
 * Resolves the senders of a batch, in order. Equal questions are resolved once. A refusal is
 * returned, not thrown.
 */
export async function resolveSenders(
  db: Db,
  requests: readonly SenderQuestion[],
  findHosted = noneHosted,
): Promise<(ResolvedSender | Refused)[]> {
  const known = new Map<string, ResolvedSender | Refused>();
  const resolved: (ResolvedSender | Refused)[] = [];
  for (const { organizationId, from, onBehalfOf } of requests) {
    const isOfService = typeof onBehalfOf === 'string';
    const asker = isOfService ? 'service' : organizationId;
    const question = JSON.stringify([asker, from?.email, from?.name]);
    let answer = known.get(question);
    if (!answer) {
      const asked = isOfService
        ? resolveServiceSender(db, from, findHosted)
        : resolveSender(db, organizationId, from, findHosted);
      answer = await asked.catch((error: unknown) => {
        if (error instanceof ForbiddenError || error instanceof ConflictError) return error;
        throw error;
      });
      known.set(question, answer);
    }
    resolved.push(answer);
  }
  return resolved;
}

const pausedMailbox =
  'its mailbox is paused. Resume it (svc mailboxes resume), or use another from.email';

function noDefaultSender(): ForbiddenError {
  return new ForbiddenError(
    'There is no default sender: give from.email, or create one with `svc senders create ' +
      '--email ADDRESS --default`',
  );
}

function inactive({ email, id }: SenderRow): ForbiddenError {
  return new ForbiddenError(
    `${email} may not send: this sender is inactive. Set isActive on sender ${id}, ` +
      'or use another from.email',
  );
}

function unverified(
  email: string,
  domainName: string,
  domain: { id: string; status: string } | undefined,
): ForbiddenError {
  const remedy = domain
    ? `its domain ${domainName} is not verified (${domain.status}). Publish its records (\`svc domains dns ${domain.id}\`), then run \`svc domains verify ${domain.id}\``
    : `${domainName} is not a domain of this organization. Add it (\`svc domains add ` +
      `${domainName}\`) and publish the records that it shows`;
  return new ForbiddenError(`${email} may not send: ${remedy}`);
}
