// Proof of a sender's address by a token that is mailed to it. The mail itself is
// in src/outbound/sending/sender-proof.
//
//   a sender              | event                              | then
//   ----------------------+------------------------------------+------------------------------------------
//   of a verified domain  | any                                | `active`: it needs no proof
//   created, resend       | a mail is in the queue             | `provisioning`, the token lives 7 days
//   created, resend       | the caller may not send now        | refused: nothing is made
//   created               | the service cannot mail it now     | `provisioning` without a token: resend
//   `provisioning`        | its mail reached nobody            | `failed`: `token-undeliverable`
//   `provisioning`        | 7 days passed                      | `failed`: `token-expired`
//   `failed`              | resend                             | `provisioning`, the earlier token is void
//   any                   | the last token, in time            | `active`, `sender.verified`
//   any                   | another organization verifies the  | `provisioning` or `failed`: the proof ends, and no
//                         | domain (../domains/owners.ts)      | new one begins

import { lockMailTimes, setMailTimes } from '../../access/sessions/link-queries.ts';
import type { App } from '../../core/app.ts';
import { holdRootKey } from '../../core/root-keys/root-keys.ts';
import { byService, record } from '../../history/events/record.ts';
import { ConflictError, RateLimitedError } from '../../platform/errors.ts';
import { hashOfToken, newToken } from '../../platform/runtime/tokens.ts';
import type { Db } from '../../platform/store/db.ts';
import type { ReleaseName } from '../domains/hooks.ts';
import { findOwner, ownedElsewhere } from '../domains/owners.ts';
import * as queries from './queries.ts';

const tokenLivesMs = 7 * 24 * 3_600_000;
const dayMs = 24 * 3_600_000;
/** Returns the key under which the times of the mails to an address are stored. */
const keyOf = (foldedEmail: string) => hashOfToken(`sender proof ${foldedEmail}`);

/** Most mails to an address in a day, over all organizations: nobody may flood a stranger. */
const mostADay = 5;

/** Returns the AES-GCM context that binds an encrypted token to the sender. */
export const sealedAs = (senderId: string) => `senderProof:${senderId}`;

/** Most senders of an organization that wait for their proof, with a link that still works. */
const mostPending = 20;

/**
 * Requires that the organization may begin a proof. The caller has locked the organization.
 * @throws ConflictError if 20 further senders wait for their proof.
 */
export async function assertRoomForProof(
  app: App,
  trx: Db,
  { id, organization_id }: queries.SenderRow,
): Promise<void> {
  const now = app.clock.now();
  const pending = await queries.countPendingProofs(trx, organization_id, { except: id, now });
  if (pending < mostPending) return;
  throw new ConflictError(
    'sender',
    `${pending} addresses wait for their proof already, the most of an organization: verify or delete one ` +
      '(`svc senders list --verification-status pending`)',
  );
}

/** Times of the mails to an address within a day, including the next mail; ms since 1970. */
type ProofTimes = readonly number[];

/**
 * Returns the times of the mails to an address including the next mail, or the refusal of a sixth
 * mail within a day. Only computes; `startProof` stores the times.
 */
export async function nextProofMail(
  app: App,
  trx: Db,
  { folded_email }: queries.SenderRow,
): Promise<ProofTimes | RateLimitedError> {
  const now = app.clock.now();
  const earlier = await lockMailTimes(trx, keyOf(folded_email));
  // After the clock was set back, times in the future are ignored.
  const recent = earlier.filter((at) => Math.abs(now - at) < dayMs);
  const [first = now] = recent;
  if (recent.length < mostADay) return [...recent, now];
  const seconds = Math.max(1, Math.ceil((first + dayMs - now) / 1000));
  return new RateLimitedError(`${mostADay} mails to prove ${folded_email} within a day`, seconds);
}

/** Stores a new token, which the queued mail gets at delivery. The earlier token is void. */
export async function startProof(
  app: App,
  trx: Db,
  { id, organization_id, folded_email }: queries.SenderRow,
  { messageId, times }: { messageId: string; times: ProofTimes },
): Promise<void> {
  const now = app.clock.now();
  await setMailTimes(trx, keyOf(folded_email), times);
  const token = newToken(app.random);
  await holdRootKey(app, trx);
  await queries.senders.update(trx, organization_id, id, {
    verification_token_hash: hashOfToken(token),
    proof_message_id: messageId,
    proof_token: app.secrets.encrypt(token, sealedAs(id)),
    proof_expires_at: now + tokenLivesMs,
    updated_at: now,
  });
}

/** Returns the token that a mail gets at delivery; null after a later mail, or after the proof. */
export async function tokenOfMail(app: App, messageId: string): Promise<string | null> {
  const found = await queries.findProofToken(app.store.db, messageId);
  if (!found?.proof_token) return null;
  return app.secrets.decrypt(found.proof_token, sealedAs(found.id)).toString();
}

/**
 * Returns the refusal of a proof if another organization has verified the domain, else null: only
 * that organization may send from the domain. An earlier proof has no effect (resolve.ts), and ends
 * at the next check.
 */
export async function refusedProof(
  db: Db,
  { domain, organization_id }: queries.SenderRow,
): Promise<ConflictError | null> {
  const owner = await findOwner(db, domain);
  if (!owner || owner.organization_id === organization_id) return null;
  return ownedElsewhere('sender', domain, 'Ask that organization to send from it');
}

/** Ends the proofs of addresses on a domain that another organization has verified. */
export const releaseProofs: ReleaseName = async (app, { domain, organizationId }) => {
  for (const row of await queries.selectProvenElsewhere(app.store.db, organizationId, domain)) {
    const { id, email, organization_id } = row;
    await app.store.write(async (trx) => {
      const ended = { verified_at: null, updated_at: app.clock.now() };
      await queries.senders.update(trx, organization_id, id, ended);
      const change = { subject: id, action: 'sender.proof-ended', details: { email } } as const;
      await record(app, trx, byService(organization_id), change);
    });
  }
};

/** Returns the columns to change in a sender once the address is proven. */
export const proven = (now: number) => ({
  verified_at: now,
  verification_token_hash: null,
  proof_token: null,
  proof_expires_at: null,
  updated_at: now,
});
