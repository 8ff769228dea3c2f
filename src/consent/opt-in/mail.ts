// The mail that asks a contact to confirm a group. Only the page (page.ts) shows the description of
// the group.
import type { Caller } from '../../core/api/route.ts';
import type { AcceptRequest } from '../../outbound/sending/accept.ts';
import { serviceMail } from '../../outbound/sending/service-mail.ts';
import { domainOf } from '../../platform/net/address.ts';
import type { AskedTexts } from './asking.ts';

interface ConfirmMail extends AskedTexts {
  /** Caller that asked for the mail. */
  caller: Caller;
  contactId: string;
  /** Address of the organization's default sender now. */
  onBehalfOf: string;
  url: string;
}

/** Returns the request that puts the mail into the queue. */
export function confirmRequest({
  caller,
  contactId,
  group,
  sender,
  onBehalfOf,
  url,
}: ConfirmMail): AcceptRequest {
  return serviceMail({
    caller,
    url,
    to: { contactId },
    onBehalfOf,
    name: group,
    words: (name) => ({
      subject: `Please confirm: ${name}`,
      opening: `Do you want “${name}” from ${domainOf(sender)}?`,
      purpose: 'confirm',
      button: `Confirm “${name}”`,
      closing: `The link works for 7 days. If you did not ask for this, do nothing: without your answer you get no “${name}”.`,
    }),
  });
}
