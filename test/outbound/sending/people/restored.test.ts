// A restored store: sessions and links of the console end, and mail to persons that was queued does
// not leave; other mail stays in the queue.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { inWords, membersIn } from '../../../../commands/base/nouns/restored-members.ts';
import { activeOfRestored, type RestoredMember } from '../../../../src/access/members/queries.ts';
import { beginSession, makeLink } from '../../../../src/access/sessions/sessions.ts';
import { endsOfRestored } from '../../../../src/outbound/sending/people/restored.ts';
import { serviceOrganizationId } from '../../../../src/platform/runtime/ids.ts';
import { copiedTables } from '../../../../src/platform/upkeep/copying/tables.ts';
import { restoreBackup } from '../../../../src/platform/upkeep/restore.ts';
import { send } from '../../../support/delivery.ts';
import { type PeopleWorld, peopleWorld } from './people-world.ts';

let world: PeopleWorld;
let folder: string;
beforeEach(async () => {
  world = await peopleWorld('sqlite');
  folder = mkdtempSync(join(tmpdir(), 'svc-test-restored-'));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await world.close();
});

const ended = ['console_sessions', 'console_links', 'mailed_links'];

it('has no session, no link and no queued mail to a person', async () => {
  const { app, caller } = world.test;
  await world.join('ada@gmail.example');
  await beginSession(app, caller);
  await makeLink(app, caller.organizationId);
  const backup = join(folder, 'backup.db');
  // While the delivery rests, mail stays in the queue.
  await world.rest(async () => {
    await world.ask('ada@gmail.example');
    await send(app, caller, 'customer@example.com');
    await sql`vacuum into ${backup}`.execute(app.store.db);
  });
  const file = join(folder, 'svc.db');
  const { clock, random } = app;
  const countsIn = (path: string) => {
    const store = new Database(path, { readonly: true });
    const count = (text: string) => store.prepare(text).pluck().get() as number;
    const of = `select count(*) from deliveries where terminal_at is null and organization_id`;
    const counts = [
      ...ended.map((table) => count(`select count(*) from ${table}`) > 0),
      count(`${of} = '${serviceOrganizationId}'`) > 0,
      count(`${of} <> '${serviceOrganizationId}'`) > 0,
    ];
    store.close();
    return counts;
  };
  expect(countsIn(backup)).toEqual([true, true, true, true, true]);
  const secretFile = join(folder, 'secret.key');
  const changes = { changes: endsOfRestored, list: activeOfRestored };
  const { listed } = restoreBackup(backup, { file, secretFile, clock, random, ...changes });
  const [member] = listed as RestoredMember[];
  const known = { email: 'ada@gmail.example', role: 'editor', organization: caller.organizationId };
  expect([listed.length, member]).toEqual([1, { ...known, at: expect.any(Number) }]);
  expect(inWords(membersIn(listed))).toContain('\n  ada@gmail.example, editor of org_');
  expect(countsIn(file)).toEqual([false, false, false, false, true]);
});

it('is without these tables in a copy to another engine', () => {
  expect(copiedTables().filter((table) => ended.includes(table))).toEqual([]);
});
