// Handing a mail in as MIME, over SMTP or with sendmail: an ordinary send, by the same checks, in the same
// transactions, with the same idempotency keys as over HTTP. What the mail says is raw-content.ts.
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import type { Message } from '../messages/schema.ts';
import { decodedParts } from '../mime/parse/decoded-parts.ts';
import { foldAddress } from '../net/address.ts';
import { rawSendContent } from './content.ts';
import { fingerprint } from './fingerprint.ts';
import type { IdempotencyKey } from './idempotency.ts';
import { type HandedIn, type RawSend, readRawSend } from './raw-content.ts';
import { acceptOne } from './send.ts';

/**
 * Accepts one mail; resolves after the durable commit. A repeat with its idempotency key gets the first
 * message.
 * @throws ValidationError naming the header field that is wrong; else as `sendMessage` and
 * `scheduleMessage` do.
 */
export function handIn(app: App, caller: Caller, given: HandedIn): Promise<Message> {
  const send = readRawSend(given);
  const { payload, raw, scheduledFor } = send;
  return acceptOne(app, {
    caller,
    payload,
    content: rawSendContent(raw),
    idempotency: idempotencyOf(caller, given, send),
    ...(scheduledFor !== undefined && { scheduledFor }),
  });
}

/** A mail is the same whatever its Date, Message-ID and boundaries are, and whichever way it came. */
function idempotencyOf(
  { organizationId }: Caller,
  { raw, recipients }: HandedIn,
  { payload, raw: { summary }, idempotencyKey, scheduledFor }: RawSend,
): IdempotencyKey | null {
  if (idempotencyKey === null) return null;
  const { from, tags, metadata } = payload;
  const said = {
    recipients: [...new Set(recipients.map(foldAddress))].sort(),
    from,
    subject: summary.subject,
    parts: decodedParts(raw),
    tags,
    metadata,
    scheduledFor,
  };
  return { organizationId, key: idempotencyKey, fingerprint: fingerprint('SMTP', 'DATA', said) };
}
