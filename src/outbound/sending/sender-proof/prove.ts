// Mails the token, and takes it back (the state table is in src/identity/senders/proof.ts).

import { openAllowances } from '../../../access/admission/quota.ts';
import { operatorIn } from '../../../access/organizations/organizations.ts';
import { findOrganizations } from '../../../access/organizations/queries.ts';
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { byService, type Doer, record, told } from '../../../history/events/record.ts';
import { findHostedSender } from '../../../identity/mailboxes/addresses.ts';
import { senderVerified } from '../../../identity/senders/events.ts';
import { proven, refusedProof, startProof } from '../../../identity/senders/proof.ts';
import * as queries from '../../../identity/senders/queries.ts';
import { resolveSender } from '../../../identity/senders/resolve.ts';
import type { Sender } from '../../../identity/senders/schema.ts';
import { presentSender } from '../../../identity/senders/senders.ts';
import {
  ConflictError,
  ForbiddenError,
  ServiceError,
  ValidationError,
} from '../../../platform/errors.ts';
import { hashOfToken } from '../../../platform/runtime/tokens.ts';
import type { Db } from '../../../platform/store/db.ts';
import { proofUrl } from '../../queue/carrier/proof-link.ts';
import { acceptAll } from '../accept.ts';
import { recentOf } from '../send.ts';
import { proofRequest } from './mail.ts';

/**
 * Mails a new token to a sender's address; the earlier one is void.
 * @throws ResourceNotFoundError; ConflictError (verified already, its domain verified elsewhere, or no sender may
 * mail it); RateLimitedError after five mails to the address in a day.
 */
export function resendProof(app: App, caller: Caller, id: string): Promise<Sender> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    const mailFrom = await mailingOrganization(trx, organizationId);
    await openAllowances(app, trx, [mailFrom]);
    const row = await queries.senders.get(trx, organizationId, id);
    const before = await presentSender(app, trx, row);
    if (before.verificationStatus === 'verified') {
      throw new ConflictError('sender', `${row.email} is verified already`);
    }
    await mailProof(app, trx, row, mailFrom);
    const details = { email: row.email };
    await record(app, trx, caller, { subject: id, action: 'sender.proof-mailed', details });
    return presentSender(app, trx, await queries.senders.get(trx, organizationId, id));
  });
}

/** Mails the first token of a new sender, if there is a sender that may mail it. */
export async function askForProof(app: App, organizationId: string, id: string): Promise<void> {
  try {
    await app.store.write(async (trx) => {
      const mailFrom = await mailingOrganization(trx, organizationId);
      await openAllowances(app, trx, [mailFrom]);
      const row = await queries.senders.find(trx, organizationId, id);
      if (row) await mailProof(app, trx, row, mailFrom);
    });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    app.log.info({ senderId: id, reason: error.message }, 'a sender was not asked for proof');
  }
}

/** Returns the organization whose default sender may mail the token: the sender's own, else `default`. */
async function mailingOrganization(trx: Db, organizationId: string): Promise<string> {
  const { organizationId: operators } = await operatorIn(trx, null);
  for (const id of new Set([organizationId, operators])) {
    const mayMail = await resolveSender(trx, id, undefined, findHostedSender).then(
      () => true,
      (error: unknown) => {
        if (error instanceof ForbiddenError || error instanceof ConflictError) return false;
        throw error;
      },
    );
    if (mayMail) return id;
  }
  throw new ConflictError(
    'sender',
    'no verified sender can mail the token: verify a domain (`svc domains verify`), which verifies its addresses too',
  );
}

async function mailProof(
  app: App,
  trx: Db,
  row: queries.SenderRow,
  organizationId: string,
): Promise<void> {
  const refused = await refusedProof(trx, row);
  if (refused) throw refused;
  const [asker] = await findOrganizations(trx, [row.organization_id]);
  const request = proofRequest({
    organizationId,
    senderId: row.id,
    email: row.email,
    asker: asker?.name ?? '',
    url: proofUrl(app),
  });
  const [result] = await acceptAll(app, trx, recentOf(app, trx), [request]);
  if (!result || 'error' in result) throw result?.error ?? new Error('a proof was not accepted');
  await startProof(app, trx, row, result.message.id);
}

/** State of a link to prove an address. */
export type ProofState = 'open' | 'done' | 'expired' | 'void';

/** Returns the sender of a token and the state of its link. */
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
 * Verifies a sender by the token of its last mail.
 * @throws ResourceNotFoundError; ValidationError for a token that is foreign, used or older than 7 days;
 * ConflictError if another organization has verified the domain.
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

/** Verifies by the page: its visitor has the mail. */
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
  by: Caller | Doer,
  row: queries.SenderRow,
): Promise<Sender> {
  const { organization_id: organizationId, id, email } = row;
  const changed = await queries.senders.update(trx, organizationId, id, proven(app.clock.now()));
  const sender = await presentSender(app, trx, changed);
  const event = told(senderVerified, sender);
  await record(app, trx, by, { subject: id, action: 'sender.verified', details: { email }, event });
  return sender;
}
