// Schemas that the tests of a process use in sequence: making a schema with tables takes longer
// than most tests. A connection that stays open removes the rows of a test. A schema with changed
// definitions, or with much space of removed rows, is dropped. Schemas left at the end are removed
// with the server, or with the database of the run (postgres.ts).
import pg from 'pg';
import { type PostgresSchema, postgresSchema } from './postgres.ts';

export interface MigratedSchema {
  url: string;
  /** Records the empty tables. Call it after they were made, before anything is written. */
  made(): Promise<void>;
  /** Empties the schema and returns it to the pool. */
  release(): Promise<void>;
}

interface PooledSchema extends PostgresSchema {
  client: pg.Client;
  /** SQL statements that restore the unused schema; null before the first use. */
  reset: string | null;
}

const free: PooledSchema[] = [];

/** Returns a schema with the empty tables of the service, or without tables. */
export async function migratedSchema(serverUrl: string): Promise<MigratedSchema> {
  const schema = free.pop() ?? (await pooledSchema(serverUrl));
  const { client } = schema;
  return {
    url: schema.url,
    async made() {
      if (schema.reset !== null) return;
      schema.reset = await resetOf(client);
      await definitionsStand(client);
    },
    async release() {
      if (schema.reset !== null && (await definitionsStand(client)) && (await isSmall(client))) {
        await client.query(schema.reset);
        free.push(schema);
        return;
      }
      await client.end();
      await schema.drop();
    },
  };
}

async function pooledSchema(serverUrl: string): Promise<PooledSchema> {
  const schema = await postgresSchema(serverUrl);
  const client = new pg.Client({ connectionString: schema.url });
  await client.connect();
  return { ...schema, client, reset: null };
}

/** Returns true if no definition in the schema changed since the last call. */
async function definitionsStand(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(
    'delete from public.redefined_schemas where name = current_schema()',
  );
  return rowCount === 0;
}

/** Size of tables and indexes above which a schema is dropped; a new schema has 3 MB. */
const mostBytes = 16 * 1024 * 1024;

/**
 * Returns whether the tables and indexes are small. Removed rows keep their space until the
 * server's own clean-up, and each read passes over them: a later test can become 10 times as slow.
 */
async function isSmall(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ bytes: string }>(
    `select coalesce(sum(pg_relation_size(oid)), 0) as bytes from pg_class
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'i')`,
  );
  return Number(rows[0]?.bytes) <= mostBytes;
}

/**
 * Returns the statements of the reset. They disable the triggers of foreign keys, so that their
 * order does not matter.
 */
async function resetOf(client: pg.Client): Promise<string> {
  const { rows: tables } = await client.query<{ name: string }>(
    'select tablename as name from pg_tables where schemaname = current_schema()',
  );
  const statements = ['set session_replication_role = replica'];
  for (const { name } of tables) {
    statements.push(`delete from ${name}`);
    const { rows } = await client.query<{ json: string | null }>(
      `select quote_literal(json_agg(t)::text) as json from ${name} t`,
    );
    const json = rows[0]?.json;
    const inserted = `insert into ${name} select * from json_populate_recordset(null::${name}, ${json})`;
    if (json) statements.push(inserted);
  }
  return statements.join(';\n');
}
