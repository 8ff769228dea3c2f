// The status of a contact. Only `archived` is stored. The remaining statuses follow on each read
// from the blocks of all mail on the first email, so that a new or lifted block counts at once.
//
//   status       | condition                               (the first that fits)
//   -------------+----------------------------------------------------------------
//   archived     | archived by hand, with or without blocks
//   complained   | the first email is blocked for a complaint
//   bounced      | … for a bounce
//   unsubscribed | … for an unsubscribe
//   active       | otherwise; a block by hand is shown as the reason

import { isoTime } from '../../platform/runtime/clock.ts';
import type { ActiveBlockRow } from '../blocks/queries.ts';
import { reasonsByWeight } from '../blocks/schema.ts';
import type { Contact, ContactStatus } from './schema.ts';

const statuses = {
  complaint: 'complained',
  bounce: 'bounced',
  unsubscribe: 'unsubscribed',
  manual: 'active',
} as const satisfies Record<ActiveBlockRow['reason'], ContactStatus>;

/** Returns the status. `blocks`: the blocks of all mail on the first email. */
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
