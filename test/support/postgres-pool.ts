// Schemas that the tests of one process use one after another: making one with its tables takes longer
// than most tests. What a test left is removed; a schema whose definitions it changed is dropped. Those
// that are free at the end go with the server, or with the run's database (postgres.ts).
import pg from 'pg';
import { type PostgresSchema, postgresSchema } from './postgres.ts';

export interface MigratedSchema {
  url: string;
  /** To be called when its tables have been made, before anything is written. */
  made(): Promise<void>;
  /** Gives it back, empty again. */
  release(): Promise<void>;
}

/** What a schema is like that nobody has used: its definitions, and the rows of its migrations. */
interface Blank {
  definitions: string;
  tables: string[];
  rows: { table: string; json: string }[];
}

interface PooledSchema extends PostgresSchema {
  blank: Blank | null;
}

const free: PooledSchema[] = [];

/** A schema with the tables of the service and nothing in them, or an empty one to be migrated. */
export async function migratedSchema(serverUrl: string): Promise<MigratedSchema> {
  const schema = free.pop() ?? { ...(await postgresSchema(serverUrl)), blank: null };
  return {
    url: schema.url,
    async made() {
      schema.blank ??= await connected(schema.url, describe);
    },
    async release() {
      const { blank } = schema;
      if (blank && (await connected(schema.url, (client) => empty(client, blank)))) {
        free.push(schema);
      } else {
        await schema.drop();
      }
    },
  };
}

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Columns, constraints, indexes and triggers, in one text. */
async function definitionsOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ text: string }>(`
    select coalesce(string_agg(line, e'\\n' order by line), '') as text from (
      select concat(c.relname, ' ', a.attname, ' ', a.atttypid, ' ', a.attnotnull) as line
        from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = current_schema()::regnamespace and a.attnum > 0
      union all select concat(conrelid::regclass, ' ', pg_get_constraintdef(oid))
        from pg_constraint where connamespace = current_schema()::regnamespace
      union all select concat(tgrelid::regclass, ' ', tgname)
        from pg_trigger where not tgisinternal
          and tgrelid in (select oid from pg_class where relnamespace = current_schema()::regnamespace)
    ) as lines`);
  return rows[0]?.text ?? '';
}

async function describe(client: pg.Client): Promise<Blank> {
  const { rows: found } = await client.query<{ tablename: string }>(
    'select tablename from pg_tables where schemaname = current_schema()',
  );
  const tables = found.map(({ tablename }) => tablename);
  const rows: Blank['rows'] = [];
  for (const table of tables) {
    const { rows: kept } = await client.query<{ json: string | null }>(
      `select json_agg(t)::text as json from ${table} t`,
    );
    if (kept[0]?.json) rows.push({ table, json: kept[0].json });
  }
  return { definitions: await definitionsOf(client), tables, rows };
}

/** False where its definitions are not as they were. */
async function empty(client: pg.Client, blank: Blank): Promise<boolean> {
  if ((await definitionsOf(client)) !== blank.definitions) return false;
  // Without the triggers of foreign keys, so that the order does not matter.
  const deletions = blank.tables.map((table) => `delete from ${table};`).join('\n');
  await client.query(`set session_replication_role = replica; ${deletions}`);
  for (const { table, json } of blank.rows) {
    await client.query(
      `insert into ${table} select * from json_populate_recordset(null::${table}, $1)`,
      [json],
    );
  }
  return true;
}
