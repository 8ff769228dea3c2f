// Checks of the store's schema, and of PostgreSQL: the clock, durable commits, and dead rows.
import { databaseTime, machineTime } from '../platform/store/changes/database-clock.ts';
import { earlierSchemaOf, foreignSchemaOf, startToMigrate } from '../platform/store/migrate.ts';
import { type Check, fail, ok, warn } from './finding.ts';
import { databaseSize, unsafeSettings } from './queries.ts';

const wrongClock = { warn: 5_000, fail: 30_000 };
const manyDeadRows = 1_000_000;
const longTransactionSeconds = 600;
const megabyte = 1024 ** 2;

const sqliteFound = 'the store is a SQLite file of this machine';

export const databaseChecks: readonly Check[] = [
  {
    name: 'database-schema',
    async look({ app }) {
      const foreign = await foreignSchemaOf(app.store.db);
      if (foreign) return fail(`the store ${foreign}`, 'Stop the daemons of this version.');
      const earlier = await earlierSchemaOf(app.store.db);
      if (!earlier) return ok('the store has the schema of this version');
      const remedy = `To use all commands, ${startToMigrate}: only its start migrates the store.`;
      return warn(`the store ${earlier}`, remedy, 'svc daemon');
    },
  },
  {
    name: 'database-clock',
    async look({ app }) {
      if (app.store.kind === 'sqlite') return ok(sqliteFound);
      const before = machineTime(app.clock);
      const there = await databaseTime(app.store.db);
      // The database read the clock between the two readings here, so their middle is compared.
      const here = (before + machineTime(app.clock)) / 2;
      const offMs = Math.abs(here - there);
      const found = `the clock is ${Math.round(offMs / 1000)} s off that of PostgreSQL`;
      if (offMs <= wrongClock.warn) return ok(found);
      const remedy =
        'Let all machines keep their time by NTP. Daemons go by the clock of PostgreSQL, and their logs do not.';
      return (offMs <= wrongClock.fail ? warn : fail)(found, remedy, 'timedatectl set-ntp true');
    },
  },
  {
    name: 'database-durability',
    async look({ app }) {
      if (app.store.kind === 'sqlite') return ok(sqliteFound);
      const off = await unsafeSettings(app.store.db);
      if (off.length === 0) return ok('PostgreSQL keeps each commit over a crash');
      const remedy =
        'Turn them on: mail that was answered 201 or 250 may be lost if the server crashes.';
      return fail(`PostgreSQL has ${off.join(', ')} off`, remedy);
    },
  },
  {
    name: 'database-bloat',
    async look({ app }) {
      if (app.store.kind === 'sqlite') return ok(sqliteFound);
      const { tableBytes, indexBytes, worst, oldestSeconds } = await databaseSize(app.store.db);
      const sizes = `tables have ${Math.round(tableBytes / megabyte)} MB, indexes ${Math.round(indexBytes / megabyte)} MB`;
      if (oldestSeconds > longTransactionSeconds) {
        const minutes = Math.round(oldestSeconds / 60);
        const remedy =
          'End it (pg_stat_activity names it): until then no dead row is cleaned up, and the queue gets slower.';
        return warn(`${sizes}; a transaction is open for ${minutes} minutes`, remedy);
      }
      if (worst && worst.dead > manyDeadRows && worst.dead > worst.live) {
        const found = `${sizes}; ${worst.name} has ${worst.dead} dead rows beside ${worst.live} live ones`;
        const remedy =
          'Look whether autovacuum runs, and make it quicker: autovacuum_vacuum_cost_limit.';
        return warn(found, remedy);
      }
      return ok(sizes);
    },
  },
];
