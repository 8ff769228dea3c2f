// Actions that ask for a fresh proof: which actions ask, what proves, and what happens to the typed
// form meanwhile.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeLink, sweepSessions } from '../../src/access/sessions/sessions.ts';
import { stores } from '../support/command.ts';
import { every, run } from './every-action.ts';
import { type Browser, consoleWorld, formOf, problemOf, type World } from './world.ts';

/** Actions that ask, by the kind of change. */
const asking: Readonly<Record<string, readonly string[]>> = {
  'keys and secrets': [
    '/keys make',
    '/keys/:id change',
    '/keys/:id rotate',
    '/keys/:id revoke',
    '/webhooks/:id secret',
    '/extensions/:id rotate',
  ],
  members: [
    '/people invite',
    '/people/:id rename',
    '/people/:id role',
    '/people/:id status',
    '/people/:id resend',
    '/people/:id remove',
    '/account leave',
    '/become-member become',
  ],
  'passkeys, provider and address': [
    '/account beginPasskey',
    '/account addPasskey',
    '/account renamePasskey',
    '/account removePasskey',
    '/account bind',
    '/account unbind',
    '/account address',
  ],
  'sign-in of an organization': ['/organization signIn'],
  webhooks: [
    '/webhooks make',
    '/webhooks/:id change',
    '/webhooks/:id status',
    '/webhooks/:id delete',
  ],
  'grants of extensions': [
    '/extensions/install/:extensionId install',
    '/extensions/:id enable',
    '/extensions/:id change',
    '/extensions/:id upgrade',
  ],
  'deletion of a domain or a template with its history': [
    '/domains/:id delete',
    '/templates/:id delete',
  ],
};

/** Routes behind which an action asks, whatever the page. */
const guarded: readonly RegExp[] = [
  /^(?:POST|PATCH|DELETE) \/v1\/(?:api-keys|members)(?:\/|$)/,
  /^(?:POST|PATCH|DELETE) \/v1\/webhooks(?!.*\/(?:test|replay|redeliver)$)/,
  /^(?:POST|PATCH) \/v1\/extension-installations(?!.*\/disable$)/,
  /^DELETE \/v1\/(?:email\/domains|mailboxes|templates)\/\{\w+\}$/,
  /^(?:POST|PUT|PATCH) \/v1\/.*\/(?:filters|catch-all|dkim-import|dkim\/import)/,
  /organization sign-in/,
  /\/exports?(?:\/|$)/,
];

/** The dry run of an upgrade changes nothing. */
const harmless = ['/extensions/:id preview'];

describe('the actions of all pages', () => {
  it('ask for a fresh proof as the table says', () => {
    const found = every.filter(({ action }) => action.asks !== undefined);
    expect(found.map(({ name }) => name).sort()).toEqual(Object.values(asking).flat().sort());
  });

  it('ask wherever they reach a guarded route', async () => {
    const reached = new Set<string>();
    for (const { name, action } of every) {
      const { routes } = await run(action);
      const hits = routes.filter((route) => guarded.some((pattern) => pattern.test(route)));
      for (const route of hits) reached.add(route);
      const isAsked = hits.length === 0 || harmless.includes(name);
      expect([name, isAsked || action.asks !== undefined]).toEqual([name, true]);
    }
    expect(reached.size).toBeGreaterThan(10);
  });
});

const minute = 60_000;

describe.each(stores)('an action that asks, on %s', (store) => {
  let world: World;
  let browser: Browser;
  beforeEach(async () => {
    world = await consoleWorld(store);
    browser = await world.signIn(world.test.apiKey);
  });
  afterEach(() => world.close());

  const typed = { _action: 'make', name: 'Warehouse scanner', role: 'sender' };
  const keysNow = async () => (await world.api('GET', '/v1/api-keys')).items?.length;
  const page = async () => (await browser.get('/console/asks-again')).body;
  const prove = (key: string) => browser.post('/console/asks-again', { _action: 'key', key });
  const send = () => browser.post('/console/keys', { _kept: '1' });

  it('acts at once within 15 minutes of the sign-in', async () => {
    await world.test.clock.advance(15 * minute - 1);
    const { status, headers } = await browser.post('/console/keys', typed);
    expect([status, headers['location']]).toEqual([303, expect.stringContaining('?once=')]);
  });

  it('keeps the form until the key is pasted again, and sends it once by a button', async () => {
    const before = await keysNow();
    await world.test.clock.advance(15 * minute);
    const { status, headers } = await browser.post('/console/keys', typed);
    expect([status, headers['location']]).toEqual([303, '/console/asks-again']);
    expect(await page()).toContain('Before you make this key: is it still you?');
    expect(await page()).toContain('Warehouse scanner');
    expect([(await send()).status, await keysNow()]).toEqual([303, before]);
    const wrong = await prove('svc_live_wrong');
    expect([wrong.status, problemOf(wrong.body)]).toEqual([
      401,
      'This is not the key that you signed in with.',
    ]);
    expect((await prove(world.test.apiKey)).status).toBe(303);
    expect(await page()).toContain('It is you. Make this key?');
    const sent = await send();
    expect(sent.status).toBe(303);
    const { body: secret } = await browser.get(String(sent.headers['location']));
    expect(secret).toContain('The key of Warehouse scanner');
    expect(await keysNow()).toBe((before ?? 0) + 1);
    expect([(await send()).status, await keysNow()]).toEqual([303, (before ?? 0) + 1]);
    expect(await page()).toContain('No form waits here.');
  });

  it('shows a refusal on the page of the form', async () => {
    await world.test.clock.advance(15 * minute);
    await browser.post('/console/keys', { ...typed, expiresAt: '2001-01-01' });
    await prove(world.test.apiKey);
    const { body } = await send();
    expect(problemOf(body)).toContain('expiresAt');
    expect(formOf(body, 'make')).toMatchObject({ name: 'Warehouse scanner' });
  });

  it('shows the typed fields alone, before the proof and after it', async () => {
    const drawn = formOf((await browser.get('/console/keys')).body, 'make');
    expect(Object.keys(drawn ?? {})).toContain('_seen');
    await world.test.clock.advance(15 * minute);
    await browser.post('/console/keys', { ...drawn, ...typed });
    const shown = async () => [...(await page()).matchAll(/<dt>(.*?)<\/dt>/g)].map(([, dt]) => dt);
    expect((await shown()).sort()).toEqual(['Name', 'Role']);
    expect((await prove(world.test.apiKey)).status).toBe(303);
    expect((await shown()).sort()).toEqual(['Name', 'Role']);
  });

  it('is proven by no other key', async () => {
    const { key } = await world.keyWith('messages:read');
    await world.test.clock.advance(15 * minute);
    await browser.post('/console/keys', typed);
    expect((await prove(key)).status).toBe(401);
  });

  it('drops the form by a button, and after ten minutes', async () => {
    await world.test.clock.advance(15 * minute);
    await browser.post('/console/keys', typed);
    await browser.post('/console/asks-again', { _action: 'drop' });
    expect(await page()).toContain('No form waits here.');
    await browser.post('/console/keys', typed);
    await world.test.clock.advance(10 * minute);
    expect(await page()).toContain('No form waits here.');
    await sweepSessions(world.test.app);
  });

  it('keeps the form encrypted by the token of the session', async () => {
    await world.test.clock.advance(15 * minute);
    await browser.post('/console/keys', typed);
    const found = await sql`select * from console_sessions`.execute(world.test.app.store.db);
    const stored = JSON.stringify(found.rows);
    expect(stored).toContain('"kept_input":"');
    expect(stored).not.toContain(typed.name);
    expect(stored).not.toContain(Buffer.from(typed.name).toString('base64').slice(0, 16));
    expect(stored).not.toContain(browser.cookie.split('=')[1]);
  });

  it('keeps no form above 64 KB', async () => {
    await world.test.clock.advance(15 * minute);
    const { status } = await browser.post('/console/keys', { ...typed, x: 'x'.repeat(65_536) });
    expect(status).toBe(413);
  });

  it('waits for an operator until svc open is run again, in the same organization', async () => {
    const operator = await world.operator();
    await world.test.clock.advance(15 * minute);
    await operator.post('/console/keys', typed);
    const { body } = await operator.get('/console/asks-again');
    expect(body).toContain('svc open');
    const link = await makeLink(world.test.app, world.test.caller.organizationId);
    const opened = await operator.post(`/console/open/${link}`, {});
    expect(opened.headers['location']).toBe('/console/asks-again');
    const [cookie = ''] = String(opened.headers['set-cookie']).split(';');
    const again = world.browser(cookie);
    expect((await again.get('/console/asks-again')).body).toContain('It is you. Make this key?');
    const sent = await again.post('/console/keys', { _kept: '1' });
    expect((await again.get(String(sent.headers['location']))).body).toContain(typed.name);
    expect((await operator.get('/console')).status).toBe(401);
  });
});
