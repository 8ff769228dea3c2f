// Preloaded into commands (`NODE_OPTIONS=--import=…`). Adds a migration after the last migration of
// the sources, so that a store without it has an earlier schema.
import { migrations } from '../../src/platform/store/migrate.ts';
import type { Migration } from '../../src/platform/store/migration.ts';

const nextMigration: Migration = {
  name: '0002-made-up',
  sql: () => 'alter table organizations add column made_up integer;',
};

(migrations as Migration[]).push(nextMigration);
