// An address may be blocked for all mail for several reasons at once: an unsubscribe outlives a lifted
// bounce, and a complaint outlives a new subscription.
import type { Migration } from '../migration.ts';

export const blockReasons: Migration = {
  name: '0036-block-reasons',
  statements() {
    return [
      'drop index blocks_of_all_mail',
      `create unique index blocks_of_all_mail on blocks (organization_id, folded_address, reason)
        where unsubscribe_group_id is null`,
    ];
  },
};
