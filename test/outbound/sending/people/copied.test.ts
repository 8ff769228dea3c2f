// A copy of a store to the other engine (`svc migrate copy`): lists the active members, and has no
// session, no link and no queued mail with a link to sign in. An invitation still leaves.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { createMember } from '../../../../src/access/members/members.ts';
import { beginSession, makeLink } from '../../../../src/access/sessions/sessions.ts';
import { serviceOrganizationId } from '../../../../src/platform/runtime/ids.ts';
import { type CliWorkspace, initializedWorkspace } from '../../../support/cli.ts';
import { send } from '../../../support/delivery.ts';
import { type PostgresSchema, postgresSchema } from '../../../support/postgres.ts';
import { type PeopleWorld, peopleWorld } from './people-world.ts';

let world: PeopleWorld;
let cli: CliWorkspace;
let schema: PostgresSchema;
beforeEach(async () => {
  world = await peopleWorld('sqlite');
  cli = await initializedWorkspace();
  schema = await postgresSchema(inject('postgresUrl'));
});
afterEach(async () => {
  await world.close();
  cli.close();
  await schema.drop();
});

const of = 'select count(*) as count from deliveries where terminal_at is null and';
const counts = [
  'select count(*) as count from console_sessions',
  'select count(*) as count from console_links',
  'select count(*) as count from mailed_links',
  `${of} organization_id = '${serviceOrganizationId}'`,
  `${of} organization_id <> '${serviceOrganizationId}'`,
];

function countsIn(file: string): number[] {
  const store = new Database(file, { readonly: true });
  const found = counts.map((text) => Number(store.prepare(text).pluck().get()));
  store.close();
  return found;
}

async function countsOnServer(): Promise<number[]> {
  const client = new pg.Client({ connectionString: schema.url });
  await client.connect();
  const found: number[] = [];
  for (const text of counts) found.push(Number((await client.query(text)).rows[0].count));
  await client.end();
  return found;
}

it('lists the active members as of a time, and leaves out ways in', async () => {
  const { app, caller, operator } = world.test;
  await world.join('ada@gmail.example');
  await beginSession(app, caller);
  await makeLink(app, caller.organizationId);
  const store = join(cli.directory, 'data/svc.db');
  for (const end of ['', '-wal', '-shm']) rmSync(`${store}${end}`, { force: true });
  // While the delivery rests, mail stays in the queue.
  await world.rest(async () => {
    await world.ask('ada@gmail.example');
    const invited = { email: 'ben@gmail.example', role: 'editor', mail: true } as const;
    await createMember(app, operator, invited);
    await send(app, caller, 'customer@example.com');
    await sql`vacuum into ${store}`.execute(app.store.db);
  });
  expect(countsIn(store)).toEqual([1, 1, 1, 2, 1]);

  const { code, stdout, stderr } = await cli.run(['migrate', 'copy', '--to', schema.url]);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expect(stdout).toMatch(
    /\nActive members as of \d{4}-\d\d-\d\dT[\d:.]+Z; disable whoever left since:\n {2}ada@gmail\.example, editor of org_/,
  );
  expect(stdout).not.toContain('ben@');
  expect(await countsOnServer()).toEqual([0, 0, 0, 1, 1]);

  const file = join(cli.directory, 'back.db');
  const back = await cli.json<object>(['migrate', 'copy', '--to', `sqlite:${file}`], {
    env: { SVC_DATABASE_URL: schema.url },
  });
  expect(back).toMatchObject({
    members: [{ email: 'ada@gmail.example', role: 'editor', organization: caller.organizationId }],
    membersAsOf: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect(countsIn(file)).toEqual([0, 0, 0, 1, 1]);
});
