// Rotation of keys with a grace period: the replaced key is valid beside its replacement until it
// expires.
import type { Migration } from '../migration.ts';

export const keyRotations: Migration = {
  name: '0002-key-rotations',
  sql: () => `
-- Id of the key that replaced this one by rotation.
alter table api_keys add column replaced_by text;
`,
};
