// Mail to persons. It belongs to the service, and not to an organization
// (src/access/organizations/service-organization.ts).
import { operatorOf } from '../../../access/keys/roles.ts';
import { ensureServiceOrganization } from '../../../access/organizations/service-organization.ts';
import type { App } from '../../../core/app.ts';
import { findHostedSender } from '../../../identity/mailboxes/addresses.ts';
import { resolveSenders } from '../../../identity/senders/resolve.ts';
import { ServiceError, ValidationError } from '../../../platform/errors.ts';
import { serviceOrganizationId } from '../../../platform/runtime/ids.ts';
import type { Db } from '../../../platform/store/db.ts';
import { type MailedPath, mailedUrl } from '../../queue/carrier/mailed-link.ts';
import { type AcceptRequest, acceptAll, type Refused } from '../accept.ts';
import { recentOf } from '../send.ts';
import { type ServiceWords, serviceMail } from '../service-mail.ts';

export interface PersonMail {
  /** A stored address; never the address that somebody typed. */
  to: string;
  words: ServiceWords;
  /** Path of the link before its token; null for mail without a link. */
  path: MailedPath | null;
  /** Whether the link works for 15 minutes: later the mail is not sent any more. */
  isShort?: boolean;
}

/** Returns the request that puts a mail to a person into the queue. */
export function personMail(
  app: App,
  { to, words, path, isShort = false }: PersonMail,
): AcceptRequest & { onBehalfOf: string } {
  const { from } = app.config.console.signIn;
  const mail = serviceMail({
    caller: operatorOf(serviceOrganizationId),
    to: { email: to },
    onBehalfOf: to,
    name: '',
    words: () => words,
    url: path && mailedUrl(app, path),
    ...(from !== null && { from: { email: from } }),
  });
  return { ...mail, isShort };
}

/** Checks of the sender of the service. The remedy is in the configuration. */
const senderChecks: readonly (string | undefined)[] = ['sender', 'local-sender'];

/**
 * Returns the error of a refused mail to a person. For a refused sender it names the key of the
 * configuration.
 */
export function refusalOfMail({ check, error }: Refused): ServiceError {
  if (!senderChecks.includes(check)) return error;
  return ValidationError.of('console.signIn.from', error.message);
}

/** Returns the reason why the sender of the service may not send to remote servers, or null. */
export async function refusedSenderOfService(app: App, db: Db): Promise<string | null> {
  const { from } = app.config.console.signIn;
  const wanted = from === null ? undefined : { email: from };
  const question = { organizationId: serviceOrganizationId, from: wanted, onBehalfOf: '' };
  const [answer] = await resolveSenders(db, [question], findHostedSender);
  if (!answer || answer instanceof ServiceError) return answer?.message ?? null;
  return answer.isLocal ? `the domain of ${answer.email} exists on this machine only` : null;
}

/** Puts a mail to a person into the queue. Returns its id. @throws the refusal of the mail */
export async function mailAsService(app: App, trx: Db, mail: PersonMail): Promise<string> {
  await ensureServiceOrganization(app, trx);
  const [result] = await acceptAll(app, trx, recentOf(app, trx), [personMail(app, mail)]);
  if (!result) throw new Error('a mail to a person was left without an answer');
  if ('message' in result) return result.message.id;
  throw refusalOfMail(result);
}

/** Returns the result of `work`. Logs a refusal of the mail, and returns null then. */
export async function unlessRefused<T>(
  app: App,
  what: string,
  work: Promise<T>,
): Promise<T | null> {
  return work.catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
    app.log.warn({ reason: error.message }, `${what} was not mailed`);
    return null;
  });
}
