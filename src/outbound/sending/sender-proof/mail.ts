// The mail that asks an address for proof. It is outside of rate and quota, untracked, and marked as written by a
// program (RFC 3834). Its stored content has a link without the token: the token is put into the copy that leaves
// (src/outbound/queue/carrier/proof-link.ts), so that no reader of the message can prove the address.
import { operatorOf } from '../../../access/keys/roles.ts';
import { escapeHtml } from '../../../platform/net/escape-html.ts';
import type { SendPayload } from '../../messages/send-schema.ts';
import type { AcceptRequest } from '../accept.ts';
import { readSendContent } from '../content.ts';

export interface ProofMail {
  /** Organization that sends the mail. */
  organizationId: string;
  senderId: string;
  email: string;
  /** Name of the organization that added the sender. */
  asker: string;
  /** The link, without a token. */
  url: string;
}

const subject = 'Please confirm that you send mail from this address';

function textOf({ email, asker, url, senderId }: ProofMail): string {
  return [
    `${asker} wants to send mail from ${email}.`,
    `To allow it, open this page and press the button:\n${url}`,
    `Or run this command, with the last part of that link as its token:\nsvc senders verify ${senderId} --token TOKEN`,
    'The link works for 7 days. If you did not ask for this, do nothing: without your answer no mail is sent from your address.',
    '',
  ].join('\n\n');
}

function htmlOf({ email, asker, url }: ProofMail): string {
  const [address, from, href] = [email, asker, url].map(escapeHtml);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${subject}</title></head>
<body style="margin: 0; padding: 24px; font: 16px/1.5 sans-serif">
<p>${from} wants to send mail from ${address}.</p>
<p><a href="${href}" style="display: inline-block; padding: 12px 20px; border-radius: 6px; background: #14599e; color: #ffffff; font-weight: bold; text-decoration: none">Allow mail from ${address}</a></p>
<p>Or open this page: <a href="${href}" style="word-break: break-all">${href}</a></p>
<p>The link works for 7 days. If you did not ask for this, do nothing: without your answer no mail is sent from your address.</p>
</body></html>
`;
}

/** Returns the request that puts the mail into the queue. */
export function proofRequest(mail: ProofMail): AcceptRequest {
  const { organizationId, email } = mail;
  const payload: SendPayload = {
    channel: 'email',
    to: [{ email }],
    email: {
      subject,
      html: htmlOf(mail),
      text: textOf(mail),
      headers: { 'Auto-Submitted': 'auto-generated' },
    },
  };
  const content = readSendContent(organizationId, payload);
  const caller = operatorOf(organizationId);
  return { caller, payload, content, idempotency: null, isOfService: true };
}
