// Who mail may come from: asked inside the accept transaction for every send,
// so two prepared statements each and nothing else. The resource itself is senders.ts.

import { findSendingDomain } from '../domains/queries.ts';
import { ForbiddenError } from '../errors.ts';
import { domainOf, foldAddress } from '../net/address.ts';
import { type Db, fromJson } from '../store/db.ts';
import { findDefaultSender, findSenderByEmail, type SenderRow } from './queries.ts';

/** The `from` of a send, its address in the normal form of src/net/address.ts. */
export interface FromAddress {
  email: string;
  name?: string | null | undefined;
}

export interface ResolvedSender {
  email: string;
  name: string | null;
  /** Whose keys sign; null where the address is verified and its domain is not ours. */
  domainId: string | null;
  /** For mail that names no Reply-To itself. */
  replyToEmails: string[] | null;
}

/**
 * The sender of one message: `from`, or the organization's default sender. Allowed are verified
 * senders and every address of a verified domain, inactive senders excepted.
 * @throws ForbiddenError naming the address, its domain and what to do.
 */
export async function resolveSender(
  db: Db,
  organizationId: string,
  from: FromAddress | undefined,
): Promise<ResolvedSender> {
  const sender = from
    ? await findSenderByEmail(db, organizationId, foldAddress(from.email))
    : await findDefaultSender(db, organizationId);
  const email = from?.email ?? sender?.email;
  if (email === undefined) throw noDefaultSender();
  const domainName = domainOf(email);
  const domain = await findSendingDomain(db, organizationId, domainName);
  if (sender?.is_active === 0) throw inactive(sender);
  const isVerified = domain?.status === 'verified' || (sender?.verified_at ?? null) !== null;
  if (!isVerified) throw unverified(email, domainName, domain);
  return {
    email,
    name: from?.name ?? sender?.name ?? null,
    domainId: domain?.id ?? null,
    replyToEmails: fromJson<string[]>(sender?.reply_to_emails ?? null),
  };
}

/** The same for a batch, in order; equal questions are asked once, a refusal is a value. */
export async function resolveSenders(
  db: Db,
  requests: readonly { organizationId: string; from: FromAddress | undefined }[],
): Promise<(ResolvedSender | ForbiddenError)[]> {
  const known = new Map<string, ResolvedSender | ForbiddenError>();
  const resolved: (ResolvedSender | ForbiddenError)[] = [];
  for (const { organizationId, from } of requests) {
    const question = `${organizationId} ${from?.email ?? ''} ${from?.name ?? ''}`;
    let answer = known.get(question);
    if (!answer) {
      answer = await resolveSender(db, organizationId, from).catch((error: unknown) => {
        if (error instanceof ForbiddenError) return error;
        throw error;
      });
      known.set(question, answer);
    }
    resolved.push(answer);
  }
  return resolved;
}

function noDefaultSender(): ForbiddenError {
  return new ForbiddenError(
    'There is no default sender: give from.email, or make one with `svc senders create --email ADDRESS --default`',
  );
}

function inactive({ email, id }: SenderRow): ForbiddenError {
  return new ForbiddenError(
    `${email} may not send: this sender is inactive. Set isActive on sender ${id}, or give another from.email`,
  );
}

function unverified(
  email: string,
  domainName: string,
  domain: { id: string; status: string } | undefined,
): ForbiddenError {
  const remedy = domain
    ? `its domain ${domainName} is not verified (${domain.status}). Publish its records (\`svc domains dns ${domain.id}\`), then run \`svc domains verify ${domain.id}\``
    : `${domainName} is not a domain of this organization. Add it (\`svc domains add ${domainName}\`) and publish the records that it shows`;
  return new ForbiddenError(`${email} may not send: ${remedy}`);
}
