// The bytes of a recipient's copy, composed again exactly as the last attempt sent them: with the
// time, the keys and the link address that the attempt recorded, and the token of the SMTP
// transaction. Composing and signing are deterministic. A copy that was never sent is shown as it
// would have been sent.
import type { App } from '../../core/app.ts';
import { pastSigningKeys } from '../../identity/domains/signing-keys.ts';
import { composeHere } from '../../mail/mime/composer.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import { fromJson } from '../../platform/store/db.ts';
import { findDeliveries } from '../deliveries/queries.ts';
import { findRecipients, type MessageRow } from '../messages/queries.ts';
import type { Attempt } from '../messages/schema.ts';
import { lastTransactionOf, marksOf } from '../queue/attempting/return-path.ts';
import { copyRequestOf, travelsAlone, withCopyField } from '../queue/carrier/copy.ts';
import { composeRequestOf, type Signing, signingNow } from '../queue/carrier/request.ts';
import { trackingBase } from '../tracking/base-url.ts';
import { readTracked } from '../tracking/merged-links.ts';

/** The copy of a message for a recipient, in bytes. */
export interface SentCopy {
  body: Buffer;
  recipient: string;
  /** Number of recipients of the message; each has a copy. */
  copies: number;
  /** Selectors of signatures that are missing, because their keys were deleted. */
  missingKeys: string[];
}

/**
 * Composes the copy of a delivery, by default the first.
 * @throws ResourceNotFoundError if the delivery does not exist
 */
export async function sentCopy(
  app: App,
  message: MessageRow,
  deliveryId: string | null,
): Promise<SentCopy> {
  const { db } = app.store;
  const deliveries = await findDeliveries(db, [message.id]);
  const delivery = deliveries.find(({ id }) => deliveryId === null || id === deliveryId);
  if (!delivery) throw new ResourceNotFoundError('message', message.id);
  const attempt = fromJson<Attempt[]>(delivery.attempts)?.at(-1);
  const { content, cuts } = await readTracked(app, message);
  const recipients = await findRecipients(db, [message.id]);
  const signing = await signingOf(app, message, attempt);
  const { unsubscribe_group_id: groupId } = delivery;
  const parts = { message, content, recipients, groupId };
  const request = await composeRequestOf(app, parts, signing);
  const linkBase = attempt?.linkBase ?? trackingBase(app, message.sender_domain_id);
  const own = travelsAlone({ message, cuts }, delivery)
    ? await copyRequestOf(app, { message, cuts }, request, delivery, linkBase)
    : request;
  const { copyField } = await marksOf(app, message, lastTransactionOf(delivery));
  const composed = await composeHere(own);
  const sent = attempt?.sevenBit ? await composed.sevenBit?.() : null;
  const selectors = signing.keys.map(({ selector }) => selector);
  const wanted = attempt?.signedWith?.selectors ?? [];
  return {
    body: Buffer.concat(withCopyField(sent ?? composed, copyField)),
    recipient: delivery.email,
    copies: deliveries.length,
    missingKeys: wanted.filter((selector) => !selectors.includes(selector)),
  };
}

/**
 * Returns the signing keys and time that an attempt recorded. A missing value is replaced by the
 * present keys or time.
 */
async function signingOf(
  app: App,
  message: MessageRow,
  attempt: Attempt | undefined,
): Promise<Signing> {
  const now = await signingNow(app, message);
  if (!attempt) return now;
  const { signedWith, at } = attempt;
  const timestampSeconds = Math.floor(Date.parse(signedWith?.at ?? at) / 1000);
  const { sender_domain_id: domainId } = message;
  if (!signedWith || domainId === null) return { ...now, timestampSeconds };
  return { keys: await pastSigningKeys(app, domainId, signedWith.selectors), timestampSeconds };
}
