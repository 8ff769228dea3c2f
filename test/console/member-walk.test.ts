// Every page and action of the console by a member of each role, beside a key of that role marked
// person: the same status, and the same page but for the differences of the table.
// Slow: each page and action for sixteen browsers.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pages } from '../../daemon/console/pages/pages.ts';
import { createKey } from '../../src/access/keys/keys.ts';
import { type Role, roles } from '../../src/core/config/roles.ts';
import { fillPages, findPaths } from './fixture.ts';
import { browserOf, makePerson } from './persons.ts';
import { type Browser, consoleWorld, type World } from './world.ts';

/** Pages and actions that differ, with the reason. */
const differences: Readonly<Record<string, string>> = {
  '/account': 'a key has no account',
  '/account rename': 'a key has no own name here',
  '/asks-again passkey': 'a key has no passkeys',
  '/organization signIn': 'only a passkey or single sign-on makes an organization strong',
};

/** Returns the part of a page below the frame, without ids, times and tokens. */
function masked(body: string): string {
  const [, main = body] = /<main[^>]*>([\s\S]*)<\/main>/.exec(body) ?? [];
  return main
    .replaceAll(/name="_form" value="[^"]*"/g, '')
    .replaceAll(/\b(?:mem|key)_[0-9a-z]{16,}\b/g, 'caller')
    .replaceAll(/The API key does not|Your role \w+ does not/g, 'The caller does not')
    .replaceAll(/\b[\w-]{43}\b/g, 'token')
    .replaceAll(/\d+/g, '0');
}

describe('a member in the console', () => {
  let world: World;
  let paths: ReadonlyMap<string, string>;
  const browsers = new Map<string, Browser>();
  beforeAll(async () => {
    world = await consoleWorld();
    const operator = await world.operator();
    const mailbox = await world.firstMailbox();
    await fillPages((path, body, key) => world.api('POST', path, body, key), mailbox);
    for (const role of roles) {
      const name = `The ${role}`;
      const person = await makePerson(world, `${role}@people.example`, [{ role, name }]);
      browsers.set(`member ${role}`, await browserOf(world, person.personId, { proof: 'passkey' }));
      const input = { name, role, owner: 'person' } as const;
      const { key } = await createKey(world.test.app, world.test.operator, input);
      browsers.set(`key ${role}`, await world.signIn(key ?? ''));
    }
    paths = await findPaths(async (path) => (await operator.get(path)).body);
  });
  afterAll(() => world.close());

  const by = (kind: string, role: Role) => browsers.get(`${kind} ${role}`) as Browser;

  it.each(pages.map(({ path }) => path))('sees the page %s of a key', async (path) => {
    let isDifferent = false;
    for (const role of roles) {
      const url = paths.get(path) ?? '';
      const [key, member] = [await by('key', role).get(url), await by('member', role).get(url)];
      expect([role, member.status]).toEqual([role, key.status]);
      if (!(path in differences))
        expect([role, masked(member.body)]).toEqual([role, masked(key.body)]);
      isDifferent ||= masked(member.body) !== masked(key.body);
    }
    expect(isDifferent).toBe(path in differences);
  });

  const actions = pages.flatMap(({ path, actions: of = {} }) =>
    Object.keys(of).map((action) => [path, action] as const),
  );

  it.each(actions)('is let into the action of %s: %s as a key', async (path, action) => {
    const url = paths.get(path) ?? '';
    const isEqual: boolean[] = [];
    for (const role of roles) {
      const letIn: boolean[] = [];
      for (const kind of ['key', 'member']) {
        const { status } = await by(kind, role).post(url, { _action: action });
        letIn.push(![401, 403].includes(status));
      }
      isEqual.push(letIn[0] === letIn[1]);
    }
    expect(isEqual.every(Boolean)).toBe(!(`${path} ${action}` in differences));
  });
});
