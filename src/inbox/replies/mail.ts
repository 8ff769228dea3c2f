// A mail to send from a mailbox: the common form of answers, forwards, new mail and drafts, and the
// form that a proposal freezes (frozen.ts). Malformed and blocked recipients are left out at the
// send.

import type { SendPayload } from '../../outbound/messages/send-schema.ts';
import { type ActiveBlocks, findBlockedOf, sendKey } from '../../people/blocks/suppression.ts';
import { foldAddress, parseAddress } from '../../platform/net/address.ts';
import type { Db } from '../../platform/store/db.ts';
import { sentPreview } from '../threads/restate.ts';
import type { Author } from '../threads/schema.ts';
import type { Attachment, SkippedRecipient } from './schema.ts';

/** The version of a draft that is sent, with the author and the last editor. */
export interface SentDraft {
  id: string;
  updatedAt: number;
  author: Author;
  editedBy: Author | null;
}

export interface Mail {
  type: 'sendMessage' | 'reply' | 'forward';
  /** Thread of the mail; null begins a new thread. */
  threadId: string | null;
  inReplyToMessageId: string | null;
  /** The draft from which the mail was made, as it was read; the send deletes it. */
  draft: SentDraft | null;
  from: { email: string; name: string | null };
  to: string[];
  cc: string[];
  bcc: string[];
  subject: string;
  text: string | null;
  html: string | null;
  attachments: Attachment[];
}

/** Returns an address with the display name, if any. */
export function shownAddress({ email, name }: Mail['from']): string {
  return name === null ? email : `${name} <${email}>`;
}

/** The fields of a mail for the summary. */
interface Summarized extends Omit<Mail, 'attachments'> {
  attachments: readonly unknown[];
  /** Reply-To of a proposal; absent for mail that is not a proposal. */
  replyTo?: readonly string[];
}

/** Returns the summary of a mail for the action that records a sending or a proposal. */
export function summaryOf(mail: Summarized): Record<string, unknown> {
  const { from, replyTo, to, cc, bcc, subject, text, attachments } = mail;
  return {
    from: shownAddress(from),
    ...(replyTo && { replyTo }),
    to,
    cc,
    bcc,
    subject,
    preview: sentPreview(text),
    attachments: attachments.length,
  };
}

type Words = Pick<Mail, 'text' | 'html'>;

/**
 * Returns text and HTML of a mail after a change. A change to a single form replaces both, so that
 * no old words remain: a new text removes the HTML, and new HTML the text.
 */
export function wordsAfter(
  before: Words,
  wanted: { [Name in keyof Words]?: Words[Name] | undefined },
): Words {
  const isNew = (name: keyof Words) => Boolean(wanted[name]) && wanted[name] !== before[name];
  const { text = isNew('html') ? null : before.text } = wanted;
  const { html = isNew('text') ? null : before.html } = wanted;
  return { text, html };
}

export type Addressed = Pick<Mail, 'to' | 'cc' | 'bcc'>;

const kinds = ['to', 'cc', 'bcc'] as const;

/**
 * Recipients that may get a mail, in the normal form of src/platform/net/address.ts, and the
 * skipped recipients.
 */
export interface Sifted extends Addressed {
  skipped: SkippedRecipient[];
  isEmpty: boolean;
}

/** Splits the recipients of each mail into allowed and skipped, with a single look-up of blocks. */
export async function siftRecipients(
  trx: Db,
  mails: readonly { organizationId: string; mail: Addressed }[],
): Promise<Sifted[]> {
  const parsed = mails.map(({ mail }) => parsedOf(mail));
  const blocked = await findBlockedOf(
    trx,
    mails.map(({ organizationId }, index) => {
      const addresses = [...(parsed[index]?.values() ?? [])].flatMap((email) => email ?? []);
      return { organizationId, addresses };
    }),
  );
  return mails.map(({ organizationId, mail }, index) => {
    const blocks = blocked.get(sendKey(organizationId, null)) ?? new Map();
    return sift(mail, parsed[index] ?? new Map(), blocks);
  });
}

/** Maps each address as written to the normal form; undefined for a malformed address. */
type Parsed = ReadonlyMap<string, string | undefined>;

function parsedOf(mail: Addressed): Parsed {
  const written = kinds.flatMap((kind) => mail[kind]);
  return new Map(written.map((text) => [text, parseAddress(text)?.email]));
}

function sift(mail: Addressed, parsed: Parsed, blocks: ActiveBlocks): Sifted {
  const skipped: SkippedRecipient[] = [];
  const skip = (address: string, reason: SkippedRecipient['reason']) => {
    if (skipped.some((one) => one.address === address)) return;
    skipped.push({ address, reason, unsubscribeGroupId: null });
  };
  const left = (list: readonly string[]) =>
    list.flatMap((text) => {
      const email = parsed.get(text);
      const block = email === undefined ? undefined : blocks.get(foldAddress(email));
      if (email !== undefined && !block) return [email];
      skip(email ?? text, block?.reason ?? 'malformed');
      return [];
    });
  const [to, cc, bcc] = [left(mail.to), left(mail.cc), left(mail.bcc)];
  return { to, cc, bcc, skipped, isEmpty: to.length + cc.length + bcc.length === 0 };
}

const entries = (emails: readonly string[]) => emails.map((email) => ({ email }));

/** Converts the mail to the payload of a send. */
export function payloadOf(mail: Mail, { to, cc, bcc }: Addressed = mail): SendPayload {
  const { from, subject, attachments, inReplyToMessageId } = mail;
  const html = mail.html || undefined;
  const text = mail.text || (html === undefined ? '' : undefined);
  return {
    channel: 'email',
    to: entries(to),
    cc: entries(cc),
    bcc: entries(bcc),
    from: { email: from.email, ...(from.name !== null && { name: from.name }) },
    email: {
      subject,
      ...(text !== undefined && { text }),
      ...(html !== undefined && { html }),
      ...(attachments.length > 0 && { attachments }),
      ...(inReplyToMessageId !== null && { inReplyToMessageId }),
    },
  };
}
