// Preloaded into commands (`NODE_OPTIONS=--import=…`): gives them a migration more than the sources
// have, so that a store of these is one of an earlier schema.
import { migrations } from '../../src/platform/store/migrate.ts';
import type { Migration } from '../../src/platform/store/migration.ts';

const nextMigration: Migration = {
  name: '0002-made-up',
  sql: () => 'alter table organizations add column made_up integer;',
};

(migrations as Migration[]).push(nextMigration);
