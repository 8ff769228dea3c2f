// Finds the complaining recipient, and judges the proof. Anybody can write to `fbl@`, so a
// complaint counts only with evidence from a copy of the mail: a token of the transaction, or our
// signature over the header of the copy. A token identifies the transaction. A signature identifies
// only the message, so it counts only if all recipients shared a single transaction.
import type { App } from '../../core/app.ts';
import { findPublicKey } from '../../identity/domains/queries.ts';
import { parsePublicKey } from '../../mail/mime/dkim/dkim-key.ts';
import { isSignatureOf } from '../../mail/mime/dkim/sign.ts';
import type { CopySignature } from '../../mail/parse/bounce/returned-copy.ts';
import type { ComplaintReport } from '../../mail/parse/parse-worker.ts';
import type { Db } from '../../platform/store/db.ts';
import { type DeliveryRow, findDeliveries, findDelivery } from '../deliveries/queries.ts';
import { messageIdOf } from '../messages/own-message-id.ts';
import {
  isReportable,
  type NamedTransaction,
  readCopyToken,
  readReturnPath,
} from '../queue/attempting/return-path.ts';
import type { ReportMail } from './queries.ts';
import { copiesOf, meantBy, type ReportedCopies, soleTransaction } from './reported-copies.ts';

/** Reason why a complaint does not count. */
export type Doubt = 'no-proof' | 'not-their-copy' | 'ended';

/** The judgement of a complaint; `delivery` is null if only the message is known. */
export type JudgedComplaint =
  | { isProven: true; delivery: DeliveryRow }
  | { isProven: false; doubt: Doubt; messageId: string; delivery: DeliveryRow | null };

/**
 * Returns the ids of the messages that the signatures prove: a key of the organization has signed
 * the header fields that the copy shows.
 */
export async function provenMessages(
  app: App,
  organizationId: string,
  signatures: readonly CopySignature[],
): Promise<string[]> {
  const proven = await Promise.all(
    signatures.map(async (one) => {
      const messageId = messageIdOf(one.messageId);
      return messageId !== null && (await isOwnSignature(app, organizationId, one))
        ? messageId
        : [];
    }),
  );
  return [...new Set(proven.flat())];
}

async function isOwnSignature(
  app: App,
  organizationId: string,
  { domain, selector, algorithm, text, signature }: CopySignature,
): Promise<boolean> {
  const key = await findPublicKey(app.store.db, organizationId, domain, selector);
  if (key?.algorithm !== algorithm) return false;
  const publicKey = parsePublicKey(algorithm, key.public_key);
  return isSignatureOf(algorithm, text, publicKey, Buffer.from(signature, 'base64'));
}

/** A message that a complaint may concern. `isEnded`: complaints about it no longer count. */
interface Claim {
  messageId: string;
  siblings: readonly DeliveryRow[];
  /** Null if the proof does not identify the copy. */
  reported: ReportedCopies | null;
  isEnded: boolean;
}

/**
 * Judges a complaint to an organization. Returns null if it concerns no message of the
 * organization. `signed` are the messages that the copy proves.
 */
export async function judgeComplaint(
  app: App,
  trx: Db,
  { organization_id: organizationId, created_at: cameAt }: ReportMail,
  report: ComplaintReport,
  signed: readonly string[],
): Promise<JudgedComplaint | null> {
  const { recipients: told } = report.complaint;
  const own = async (messageId: string) => {
    const siblings = await findDeliveries(trx, [messageId]);
    return siblings[0]?.organization_id === organizationId ? siblings : [];
  };
  const claims: Claim[] = [];
  for (const named of namedTransactions(app, report)) {
    const first = await findDelivery(trx, named.deliveryId);
    const siblings = first ? await own(first.message_id) : [];
    if (!first || siblings.length === 0) continue;
    const isEnded = !isReportable(first, cameAt);
    const reported = copiesOf(named, siblings);
    claims.push({ messageId: first.message_id, siblings, reported, isEnded });
  }
  for (const messageId of signed) {
    const siblings = await own(messageId);
    const isEnded = siblings.some((one) => !isReportable(one, cameAt));
    if (siblings.length === 0) continue;
    claims.push({ messageId, siblings, reported: soleTransaction(siblings), isEnded });
  }
  for (const { reported, isEnded } of claims) {
    const delivery = reported && !isEnded ? meantBy(told, reported) : undefined;
    if (delivery) return { isProven: true, delivery };
  }
  const [claim] = claims;
  if (claim) return doubted(claim.isEnded ? 'ended' : 'not-their-copy', told, claim.siblings);
  const messageId = messageIdOf(report.complaint.originalMessageId);
  const siblings = messageId === null ? [] : await own(messageId);
  return siblings.length === 0 ? null : doubted('no-proof', told, siblings);
}

/** Returns the transactions that the tokens of a complaint name; tokens of the copy come first. */
function namedTransactions(app: App, { complaint, copy }: ComplaintReport): NamedTransaction[] {
  const { tokenAddresses, originalMailFrom } = complaint;
  const found = [
    ...copy.tokens.map((token) => readCopyToken(app, token)),
    ...[...tokenAddresses, originalMailFrom ?? ''].map((one) => readReturnPath(app, one)),
  ].filter((one) => one !== null);
  return [...new Map(found.map((one) => [one.transaction, one])).values()];
}

function doubted(
  doubt: Doubt,
  told: readonly string[],
  siblings: readonly DeliveryRow[],
): JudgedComplaint | null {
  const [first] = siblings;
  if (!first) return null;
  const delivery = meantBy(told, { copies: [...siblings], siblings }) ?? null;
  return { isProven: false, doubt, messageId: first.message_id, delivery };
}
