// The mail that asks a contact to confirm a group. It is outside of rate and quota, untracked, and marked as
// written by a program (RFC 3834), so that no absence note answers it.
import { operatorOf } from '../../access/keys/roles.ts';
import type { SendPayload } from '../../outbound/messages/send-schema.ts';
import type { AcceptRequest } from '../../outbound/sending/accept.ts';
import { readSendContent } from '../../outbound/sending/content.ts';
import { escapeHtml } from '../../platform/net/escape-html.ts';

export interface ConfirmMail {
  organizationId: string;
  contactId: string;
  /** The group, as recipients read it. */
  group: { name: string; description: string | null };
  /** Name of the sender in the text. */
  sender: string;
  url: string;
}

const subjectOf = (group: string) => `Please confirm: ${group}`;

function textOf({ group: { name, description }, sender, url }: ConfirmMail): string {
  return [
    `Do you want “${name}” from ${sender}?`,
    ...(description === null ? [] : [description]),
    `To confirm, open this page and press the button:\n${url}`,
    `The link works for 7 days. If you did not ask for this, do nothing: without your answer you get no “${name}”.`,
    '',
  ].join('\n\n');
}

function htmlOf({ group: { name, description }, sender, url }: ConfirmMail): string {
  const [group, from, href] = [name, sender, url].map(escapeHtml);
  const about = description === null ? '' : `<p>${escapeHtml(description)}</p>\n`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(subjectOf(name))}</title></head>
<body style="margin: 0; padding: 24px; font: 16px/1.5 sans-serif">
<p>Do you want “${group}” from ${from}?</p>
${about}<p><a href="${href}" style="display: inline-block; padding: 12px 20px; border-radius: 6px; background: #14599e; color: #ffffff; font-weight: bold; text-decoration: none">Confirm “${group}”</a></p>
<p>Or open this page: <a href="${href}" style="word-break: break-all">${href}</a></p>
<p>The link works for 7 days. If you did not ask for this, do nothing: without your answer you get no “${group}”.</p>
</body></html>
`;
}

/** Returns the request that puts the mail into the queue. */
export function confirmRequest(mail: ConfirmMail): AcceptRequest {
  const { organizationId, contactId, group } = mail;
  const payload: SendPayload = {
    channel: 'email',
    to: [{ contactId }],
    email: {
      subject: subjectOf(group.name),
      html: htmlOf(mail),
      text: textOf(mail),
      headers: { 'Auto-Submitted': 'auto-generated' },
    },
  };
  const content = readSendContent(organizationId, payload);
  const caller = operatorOf(organizationId);
  return { caller, payload, content, idempotency: null, isOfService: true };
}
