// Mail submitted as MIME, over SMTP or by sendmail: an ordinary send with the checks, transactions
// and idempotency keys of HTTP. raw-content.ts reads the mail.
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { foldAddress } from '../../../platform/net/address.ts';
import type { Message } from '../../messages/schema.ts';
import { rawSendContent } from '../content.ts';
import { fingerprint } from '../fingerprint.ts';
import type { IdempotencyKey } from '../idempotency.ts';
import { acceptOne } from '../send.ts';
import { type HandedIn, type RawSend, readRawSend } from './raw-content.ts';

/**
 * Accepts a mail. Resolves after the durable commit. A repeat with the same idempotency key returns
 * the first message. @throws ValidationError that names the invalid header field; further errors as
 * `sendMessage` and `scheduleMessage`.
 */
export async function handIn(app: App, caller: Caller, given: HandedIn): Promise<Message> {
  const send = readRawSend(given);
  const { payload, raw, scheduledFor } = send;
  return await acceptOne(app, {
    caller,
    payload,
    content: rawSendContent(raw),
    idempotency: await idempotencyOf(app, caller, given, send),
    ...(scheduledFor !== undefined && { scheduledFor }),
  });
}

/**
 * Returns the idempotency key of a mail with the fingerprint; null without a key. The fingerprint
 * does not depend on Date, Message-ID, boundaries and the way of submission.
 */
async function idempotencyOf(
  { mime }: App,
  { organizationId }: Caller,
  { raw, recipients }: HandedIn,
  { payload, raw: { summary }, idempotencyKey, scheduledFor }: RawSend,
): Promise<IdempotencyKey | null> {
  if (idempotencyKey === null) return null;
  const { from, tags, metadata } = payload;
  const said = {
    recipients: [...new Set(recipients.map(foldAddress))].sort(),
    from,
    subject: summary.subject,
    parts: await mime.readParts(raw, organizationId),
    tags,
    metadata,
    scheduledFor,
  };
  return { organizationId, key: idempotencyKey, fingerprint: fingerprint('SMTP', 'DATA', said) };
}
