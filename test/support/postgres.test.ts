import pg from 'pg';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { type PostgresSchema, postgresSchema } from './postgres.ts';

const serverUrl = inject('postgresUrl');
const schemas: PostgresSchema[] = [];

async function newSchema(): Promise<PostgresSchema> {
  const schema = await postgresSchema(serverUrl);
  schemas.push(schema);
  return schema;
}

async function ask(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

afterEach(async () => {
  for (const schema of schemas.splice(0)) await schema.drop();
});

describe('a PostgreSQL schema for a test', () => {
  it('holds the tables of its URL, hidden from the next schema', async () => {
    const [one, two] = [await newSchema(), await newSchema()];
    await ask(one.url, 'create table things (id int)');
    await ask(one.url, 'insert into things values (7)');
    expect(await ask(one.url, 'select id from things')).toEqual([{ id: 7 }]);
    await expect(ask(two.url, 'select id from things')).rejects.toThrow('does not exist');
  });

  it('is removed with its tables by drop', async () => {
    const schema = await newSchema();
    await ask(schema.url, 'create table things (id int)');
    await schema.drop();
    await expect(ask(schema.url, 'select id from things')).rejects.toThrow('does not exist');
  });

  it('holds UTF-8', async () => {
    const { url } = await newSchema();
    expect(await ask(url, "select 'Grüße 漢字' as text")).toEqual([{ text: 'Grüße 漢字' }]);
  });
});
