// A mail on which a person decides. The mail is composed once, at the proposal or at the approver's
// edit, and exactly these bytes are sent, whatever changes later. The approval repeats the checks
// (approve.ts).
import { hash } from 'node:crypto';
import { beyondSenders } from '../../access/keys/constraints.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { findHostedSender } from '../../identity/mailboxes/addresses.ts';
import { resolveSender } from '../../identity/senders/resolve.ts';
import { compose } from '../../mail/mime/composer.ts';
import { mailboxesField } from '../../mail/mime/headers/header.ts';
import { parseAddressList } from '../../mail/mime/headers/header-addresses.ts';
import { readHeaderBlock } from '../../mail/mime/headers/header-fields.ts';
import { parseLimits } from '../../mail/mime/parsed-mail.ts';
import {
  cutRawMail,
  joinRawMail,
  type RawMail,
  withFieldBehind,
} from '../../mail/mime/raw-mail.ts';
import { feedbackField } from '../../outbound/messages/feedback-fields.ts';
import { withLongText } from '../../outbound/messages/made-text.ts';
import { findMessageRows } from '../../outbound/messages/queries.ts';
import { digestedContent, type SendContent } from '../../outbound/sending/content.ts';
import { type Threading, threadingTo } from '../../outbound/sending/heading.ts';
import { ConflictError, MalformedRequestError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import type { FrozenBytes, ProposedFile, ProposedMail } from '../approvals/proposals.ts';
import { type Addressed, type Mail, siftRecipients } from './mail.ts';

/** Description of a frozen mail, without the bytes of the mail and the files. */
export interface FrozenMail extends Omit<Mail, 'attachments'>, ProposedMail {
  inReplyTo: string | null;
  references: string[];
}

export type Frozen = FrozenBytes<FrozenMail>;

/** A mail before it is composed, without attachments. */
export type Unfrozen = Omit<FrozenMail, 'attachments'>;

function sha256(bytes: Buffer): string {
  return `sha256:${hash('sha256', bytes, 'hex')}`;
}

/** Removes repeated addresses over all lists. The first occurrence stays. */
function distinct({ to, cc, bcc }: Addressed): Addressed {
  const taken = new Set<string>();
  const left = (list: readonly string[]) =>
    list.filter((address) => taken.size < taken.add(foldAddress(address)).size);
  return { to: left(to), cc: left(cc), bcc: left(bcc) };
}

/**
 * Freezes a proposed mail with the decoded files, for the recipients that may receive it; null
 * without such recipients. @throws ForbiddenError for a From that may not send; ConflictError if
 * the mailbox is paused; MalformedRequestError (413) if the mail is too large to read back.
 */
export async function freeze(
  app: App,
  caller: Caller,
  mail: Mail,
  attachments: SendContent['attachments'],
): Promise<Frozen | null> {
  const { db } = app.store;
  const { organizationId } = caller;
  const [sifted] = await siftRecipients(db, [{ organizationId, mail }]);
  if (!sifted || sifted.isEmpty) return null;
  const sender = await resolveSender(db, organizationId, mail.from, findHostedSender);
  const refused = beyondSenders(caller, sender.email);
  if (refused) throw refused;
  const threading = await threadingOf(app, caller, mail);
  const { attachments: _, ...rest } = mail;
  const { to, cc, bcc } = sifted;
  const unfrozen: Unfrozen = {
    ...rest,
    to,
    cc,
    bcc,
    from: { email: sender.email, name: sender.name },
    replyTo: sender.replyToEmails ?? [],
    ...threading,
  };
  return composeFrozen(app, organizationId, unfrozen, attachments);
}

async function threadingOf(
  { store: { db } }: App,
  { organizationId }: Caller,
  { inReplyToMessageId }: Mail,
): Promise<Threading> {
  const [parent] = inReplyToMessageId ? await findMessageRows(db, [inReplyToMessageId]) : [];
  return threadingTo(parent?.organization_id === organizationId ? parent : null);
}

/** Composes the final bytes of a mail. @throws MalformedRequestError (413). */
export async function composeFrozen(
  app: App,
  organizationId: string,
  unfrozen: Unfrozen,
  attachments: SendContent['attachments'],
): Promise<Frozen> {
  const texts = await withLongText(app, organizationId, {
    html: unfrozen.html || null,
    text: unfrozen.text || null,
  });
  const { html, text } = writtenContent(organizationId, texts, attachments);
  const recipients = distinct(unfrozen);
  const mailboxes = (emails: readonly string[]) => emails.map((email) => ({ email, name: null }));
  const { from, replyTo, subject, inReplyTo, references } = unfrozen;
  const feedback = feedbackField(organizationId);
  const { header, body } = await compose({
    from,
    replyTo,
    subject,
    html,
    text,
    inReplyTo,
    references,
    to: mailboxes(recipients.to),
    cc: mailboxes(recipients.cc),
    attachments: attachments.map(({ data: content, ...file }) => ({ ...file, content })),
    headers: [[feedback.name, feedback.value]],
    priority: null,
    boundarySeed: app.newId('content'),
    // Placeholders of fields that the send makes; they are removed below.
    messageIdHeader: '<frozen@invalid>',
    date: 0,
  });
  const isMadeAtSending = (name: string) => name === 'message-id' || name === 'date';
  const { header: kept } = cutRawMail(header, isMadeAtSending);
  const mime = joinRawMail(withBlindCopies({ header: kept, body }, recipients.bcc), []);
  if (mime.length > parseLimits.mailBytes) {
    throw new MalformedRequestError(`The mail is larger than ${parseLimits.mailBytes} bytes`, 413);
  }
  const described = attachments.map(
    ({ data, ...file }, index): ProposedFile => ({
      n: index + 1,
      ...file,
      size: data.length,
      digest: sha256(data),
    }),
  );
  return {
    mail: { ...unfrozen, ...recipients, attachments: described },
    digest: sha256(mime),
    mime,
    files: attachments.map(({ data }) => data),
  };
}

/**
 * Adds the blind copies in a field `Bcc`, so that the digest covers them. The send removes the
 * field.
 */
function withBlindCopies(mail: RawMail, bcc: readonly string[]): RawMail {
  if (bcc.length === 0) return mail;
  const field = mailboxesField(
    'Bcc',
    bcc.map((email) => ({ email, name: null })),
  );
  return withFieldBehind(mail, field, ['to', 'cc']);
}

/**
 * Checks that the bytes of a frozen mail name exactly the recipients of the envelope. Proposals of
 * earlier versions have no field Bcc in the bytes, so their blind copies are not checked. @throws
 * ConflictError
 */
export function requireSameRecipients({ mail, mime }: Frozen): void {
  const header = readHeaderBlock(mime);
  for (const kind of ['to', 'cc', 'bcc'] as const) {
    const field = header.first(kind);
    if (kind === 'bcc' && field === null) continue;
    const named = parseAddressList(field ?? '').addresses.map(({ email }) => foldAddress(email));
    const wanted = mail[kind].map(foldAddress);
    if (named.length === wanted.length && wanted.every((one) => named.includes(one))) continue;
    const text = `The recipients in ${kind} are not those of the proposed mail: reject it`;
    throw new ConflictError('proposal', text);
  }
}

/**
 * Returns the content with the texts in the form of `payloadOf`: empty texts are null, but a mail
 * without HTML has at least an empty plain text.
 */
function writtenContent(
  organizationId: string,
  { html, text }: Pick<Mail, 'html' | 'text'>,
  attachments: SendContent['attachments'],
): SendContent {
  const words = text || (html ? null : '');
  return digestedContent(organizationId, { html: html || null, text: words, attachments });
}

/** Returns the files of a frozen mail with their bytes. */
export function filesOf({ mail, files }: Frozen): SendContent['attachments'] {
  return mail.attachments.map(({ filename, contentType, contentId }, index) => {
    const data = files[index];
    if (!data) throw new Error(`the bytes of ${filename} are missing`);
    return { filename, contentType, contentId, data };
  });
}

/**
 * Returns the content of the send. The MIME is sent; texts and files are for display and search.
 */
export function frozenContent(organizationId: string, frozen: Frozen): SendContent {
  const { mail, mime } = frozen;
  const { subject, from, replyTo, inReplyTo, references } = mail;
  return {
    ...writtenContent(organizationId, mail, filesOf(frozen)),
    raw: {
      via: 'api',
      user: null,
      mail: cutRawMail(mime, (name) => name === 'bcc'),
      messageIdHeader: null,
      hasDate: false,
      hasFeedbackId: readHeaderBlock(mime).first('feedback-id') !== null,
      // Empty: the From was checked by the proposal, and no further sender addresses exist.
      origins: [],
      summary: {
        subject,
        from,
        inReplyTo,
        references,
        replyTo: replyTo.map((email) => ({ email, name: null })),
        priority: null,
      },
    },
  };
}
