// The pages before a session: sign-in, the sent link, the page behind a link. None of them tells
// whether an address is known.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LinkPurpose } from '../../src/access/sessions/link-queries.ts';
import { makeMailedLink } from '../../src/access/sessions/mailed-links.ts';
import { hashOfToken } from '../../src/platform/runtime/tokens.ts';
import { stores } from '../support/command.ts';
import { browserOf, makePerson } from './persons.ts';
import { type Answer, consoleWorld, problemOf, type World } from './world.ts';

const minute = 60_000;

/** Returns a page without random values. */
const masked = ({ body }: Answer) => body.replaceAll(/[\w-]{43}/g, '*');

describe.each(stores)('signing in on %s', (store) => {
  let world: World;
  let personId: string;
  beforeEach(async () => {
    world = await consoleWorld(store);
    ({ personId } = await makePerson(world, 'jette@example.com'));
  });
  afterEach(() => world.close());

  const ask = (email: string) => world.browser().post('/console/sign-in/mail', { email });

  async function linkFor(purpose: LinkPurpose, sessionHash: string | null = null) {
    const { app } = world.test;
    const made = {
      personId,
      purpose,
      email: 'jette@example.com',
      browser: 'Firefox on Windows',
      address: '203.0.113.7',
      sessionHash,
    };
    const { token } = await app.store.write((trx) => makeMailedLink(app, trx, made, false));
    return `/console/link/${token}`;
  }

  const cookieOf = ({ headers }: Answer) =>
    [headers['set-cookie'] ?? []].flat().find((one) => String(one).startsWith('svc_console='));

  it('answers a known and an unknown address with the same bytes', async () => {
    const [known, unknown] = [await ask('jette@example.com'), await ask('gesche@example.com')];
    expect([known.status, unknown.status]).toEqual([200, 200]);
    expect(masked(known)).toBe(masked(unknown).replaceAll('gesche@', 'jette@'));
    expect(known.headers['set-cookie']).toBe(unknown.headers['set-cookie']);
  });

  it('answers while the store is stopped', async () => {
    const page = await world.browser().get('/console/sign-in');
    const [, _form = ''] = /name="_form" value="([^"]*)"/.exec(page.body) ?? [];
    const [cookie = ''] = String(page.headers['set-cookie']).split(';');
    const { store: kept } = world.test.app;
    const write = kept.write.bind(kept);
    Object.assign(kept, {
      write: () => new Promise(() => {}),
    });
    const body = new URLSearchParams({ _form, email: 'jette@example.com' }).toString();
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await world.http.inject({
      method: 'POST',
      url: '/console/sign-in/mail',
      headers,
      payload: body,
    });
    expect([answer.statusCode, answer.body]).toEqual([
      200,
      expect.stringContaining('If this address has an account'),
    ]);
    Object.assign(kept, { write });
  });

  it.each([
    ['of 300 characters', `${'a'.repeat(290)}@example.com`],
    ['beyond ASCII', 'jörg@example.com'],
    ['with a line break', 'jette@example.com\r\nbcc: eve@example.com'],
    ['without a domain', 'jette'],
    ['that is empty', ''],
  ])('refuses an address %s in one sentence', async (_name, email) => {
    const { status, body } = await ask(email);
    expect([status, problemOf(body)]).toEqual([422, expect.stringContaining('no mail address')]);
  });

  it('tells a visitor of this machine of svc open, since no mail leaves', async () => {
    expect((await world.browser().get('/console/sign-in')).body).toContain('svc open');
  });

  it('is drawn by the link any number of times, and begun by the button once', async () => {
    const path = await linkFor('sign-in');
    for (const method of ['GET', 'HEAD', 'GET'] as const) {
      const { statusCode, headers } = await world.http.inject({ method, url: path });
      expect([method, statusCode, headers['set-cookie']]).toEqual([method, 200, undefined]);
    }
    const page = await world.browser().get(path);
    expect(page.body).toContain('Sign in as jette@example.com?');
    expect(page.body).toContain('203.0.113.0/24');
    const answer = await world.browser().post(path, {});
    expect([answer.status, answer.headers['refresh']]).toEqual([200, '0; url=/console']);
    const [cookie = ''] = String(cookieOf(answer)).split(';');
    expect((await world.browser(cookie).get('/console')).status).toBe(200);
    const again = await world.browser().post(path, {});
    expect([again.status, cookieOf(again)]).toEqual([410, undefined]);
    expect(again.body).toContain('This link does not work any more.');
  });

  it('does not begin with a late or a declined link', async () => {
    const declined = await linkFor('sign-in');
    expect((await world.browser().post(declined, { decline: '1' })).status).toBe(200);
    expect((await world.browser().post(declined, {})).status).toBe(410);
    const late = await linkFor('sign-in');
    await world.test.clock.advance(15 * minute);
    expect((await world.browser().get(late)).status).toBe(410);
    expect((await world.browser().post(late, {})).status).toBe(410);
  });

  it('proves by a link only in the session that asked', async () => {
    const browser = await browserOf(world, personId);
    await world.test.clock.advance(15 * minute);
    const typed = { _action: 'make', name: 'Scanner', role: 'sender' };
    await browser.post('/console/keys', typed);
    const [, token = ''] = browser.cookie.split('=');
    const path = await linkFor('proof', hashOfToken(token));
    const elsewhere = await world.browser().post(path, {});
    expect([elsewhere.status, cookieOf(elsewhere)]).toEqual([403, undefined]);
    const proven = await browser.post(path, {});
    expect([proven.status, proven.headers['refresh']]).toEqual([200, '0; url=/console/asks-again']);
    expect((await browser.get('/console/asks-again')).body).toContain('It is you. Make this key?');
  });

  it('ends all sessions by the link of a warning', async () => {
    const browser = await browserOf(world, personId);
    const path = await linkFor('end-sessions');
    await world.browser().get(path);
    expect((await browser.get('/console')).status).toBe(200);
    await world.browser().post(path, {});
    expect((await browser.get('/console')).status).toBe(401);
  });
});
