// A process that commits and is killed before it can notify others. Ends by its own SIGKILL.
import { sql } from 'kysely';
import pg from 'pg';
import { openPostgres } from '../../../src/platform/store/postgres/postgres.ts';

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
  if (String(given[0]).startsWith('notify')) process.kill(process.pid, 'SIGKILL');
  return Reflect.apply(query, this, given);
} as typeof query;

const [, , url = ''] = process.argv;
const store = await openPostgres({ url });
await store.write((trx) => sql`insert into things values (7)`.execute(trx));
await store.close();
