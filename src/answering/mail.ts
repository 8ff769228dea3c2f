// A mail that is to go from a mailbox, as answers, forwarded and new mail and drafts are made of: it is what
// a proposal freezes (frozen.ts). Who gets it is sifted as it goes: what is malformed or blocked is left out.
import { type ActiveBlocks, findBlockedOf, sendKey } from '../blocks/suppression.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import { foldAddress, parseAddress } from '../net/address.ts';
import type { Db } from '../store/db.ts';
import { sentPreview } from '../threads/restate.ts';
import type { Attachment, SkippedRecipient } from './schema.ts';

export interface Mail {
  type: 'sendMessage' | 'reply' | 'forward';
  /** Null begins a thread. */
  threadId: string | null;
  inReplyToMessageId: string | null;
  /** The draft that it is, as it was read: it ends as the mail goes. */
  draft: { id: string; updatedAt: number } | null;
  from: { email: string; name: string | null };
  to: string[];
  cc: string[];
  bcc: string[];
  subject: string;
  text: string | null;
  html: string | null;
  attachments: Attachment[];
}

/** An address with its name, as a person reads it. */
export function shownAddress({ email, name }: Mail['from']): string {
  return name === null ? email : `${name} <${email}>`;
}

/** What of a mail its summary tells. */
interface Summarized extends Omit<Mail, 'attachments'> {
  attachments: readonly unknown[];
  /** Of a proposal, where all of it is known. */
  replyTo?: readonly string[];
}

/** What is shown of a mail in its action. */
export function summaryOf(mail: Summarized): Record<string, unknown> {
  const { from, replyTo, to, cc, bcc, subject, text, attachments } = mail;
  return {
    from: shownAddress(from),
    ...(replyTo && { replyTo }),
    ...{ to, cc, bcc, subject },
    preview: sentPreview(text),
    attachments: attachments.length,
  };
}

export type Addressed = Pick<Mail, 'to' | 'cc' | 'bcc'>;

const kinds = ['to', 'cc', 'bcc'] as const;

/** Whom a mail may go to, in the normal form of src/net/address.ts, and whom not. */
export interface Sifted extends Addressed {
  skipped: SkippedRecipient[];
  isEmpty: boolean;
}

/** Sifts mails, one for each in order; the blocks are asked once for all. */
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

/** By what is written: the address that it is, in normal form. */
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

/** The send that it is. */
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
