// Networks and senders to which an API key is limited (src/keys/constraints.ts).
import type { Migration } from '../migration.ts';

export const keyConstraints: Migration = {
  name: '0010-key-constraints',
  statements() {
    // JSON; null for a key without.
    return ['alter table api_keys add column constraints text'];
  },
};
