// What state a contact is in. Only `archived` is stored; the rest follows from the blocks of all mail on its
// first email whenever it is read, so that a block that comes or is lifted holds at once.
//
//   status       | where                                   (the first that fits)
//   -------------+----------------------------------------------------------------
//   archived     | it was archived by hand, whatever is blocked
//   complained   | its first email is blocked for a complaint
//   bounced      | … for a bounce
//   unsubscribed | … as somebody unsubscribed
//   active       | nothing of these; a block by hand is told as the reason
import type { ActiveBlockRow } from '../blocks/queries.ts';
import { reasonsByWeight } from '../blocks/schema.ts';
import { isoTime } from '../runtime/clock.ts';
import type { Contact, ContactStatus } from './schema.ts';

const statuses = {
  complaint: 'complained',
  bounce: 'bounced',
  unsubscribe: 'unsubscribed',
  manual: 'active',
} as const satisfies Record<ActiveBlockRow['reason'], ContactStatus>;

/** `blocks`: those of all mail on the first email. */
export function statusOf(
  isArchived: boolean,
  blocks: readonly Omit<ActiveBlockRow, 'folded_address'>[],
): Pick<Contact, 'status' | 'statusReason'> {
  const rank = ({ reason }: Pick<ActiveBlockRow, 'reason'>) => reasonsByWeight.indexOf(reason);
  const [block] = blocks.toSorted((a, b) => rank(a) - rank(b));
  const statusReason =
    block === undefined
      ? null
      : `The first email is blocked (${block.reason}) since ${isoTime(block.created_at)} by ${block.id}`;
  const status = block === undefined ? 'active' : statuses[block.reason];
  return { status: isArchived ? 'archived' : status, statusReason };
}
