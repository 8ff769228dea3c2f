// The person of a session, for pages of My account.
import { Refusal } from '../api.ts';
import type { Asked } from '../page.ts';

/** Sentence for a session of a key or of the operator. */
export const noAccount =
  'This session has no account: it is of a key, or of "svc open". Ask an owner for an invitation, then sign in by your address.';

/** Returns the person of a session. @throws Refusal for a session of a key or of the operator */
export function personOf({ caller }: Pick<Asked, 'caller'>): {
  personId: string;
  memberId: string;
  email: string;
} {
  if (caller.by.kind === 'member') return caller.by;
  throw new Refusal(404, { message: noAccount }, '');
}
