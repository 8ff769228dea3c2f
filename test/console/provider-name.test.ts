// The name of the provider of single sign-on: where one is set up, every page says its label.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { updateOrganization } from '../../src/access/organizations/organizations.ts';
import { fillPages, findPaths } from './fixture.ts';
import { browserOf, makePerson } from './persons.ts';
import { type Browser, consoleWorld, problemOf, type World } from './world.ts';

const label = 'Acme ID';
const general = /single sign-on|\bSSO\b/i;

/** Returns the words of a page, without the command and request below it. */
const wordsOf = (body: string) =>
  body
    .replaceAll(/<details class="same">[\s\S]*?<\/details>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

describe('the pages of a service with a provider', () => {
  let world: World;
  let operator: Browser;
  let owner: Browser;
  beforeAll(async () => {
    world = await consoleWorld('sqlite', {
      console: { signIn: { oidc: { issuer: 'https://id.example', clientId: 'svc', label } } },
    });
    operator = await world.operator();
    const mailbox = await world.firstMailbox();
    await fillPages((path, body, key) => world.api('POST', path, body, key), mailbox);
    const { personId } = await makePerson(world, 'ann@elsewhere.example', [{ name: 'Ann' }]);
    owner = await browserOf(world, personId);
  });
  afterAll(() => world.close());

  it('never name single sign-on in general', async () => {
    const paths = await findPaths(async (path) => (await operator.get(path)).body);
    for (const browser of [operator, owner]) {
      for (const path of [...paths.values(), '/console/account', '/console/asks-again']) {
        const { body } = await browser.get(path);
        expect([path, general.exec(wordsOf(body))?.[0]]).toEqual([path, undefined]);
      }
    }
    const { body } = await world.browser().get('/console/sign-in');
    expect(general.exec(wordsOf(body))).toBeNull();
  });

  it.each(['/console/account', '/console/organization', '/console/people', '/console/sign-in'])(
    'name the provider: %s',
    async (path) => {
      const browser = path.endsWith('sign-in') ? world.browser() : owner;
      expect(wordsOf((await browser.get(path)).body)).toContain(label);
    },
  );

  it('name the provider where a stronger sign-in is needed', async () => {
    const refused = await owner.post('/console/organization', {
      _action: 'signIn',
      signIn: 'strong',
    });
    expect(problemOf(refused.body)).toContain(`a passkey or ${label}`);
    await updateOrganization(world.test.app, 'default', { signIn: 'strong' });
    const { status, body } = await owner.get('/console');
    expect([status, wordsOf(body).includes(`opens by a passkey or ${label} alone`)]).toEqual([
      403,
      true,
    ]);
  });
});
