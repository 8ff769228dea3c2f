// Checks whether the organization may use the sender (resolve.ts), and whether the mail may leave
// the machine. Passes the resolved sender on to later checks and to the draft.
import type { ClaimedOrigin } from '../../access/keys/constraints.ts';
import type { SendCheck } from '../../core/api/send-check.ts';
import { ForbiddenError, ServiceError } from '../../platform/errors.ts';
import { domainOf } from '../../platform/net/address.ts';
import { findProvenDomain } from '../domains/queries.ts';
import { firstOutward } from './outward.ts';
import {
  type FindHostedSender,
  type FromAddress,
  type ResolvedSender,
  resolveSenders,
} from './resolve.ts';

const noAddress = new ForbiddenError('it names no valid address');

interface Sent {
  organizationId: string;
  from: FromAddress | undefined;
  /** Set for mail that the service writes; known only at the accept. */
  onBehalfOf?: string | null;
  /** Null until it is resolved, and after a refusal. */
  sender: ResolvedSender | null;
}

export const senderCheck = (findHosted: FindHostedSender): SendCheck<'both', Sent> => ({
  name: 'sender',
  asked: 'both',
  async prepare(_app, trx, sends) {
    const answers = await resolveSenders(trx, sends, findHosted);
    const refusals = new Map<Sent, ServiceError>();
    for (const [index, send] of sends.entries()) {
      const answer = answers[index];
      if (answer instanceof ServiceError) refusals.set(send, answer);
      else send.sender = answer ?? null;
    }
    return (send) => refusals.get(send) ?? null;
  },
});

/**
 * Refuses a mail that names a further author, or an address in Sender, from which the organization
 * may not send. A mail program may show that address in place of From.
 */
export const originCheck = (
  findHosted: FindHostedSender,
): SendCheck<
  'accepting',
  Pick<Sent, 'organizationId'> & { origins: readonly ClaimedOrigin[] }
> => ({
  name: 'origins',
  asked: 'accepting',
  async prepare(_app, trx, sends) {
    const claims = sends.flatMap((send) =>
      send.origins.map(({ field, email }) => ({ send, field, email })),
    );
    const named = claims.flatMap(({ send: { organizationId }, email }) =>
      email === null ? [] : { organizationId, from: { email } },
    );
    const answers = (await resolveSenders(trx, named, findHosted)).values();
    const refusals = new Map<(typeof sends)[number], ForbiddenError>();
    for (const { send, field, email } of claims) {
      const answer = email === null ? noAddress : answers.next().value;
      if (!(answer instanceof ServiceError) || refusals.has(send)) continue;
      const text = `${field}: ${answer.message}. Or leave ${field} out`;
      refusals.set(send, new ForbiddenError(text));
    }
    return (send) => refusals.get(send) ?? null;
  },
});

/**
 * Refuses mail from the sandbox that leaves the machine: nobody could answer it, and bounces would
 * go to a name that does not exist. Runs again at the due time, as the mode of delivery may have
 * changed.
 */
export const localSenderCheck: SendCheck<'both', Sent & { addresses: readonly string[] }> = {
  name: 'local-sender',
  asked: 'both',
  async prepare(app, trx, sends) {
    const refusals = new Map<Sent, ForbiddenError>();
    for (const send of sends) {
      if (!send.sender?.isLocal) continue;
      const { organizationId, sender } = send;
      const from = { organizationId, email: sender.email };
      const recipient = firstOutward(app, send.addresses, from);
      if (recipient === undefined) continue;
      const own = await findProvenDomain(trx, send.organizationId);
      refusals.set(send, localOnly(send.sender.email, recipient, own?.domain));
    }
    return (send) => refusals.get(send) ?? null;
  },
};

function localOnly(email: string, recipient: string, own: string | undefined): ForbiddenError {
  const domain = own ?? 'example.com';
  const first =
    own === undefined ? `verify a domain of yours (\`svc domains add ${domain}\`), then ` : '';
  return new ForbiddenError(
    `${email} may not send to ${recipient}: ${domainOf(email)} exists on this machine only, so no answer ` +
      `and no bounce could come back. To send from a name of your own, ${first}` +
      `run \`svc senders create --email hello@${domain} --default\``,
  );
}
