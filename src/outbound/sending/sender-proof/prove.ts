// Mails and verifies the token that proves a sender address. src/identity/senders/proof.ts has the
// states of a proof.

import { openAllowances } from '../../../access/admission/quota.ts';
import { refusedServiceMail } from '../../../access/keys/constraints.ts';
import { findOrganizations, lockOrganization } from '../../../access/organizations/queries.ts';
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import {
  byService,
  type ChangeAuthor,
  eventToRecord,
  record,
} from '../../../history/events/record.ts';
import { senderVerified } from '../../../identity/senders/events.ts';
import {
  assertRoomForProof,
  nextProofMail,
  proven,
  refusedProof,
  startProof,
} from '../../../identity/senders/proof.ts';
import * as queries from '../../../identity/senders/queries.ts';
import type { Sender } from '../../../identity/senders/schema.ts';
import { presentSender } from '../../../identity/senders/senders.ts';
import {
  ConflictError,
  RateLimitedError,
  type ServiceError,
  ValidationError,
} from '../../../platform/errors.ts';
import { hashOfToken } from '../../../platform/runtime/tokens.ts';
import type { Db } from '../../../platform/store/db.ts';
import { mailedUrl } from '../../queue/carrier/mailed-link.ts';
import { type AcceptRequest, acceptAll } from '../accept.ts';
import { recentOf } from '../send.ts';
import { serviceMail } from '../service-mail.ts';

const operation = 'proving an address by mail';

/**
 * Names of the send checks on the sender of the service. If such a check refuses the mail, a new
 * sender is still created, without a mail.
 */
const serviceChecks: readonly (string | undefined)[] = ['sender', 'local-sender'];

/**
 * Mails a new token to a sender's address; the earlier token is void.
 * @throws ResourceNotFoundError; ConflictError (verified already, domain verified elsewhere, too
 * many pending proofs, or no sender of the service may mail it); an error that refuses a send by
 * this caller; RateLimitedError after five mails to the address in a day.
 */
export function resendProof(app: App, caller: Caller, id: string): Promise<Sender> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    const refused = refusedServiceMail(caller, operation);
    if (refused) throw refused;
    await openAllowances(app, trx, [organizationId]);
    await lockOrganization(trx, organizationId, app.clock.now());
    const row = await queries.senders.get(trx, organizationId, id);
    const before = await presentSender(app, trx, row);
    if (before.verificationStatus === 'verified') {
      throw new ConflictError('sender', `${row.email} is verified already`);
    }
    const reason = await mailProof(app, trx, caller, row);
    if (reason) throw reason;
    const details = { email: row.email };
    await record(app, trx, caller, { subject: id, action: 'sender.proof-mailed', details });
    return presentSender(app, trx, await queries.senders.get(trx, organizationId, id));
  });
}

/**
 * Mails the first token of a new sender, in the transaction that creates the sender and has locked
 * the organization. Mails nothing if a different organization owns the domain, if the service has
 * no sender for the mail, or after five mails to the address in a day.
 * @throws the errors of `resendProof` that refuse the caller
 */
export async function askForProof(app: App, trx: Db, caller: Caller, id: string): Promise<void> {
  const row = await queries.senders.get(trx, caller.organizationId, id);
  const reason = await mailProof(app, trx, caller, row);
  if (reason) app.log.info({ senderId: id, reason: reason.message }, 'a sender was not mailed');
}

/**
 * Mails a token. Returns the reason if the service cannot mail it now. @throws an error that
 * refuses the caller.
 */
async function mailProof(
  app: App,
  trx: Db,
  caller: Caller,
  row: queries.SenderRow,
): Promise<ServiceError | null> {
  const refused = refusedServiceMail(caller, operation);
  if (refused) throw refused;
  const owned = await refusedProof(trx, row);
  if (owned) return owned;
  await assertRoomForProof(app, trx, row);
  const [asker] = await findOrganizations(trx, [row.organization_id]);
  const request = proofRequest({
    caller,
    senderId: row.id,
    email: row.email,
    asker: asker?.name ?? '',
    url: mailedUrl(app, '/verify/'),
  });
  const times = await nextProofMail(app, trx, row);
  if (times instanceof RateLimitedError) return times;
  const [result] = await acceptAll(app, trx, recentOf(app, trx), [request]);
  if (!result) throw new Error('a proof was left without an answer');
  if ('message' in result) {
    await startProof(app, trx, row, { messageId: result.message.id, times });
    return null;
  }
  if (serviceChecks.includes(result.check)) return result.error;
  throw result.error;
}

/** State of a link to prove an address. */
export type ProofState = 'open' | 'done' | 'expired' | 'void';

/**
 * Returns the sender of a token, and the state of the link: `void` for an unknown token, never
 * `done`.
 */
export async function readProof(
  app: App,
  db: Db,
  token: string,
  isLocked = false,
): Promise<{ state: ProofState; row: queries.SenderRow | undefined }> {
  const row = await queries.findSenderByToken(db, hashOfToken(token), isLocked);
  if (!row) return { state: 'void', row };
  const isOver = (row.proof_expires_at ?? 0) <= app.clock.now();
  return { state: isOver ? 'expired' : 'open', row };
}

/**
 * Verifies a sender by the token of the last mail.
 * @throws ResourceNotFoundError; ValidationError for a token that is foreign, used or older than 7
 * days; ConflictError if a different organization has verified the domain.
 */
export function verifySender(app: App, caller: Caller, id: string, token: string): Promise<Sender> {
  return app.store.write(async (trx) => {
    const { organizationId } = caller;
    await queries.senders.get(trx, organizationId, id);
    const { state, row } = await readProof(app, trx, token, true);
    if (state !== 'open' || row?.id !== id || row.organization_id !== organizationId) {
      const why =
        state === 'expired' && row?.id === id
          ? 'is older than 7 days'
          : 'is not the last token of this sender';
      throw ValidationError.of('token', `${why}: have a new one mailed (svc senders resend)`);
    }
    const refused = await refusedProof(trx, row);
    if (refused) throw refused;
    return prove(app, trx, caller, row);
  });
}

/** Verifies a sender on the page of the link. The token proves that the visitor has the mail. */
export function proveByPage(app: App, token: string): ReturnType<typeof readProof> {
  return app.store.write(async (trx) => {
    const { state, row } = await readProof(app, trx, token, true);
    if (state !== 'open' || !row) return { state, row };
    if (await refusedProof(trx, row)) return { state: 'void' as const, row };
    await prove(app, trx, byService(row.organization_id), row);
    return { state: 'done' as const, row };
  });
}

async function prove(
  app: App,
  trx: Db,
  by: Caller | ChangeAuthor,
  row: queries.SenderRow,
): Promise<Sender> {
  const { organization_id: organizationId, id, email } = row;
  const changed = await queries.senders.update(trx, organizationId, id, proven(app.clock.now()));
  const sender = await presentSender(app, trx, changed);
  const event = eventToRecord(senderVerified, sender);
  await record(app, trx, by, { subject: id, action: 'sender.verified', details: { email }, event });
  return sender;
}

// The mail that asks an address for proof. The stored content has a link without the token. The
// token is inserted only into the copy that is sent (src/outbound/queue/carrier/mailed-link.ts), so
// that a reader of the stored message cannot prove the address.

interface ProofMail {
  /** Caller that asks for the proof. */
  caller: Caller;
  senderId: string;
  email: string;
  /** Name of the organization that added the sender. */
  asker: string;
  /** The link, with a placeholder for the token. */
  url: string;
}

/** Returns the request that puts the mail into the queue. */
function proofRequest({ caller, senderId, email, asker, url }: ProofMail): AcceptRequest {
  return serviceMail({
    caller,
    url,
    to: { email },
    onBehalfOf: email,
    name: asker,
    words: (name) => ({
      subject: 'Please confirm that you send mail from this address',
      opening: `${name} wants to send mail from ${email}.`,
      purpose: 'allow it',
      button: `Allow mail from ${email}`,
      command: `Or run this command, with the last part of that link as its token:\nsvc senders verify ${senderId} --token TOKEN`,
      closing:
        'The link works for 7 days. If you did not ask for this, do nothing: without your answer no mail is sent from your address.',
    }),
  });
}
