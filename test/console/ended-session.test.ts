// A form of a session that was over: it waits ten minutes for the same person, key or operator in
// this browser, and for nobody else.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { beginPersonSession } from '../../src/access/sessions/person-sessions.ts';
import { makeLink } from '../../src/access/sessions/sessions.ts';
import { stores } from '../support/command.ts';
import { browserOf, makePerson } from './persons.ts';
import { type Answer, type Browser, consoleWorld, formOf, type World } from './world.ts';

const hour = 3600_000;
const minute = 60_000;
const waits = 'What you typed waits ten minutes';
const email = 'typed-too-late@example.com';
const formType = 'application/x-www-form-urlencoded';

const cookiesOf = ({ headers }: Pick<Answer, 'headers'>): string =>
  [headers['set-cookie'] ?? []]
    .flat()
    .map((cookie) => String(cookie).split(';')[0])
    .join('; ');
const formIn = ({ body }: Answer) => /name="_form" value="([^"]*)"/.exec(body)?.[1] ?? '';

describe.each(stores)('a form of a session that was over, on %s', (store) => {
  let world: World;
  let key: string;
  beforeEach(async () => {
    world = await consoleWorld(store);
    key = (await world.keyWith('contacts:read', 'contacts:write')).key;
  });
  afterEach(() => world.close());

  const ask = async (path: string, cookie: string, fields: Record<string, string>) => {
    const payload = new URLSearchParams(fields).toString();
    const headers = { cookie, 'content-type': formType };
    const answer = await world.http.inject({ method: 'POST', url: path, headers, payload });
    return { status: answer.statusCode, body: answer.body, headers: answer.headers };
  };

  /** Opens the page of contacts, waits until the session is over, and sends a form. */
  async function sendLate(
    browser: Browser,
    more: Record<string, string> = {},
    afterMs = 8 * 24 * hour,
  ) {
    const drawn = formOf((await browser.get('/console/contacts')).body, 'make');
    await world.test.clock.advance(afterMs);
    const fields = { ...drawn, address: email, ...more };
    return ask('/console/contacts?tag=a', browser.cookie, fields);
  }

  /** Signs in by a key in the browser with these cookies. Returns the way on and the new cookie. */
  async function signInAgain(late: Answer, cookie: string, by = key) {
    const fields = { _form: formIn(late), key: by };
    const answer = await ask('/console/sign-in', `${cookie}; ${cookiesOf(late)}`, fields);
    return { to: answer.headers['location'], cookie: cookiesOf(answer) };
  }

  const isMade = async () => {
    const { items = [] } = await world.api('GET', `/v1/contacts?email=${email}`);
    return items.length > 0;
  };

  /** Presses the button of the page that shows the form. */
  async function sendAgain(cookie: string): Promise<void> {
    const shown = await world.browser(cookie).get('/console/asks-again');
    expect([shown.status, shown.body]).toEqual([200, expect.stringContaining(email)]);
    expect(await isMade()).toBe(false);
    const _form = formIn(shown);
    const sent = await ask('/console/contacts?tag=a', cookie, { _form, _kept: '1' });
    expect([sent.status, await isMade()]).toEqual([303, true]);
    const again = await ask('/console/contacts?tag=a', cookie, { _form, _kept: '1' });
    expect(again.headers['location']).toBe('/console/asks-again');
  }

  it('is given back to the same key, and sent once by a button', async () => {
    const browser = await world.signIn(key);
    const late = await sendLate(browser);
    expect([late.status, late.body]).toEqual([401, expect.stringContaining(waits)]);
    const { to, cookie } = await signInAgain(late, browser.cookie);
    expect(to).toBe('/console/asks-again');
    await sendAgain(cookie);
  });

  it('is given back to the operator', async () => {
    const browser = await world.operator();
    const late = await sendLate(browser);
    const link = await makeLink(world.test.app, world.test.caller.organizationId);
    const answer = await ask(`/console/open/${link}`, `${browser.cookie}; ${cookiesOf(late)}`, {});
    expect(answer.headers['location']).toBe('/console/asks-again');
    await sendAgain(cookiesOf(answer));
  });

  it.each(['the same', 'another'])('of a person, for %s person', async (who) => {
    const { app } = world.test;
    const { personId } = await makePerson(world, 'ann@example.com');
    const other = await makePerson(world, 'ben@example.com');
    const browser = await browserOf(world, personId);
    await sendLate(browser, {}, 31 * 24 * hour);
    const signsIn = who === 'the same' ? personId : other.personId;
    // What a door does after its proof.
    const { replaceSession } = await import('../../daemon/console/doors/sign-in.ts');
    const proof = { proof: 'passkey', browser: 'b', network: '' } as const;
    const token = (await beginPersonSession(app, { personId: signsIn, ...proof })) ?? '';
    const site = { app, cookies: { read: () => browser.cookie.split('=')[1] } };
    const way = await replaceSession(site as never, {} as never, token);
    expect(way).toBe(who === 'the same' ? '/console/asks-again' : null);
    if (way) await sendAgain(`svc_console=${token}`);
  });

  it.each<[string, (late: Answer, cookie: string) => Promise<{ to: unknown }>]>([
    ['in another browser', (late) => signInAgain(late, '')],
    [
      'after ten minutes',
      async (late, cookie) => {
        await world.test.clock.advance(10 * minute);
        return signInAgain(late, cookie);
      },
    ],
    [
      'to another key',
      async (late, cookie) => {
        const second = await world.keyWith('contacts:read', 'contacts:write');
        return signInAgain(late, cookie, second.key);
      },
    ],
  ])('is not given back %s', async (_, signIn) => {
    const browser = await world.signIn(key);
    const late = await sendLate(browser);
    expect((await signIn(late, browser.cookie)).to).toBe('/console');
    expect(await isMade()).toBe(false);
  });

  it.each<[string, Record<string, string>]>([
    ['without its token', { _form: 'x' }],
    ['above 64 KB', { name: 'n'.repeat(70_000) }],
  ])('is not kept %s', async (_, more) => {
    const browser = await world.signIn(key);
    const late = await sendLate(browser, more);
    expect([late.status, late.body.includes(waits)]).toEqual([401, false]);
    expect((await signInAgain(late, browser.cookie)).to).toBe('/console');
  });

  it('says that a form above 64 KB is not kept', async () => {
    const late = await sendLate(await world.signIn(key), { name: 'n'.repeat(70_000) });
    expect(late.body).toContain('a form above 64 KB is not kept');
  });

  it('is not kept after signing out', async () => {
    const browser = await world.signIn(key);
    const _form = formIn(await browser.get('/console/contacts'));
    await browser.post('/console/sign-out', {});
    const late = await ask('/console/contacts', browser.cookie, {
      _form,
      _action: 'make',
      address: email,
    });
    expect([late.status, late.body.includes(waits)]).toEqual([401, false]);
  });
});
