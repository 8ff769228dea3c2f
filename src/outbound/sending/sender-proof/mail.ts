// The mail that asks an address for proof. The stored content has a link without the token: the
// token is put into the copy that leaves (src/outbound/queue/carrier/proof-link.ts), so that no
// reader of the message can prove the address.
import type { Caller } from '../../../core/api/route.ts';
import type { AcceptRequest } from '../accept.ts';
import { serviceMail } from '../service-mail.ts';

interface ProofMail {
  /** Caller that asks for the proof. */
  caller: Caller;
  senderId: string;
  email: string;
  /** Name of the organization that added the sender. */
  asker: string;
  /** The link, without a token. */
  url: string;
}

/** Returns the request that puts the mail into the queue. */
export function proofRequest({ caller, senderId, email, asker, url }: ProofMail): AcceptRequest {
  return serviceMail({
    ...{ caller, url, to: { email }, onBehalfOf: email, name: asker },
    words: (name) => ({
      subject: 'Please confirm that you send mail from this address',
      opening: `${name} wants to send mail from ${email}.`,
      purpose: 'allow it',
      button: `Allow mail from ${email}`,
      command: `Or run this command, with the last part of that link as its token:\nsvc senders verify ${senderId} --token TOKEN`,
      closing:
        'The link works for 7 days. If you did not ask for this, do nothing: without your answer no mail is sent from your address.',
    }),
  });
}
