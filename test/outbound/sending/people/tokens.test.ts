// A day of people: sign-ins, invitations, changes of address and warnings, at seeded times. No live
// token can be read then: in the log, the bytes of the store and of a backup, and the answer of any
// route to a key of each role, or with every right but `members` and `keys`.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { routes } from '../../../../daemon/http/routes.ts';
import { createKey } from '../../../../src/access/keys/keys.ts';
import { createMember, resendInvitation } from '../../../../src/access/members/members.ts';
import { beginPersonSession } from '../../../../src/access/sessions/person-sessions.ts';
import { everyPermission } from '../../../../src/core/api/permission.ts';
import { roles } from '../../../../src/core/config/roles.ts';
import { askForAddress } from '../../../../src/outbound/sending/people/address.ts';
import { greetBrowser } from '../../../../src/outbound/sending/people/warnings.ts';
import { seededRandom } from '../../../../src/platform/runtime/random.ts';
import { saveBackup } from '../../../../src/platform/upkeep/backup.ts';
import { httpApi } from '../../../support/http-client.ts';
import { type PeopleWorld, peopleWorld, visitor } from './people-world.ts';

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000);
const hour = 3_600_000;
const label = 'Acme ID';

interface Person {
  personId: string;
  email: string;
}

/** Acts of an hour, by their names. `at` is the number of the hour. */
const acts: Readonly<
  Record<string, (world: PeopleWorld, person: Person, at: number) => Promise<unknown>>
> = {
  link: (world, { email }) => world.ask(email),
  session: ({ app }, { personId }) =>
    beginPersonSession(app, { personId, proof: 'link', browser: 'Firefox', network: '' }),
  browser: ({ app }, { personId }, at) =>
    greetBrowser(app, { ...visitor, personId, browserToken: `new-${at}` }),
  invitation: async ({ app, test }, _person, at) => {
    const invited = { email: `i${at}@gmail.example`, role: 'editor', mail: true } as const;
    const { id } = await createMember(app, test.operator, invited);
    if (at % 2 === 0) await resendInvitation(app, test.operator, id);
  },
  address: async ({ app }, { personId }, at) => {
    await askForAddress(app, { ...visitor, personId, email: `new${at}@gmail.example` });
  },
};

/** Returns the bytes of all files below a folder. */
const bytesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((file) => (existsSync(file) ? readFileSync(file).toString('latin1') : ''))
    .join('');

/** Makes a key of each role, and one with every right but `members` and `keys`. */
async function keysOf({ app, test }: PeopleWorld): Promise<Map<string, string>> {
  const keys = new Map<string, string>();
  const make = async (name: string, given: object) => {
    const input = { name, owner: 'person', ...given } as const;
    keys.set(name, (await createKey(app, test.operator, input)).key ?? '');
  };
  for (const role of roles) await make(role, { role });
  const permissions: Record<string, string[]> = {};
  for (const permission of everyPermission()) {
    const [resource = '', action = ''] = permission.split(':');
    if (resource === 'members' || resource === 'keys') continue;
    permissions[resource] = [...(permissions[resource] ?? []), action];
  }
  await make('every right', { permissions });
  return keys;
}

/** Returns ids of rows that a reader might put into a path, a few of each table. */
async function idsIn({ app }: PeopleWorld): Promise<string[]> {
  const ids: string[] = [];
  for (const table of ['messages', 'deliveries', 'contents', 'members', 'audit_entries']) {
    const { rows } = await sql<{ id: string }>`
      select id from ${sql.table(table)} order by id desc limit 2`.execute(app.store.db);
    ids.push(...rows.map(({ id }) => id));
  }
  return ids;
}

it(`no live token can be read anywhere after a day of people (SEED=${seed})`, async () => {
  const log = new PassThrough();
  const lines: Buffer[] = [];
  log.on('data', (line: Buffer) => lines.push(line));
  const oidc = { issuer: 'https://id.example', clientId: 'svc', label };
  const world = await peopleWorld('sqlite', { console: { signIn: { oidc } } }, { log });
  const { app, test } = world;
  const random = seededRandom(seed);
  const people: Person[] = [];
  for (let at = 0; at < 6; at++) {
    const email = `p${at}@gmail.example`;
    people.push({
      email,
      personId: await world.join(email, { role: at === 0 ? 'owner' : 'editor' }),
    });
  }
  const backup = join(app.config.dataDir, 'backup.copy');
  const tokens = new Set<string>();
  const texts: string[] = [];
  const done = new Map<string, number>();
  const names = Object.keys(acts);
  for (let at = 0; at < 24; at++) {
    for (const name of names) {
      const person = people[(at + names.indexOf(name)) % people.length];
      // Each kind comes up in the first hours; later the seed decides.
      if (!person || (at > 5 && random.float() < 0.5)) continue;
      if (name === 'address' && done.get(person.email)) continue;
      const made = await acts[name]?.(world, person, at);
      if (name === 'address') done.set(person.email, at);
      if (typeof made === 'string') tokens.add(made);
    }
    for (const { token, text } of await world.arrived()) {
      if (token !== '') tokens.add(token);
      texts.push(text);
    }
    if (at === 18) {
      const file = join(app.config.dataDir, 'svc.db');
      const options = { overwrite: false, onProgress: () => undefined };
      await saveBackup({ kind: 'sqlite', file }, backup, options);
    }
    await test.clock.advance(hour);
  }
  expect(tokens.size).toBeGreaterThan(40);
  const leaks = (text: string) => [...tokens].filter((token) => text.includes(token));
  expect(readFileSync(backup).length).toBeGreaterThan(100_000);
  expect(leaks(bytesIn(app.config.dataDir))).toEqual([]);
  expect(leaks(Buffer.concat(lines).toString())).toEqual([]);
  expect(texts.filter((text) => /single sign-on|\bSSO\b/i.test(text))).toEqual([]);
  const api = httpApi(test);
  const ids = await idsIn(world);
  let read = 0;
  for (const [name, key] of await keysOf(world)) {
    for (const { method, path } of routes) {
      if (method !== 'GET') continue;
      for (const id of path.includes('{') ? ids : ['']) {
        const { status, body } = await api.as(key).get(path.replaceAll(/\{\w+\}/g, id));
        expect([name, path, leaks(JSON.stringify(body ?? null))]).toEqual([name, path, []]);
        if (status === 200) read += 1;
      }
    }
  }
  expect(read).toBeGreaterThan(150);
  await api.close();
  await world.close();
});
