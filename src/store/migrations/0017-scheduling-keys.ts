// By which key a message was scheduled, and which keys replaced one another: when its time comes, the key
// is asked again (src/keys/send-checks.ts).
import type { Migration } from '../migration.ts';

export const schedulingKeys: Migration = {
  name: '0017-scheduling-keys',
  statements() {
    return [
      // Null for what is sent at once, for the operator, and for what was scheduled before. No foreign
      // key: keys are never deleted.
      'alter table messages add column scheduling_key_id text',
      // The first of the keys that rotations put in each other's place: at most one of them is active.
      'alter table api_keys add column lineage text',
      'update api_keys set lineage = id',
      'create index api_keys_of_lineage on api_keys (lineage)',
    ];
  },
};
