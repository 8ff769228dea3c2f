// Checks whether the sender of a send may send it (resolve.ts). Passes the resolved sender on to the checks
// after it and to the draft.
import type { SendCheck } from '../../core/api/send-check.ts';
import { ServiceError } from '../../platform/errors.ts';
import {
  type FindHostedSender,
  type FromAddress,
  type ResolvedSender,
  resolveSenders,
} from './resolve.ts';

interface Sent {
  organizationId: string;
  from: FromAddress | undefined;
  /** Null until it is resolved, and after a refusal. */
  sender: ResolvedSender | null;
}

export const senderCheck = (findHosted: FindHostedSender): SendCheck<'both', Sent> => ({
  name: 'sender',
  asked: 'both',
  async prepare(_app, trx, sends) {
    const answers = await resolveSenders(trx, sends, findHosted);
    const refusals = new Map<Sent, ServiceError>();
    for (const [index, send] of sends.entries()) {
      const answer = answers[index];
      if (answer instanceof ServiceError) refusals.set(send, answer);
      else send.sender = answer ?? null;
    }
    return (send) => refusals.get(send) ?? null;
  },
});
