// Sends a stored message once more, as a new message with the source in `resendOf`. `resend`
// repeats an ended message to all recipients. `release` sends the captured part of a message once,
// after the configuration has changed so that mail leaves this machine. Both pass all checks of a
// send.
import { allows } from '../../core/api/permission.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { readBlob } from '../../core/blobs/blobs.ts';
import { isLocalAddress } from '../../identity/mailboxes/receivers.ts';
import { cutRawMail, joinRawMail } from '../../mail/mime/raw-mail.ts';
import { createRouter } from '../../mail/smtp/route.ts';
import { ConflictError, ForbiddenError, ResourceNotFoundError } from '../../platform/errors.ts';
import { fromJson } from '../../platform/store/db.ts';
import {
  type DeliveryRow,
  findDeliveries,
  lockDeliveries,
  setAttempts,
} from '../deliveries/queries.ts';
import { requireContent } from '../messages/contents/content-removal.ts';
import { readContent } from '../messages/contents/merge.ts';
import type { StoredAttachment } from '../messages/lists/email-projection.ts';
import { getMessageRow } from '../messages/messages.ts';
import { findRecipients, type MessageRow, type RecipientRow } from '../messages/queries.ts';
import type { Attempt, Message } from '../messages/schema.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import type { AcceptRequest } from './accept.ts';
import { prepareContent, rawSendContent } from './content.ts';
import { fingerprint } from './fingerprint.ts';
import { readRawSend } from './hand-in/raw-content.ts';
import type { IdempotencyKey } from './idempotency.ts';
import { acceptOne } from './send.ts';

/**
 * Sends a message again to all recipients.
 * @throws ConflictError for received mail, and for a message with deliveries in the queue; further
 * errors as `sendMessage`.
 */
export async function resendMessage(
  app: App,
  caller: Caller,
  id: string,
  idempotencyKey: string | null,
): Promise<Message> {
  const { row, deliveries } = await getSent(app, caller, id);
  if (deliveries.some(({ due_at }) => due_at !== null)) {
    const advice = 'wait until it has ended, or cancel it';
    throw new ConflictError('message', `${id} is still in the queue: ${advice}`);
  }
  const idempotency = idempotencyKey === null ? null : keyOf(caller, idempotencyKey, 'resend', id);
  const recipients = await findRecipients(app.store.db, [id]);
  return sendAgain(app, caller, { row, deliveries, recipients, idempotency });
}

/**
 * Sends the captured copies of a message to their recipients. Leaves out recipients whose mail is
 * still captured by the configuration. A copy is released only once. @throws ConflictError if no
 * captured copy is left, or none may leave; further errors as `sendMessage`.
 */
export async function releaseMessage(app: App, caller: Caller, id: string): Promise<Message> {
  const { row, deliveries } = await getSent(app, caller, id);
  const leaving = await leavingOf(app, row, deliveries);
  const wanted = new Set(leaving.map(({ recipient_id }) => recipient_id));
  const recipients = (await findRecipients(app.store.db, [id])).filter((one) => wanted.has(one.id));
  // If the process crashes before it marks the copies, a repeat under this key returns the same
  // message.
  const key = `release ${fingerprint('', id, [...wanted].sort())}`;
  const idempotency = keyOf(caller, key, 'release', id);
  const message = await sendAgain(app, caller, { row, deliveries, recipients, idempotency });
  await markReleased(app, row.id, leaving, message.id);
  return message;
}

/**
 * Returns a sent message with the deliveries. @throws ForbiddenError for a key without the
 * permission to read, because the answer shows a stored message; ConflictError for received mail.
 */
async function getSent(app: App, { organizationId, permissions }: Caller, id: string) {
  if (!allows(permissions, 'messages:read')) {
    throw new ForbiddenError(
      'Sending a stored message again needs messages:read beside messages:send',
    );
  }
  const row = await getMessageRow(app.store.db, organizationId, id);
  if (row.direction === 'inbound') {
    throw new ConflictError('message', `${id} was received: only sent mail can be sent again`);
  }
  requireContent(row);
  return { row, deliveries: await findDeliveries(app.store.db, [id]) };
}

function keyOf(
  { organizationId }: Caller,
  key: string,
  verb: 'resend' | 'release',
  id: string,
): IdempotencyKey {
  const path = `/v1/messages/${id}/${verb}`;
  return { organizationId, key, fingerprint: fingerprint('POST', path, null) };
}

function lastAttemptOf({ attempts }: DeliveryRow): Attempt | undefined {
  return fromJson<Attempt[]>(attempts)?.at(-1);
}

/** Returns the captured deliveries that may leave now. @throws ConflictError if none may. */
async function leavingOf(
  app: App,
  { id, organization_id: organizationId, from_email: email }: MessageRow,
  deliveries: readonly DeliveryRow[],
): Promise<DeliveryRow[]> {
  const { delivery, mailboxes, smtp } = app.config;
  const chooseRoute = createRouter(delivery, smtp.inbound, mailboxes.hostedDomain);
  const leaving: DeliveryRow[] = [];
  let problem = 'was not captured: there is nothing to release';
  for (const row of deliveries) {
    const attempt = lastAttemptOf(row);
    if (attempt?.capturedBy === undefined) continue;
    const isLocal = await isLocalAddress(app.store.db, row.email);
    const route = chooseRoute(row.email, isLocal, { organizationId, email });
    if (attempt.releasedAs !== undefined) problem = `was released as ${attempt.releasedAs}`;
    else if (route.kind !== 'capture') leaving.push(row);
    else problem = `would be captured again: ${route.by} keeps mail to ${row.email} here`;
  }
  if (leaving.length === 0) throw new ConflictError('message', `${id} ${problem}`);
  return leaving;
}

async function markReleased(
  app: App,
  messageId: string,
  released: readonly DeliveryRow[],
  releasedAs: string,
): Promise<void> {
  const ids = released.map(({ id }) => id);
  await app.store.write(async (trx) => {
    await lockDeliveries(trx, ids);
    for (const row of await findDeliveries(trx, [messageId])) {
      const last = lastAttemptOf(row);
      if (!last || !ids.includes(row.id)) continue;
      const earlier = fromJson<Attempt[]>(row.attempts)?.slice(0, -1) ?? [];
      await setAttempts(trx, row.id, JSON.stringify([...earlier, { ...last, releasedAs }]));
    }
  });
}

interface Again {
  row: MessageRow;
  deliveries: readonly DeliveryRow[];
  recipients: readonly RecipientRow[];
  idempotency: IdempotencyKey | null;
}

async function sendAgain(app: App, caller: Caller, again: Again): Promise<Message> {
  const { row, idempotency } = again;
  const written =
    row.raw_blob_id === null
      ? await composedAgain(app, caller, again)
      : await rawAgain(app, caller, again, row.raw_blob_id);
  return acceptOne(app, { caller, ...written, idempotency, resent: row });
}

type Written = Pick<AcceptRequest, 'payload' | 'content'>;

async function composedAgain(
  app: App,
  caller: Caller,
  { row, deliveries, recipients }: Again,
): Promise<Written> {
  const content = await readContent(app, row);
  if (row.content_id && !content) throw new ResourceNotFoundError('message', row.id);
  const partiesOf = (kind: RecipientRow['kind']) =>
    recipients
      .filter((one) => one.kind === kind)
      .map(({ email, name, contact_id }) => ({
        email,
        name: name ?? undefined,
        contactId: contact_id ?? undefined,
      }));
  const payload: SendPayload = {
    channel: 'email',
    to: partiesOf('to'),
    cc: partiesOf('cc'),
    bcc: partiesOf('bcc'),
    from: { email: row.from_email, name: row.from_name ?? undefined },
    email: {
      subject: row.subject ?? '',
      html: content?.html ?? undefined,
      text: content?.text ?? '',
      replyTo: fromJson<string[]>(row.reply_to) ?? undefined,
      attachments: await attachmentsOf(app, content?.attachments ?? null),
      headers: fromJson<Record<string, string>>(row.headers) ?? undefined,
      tracking: { opens: row.track_opens === 1, clicks: row.track_clicks === 1 },
      unsubscribeGroupId: deliveries[0]?.unsubscribe_group_id ?? undefined,
      priority: row.priority ?? undefined,
    },
    ...labelsOf(row),
  };
  return { payload, content: await prepareContent(app, caller.organizationId, payload) };
}

async function attachmentsOf(app: App, stored: string | null) {
  const files = fromJson<StoredAttachment[]>(stored) ?? [];
  return Promise.all(
    files.map(async ({ filename, contentType, contentId, blobId }) => {
      const bytes = await readBlob(app, blobId);
      if (!bytes) throw new Error(`blob ${blobId} of an attachment is missing`);
      const content = bytes.toString('base64');
      return { filename, contentType, contentId: contentId ?? undefined, content };
    }),
  );
}

/** Parses the stored raw mail without Message-ID and Date: the new message gets new values. */
async function rawAgain(
  app: App,
  { by }: Caller,
  { row, recipients }: Again,
  blobId: string,
): Promise<Written> {
  const stored = await readBlob(app, blobId);
  if (!stored) throw new Error(`blob ${blobId} of a message is missing`);
  const isDropped = (name: string) => name === 'message-id' || name === 'date';
  const { payload, raw } = readRawSend({
    raw: joinRawMail(cutRawMail(stored, isDropped), []),
    recipients: recipients.map(({ email }) => email),
    allowsUtf8: true,
    bareDomain: null,
    via: by.kind === 'operator' ? 'command' : 'api',
    user: null,
  });
  return { payload: { ...payload, ...labelsOf(row) }, content: rawSendContent(raw) };
}

function labelsOf(row: MessageRow): Pick<SendPayload, 'conversationId' | 'tags' | 'metadata'> {
  return {
    conversationId: row.conversation_id ?? undefined,
    tags: fromJson<string[]>(row.tags) ?? undefined,
    metadata: fromJson<SendPayload['metadata']>(row.metadata) ?? undefined,
  };
}
