// After an action: a secret is shown for ten minutes to the session that made it, and a sentence
// stands once on the next page.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepToast } from '../../src/access/sessions/after-action.ts';
import { sweepSessions } from '../../src/access/sessions/sessions.ts';
import { stores } from '../support/command.ts';
import { type Browser, consoleWorld, formOf, type World } from './world.ts';

const minute = 60_000;

describe.each(stores)('after an action, on %s', (store) => {
  let world: World;
  let browser: Browser;
  beforeEach(async () => {
    world = await consoleWorld(store);
    browser = await world.operator();
  });
  afterEach(() => world.close());

  const keysNow = async () => (await world.api('GET', '/v1/api-keys')).items?.length;

  /** Makes a key. Returns the path of the page that shows it. */
  async function makeKey(): Promise<string> {
    const fields = { _action: 'make', name: 'Scanner', role: 'sender' };
    const { status, headers } = await browser.post('/console/keys', fields);
    expect(status).toBe(303);
    return String(headers['location']);
  }

  const shows = async (path: string, by = browser) =>
    (await by.get(path)).body.includes('I have it');

  it('a reload makes no second key, and shows the key again', async () => {
    const at = await makeKey();
    const made = await keysNow();
    const { body, headers } = await browser.get(at);
    const [key] = /svc_live_\w+/.exec(body) ?? [];
    expect([key?.length, headers['cache-control']]).toEqual([expect.any(Number), 'no-store']);
    expect([await shows(at), await keysNow()]).toEqual([true, made]);
  });

  it('a secret ends with "I have it", after ten minutes, and with the next secret', async () => {
    const first = await makeKey();
    const { body } = await browser.get(first);
    const [, id = ''] = /name="id" value="([^"]+)"/.exec(body) ?? [];
    const [, next = ''] = /name="next" value="([^"]+)"/.exec(body) ?? [];
    const { headers } = await browser.post('/console/seen', { id, next });
    expect(headers['location']).toMatch(/^\/console\/keys\/key_\w+$/);
    expect(await shows(first)).toBe(false);
    const second = await makeKey();
    const third = await makeKey();
    expect([await shows(second), await shows(third)]).toEqual([false, true]);
    await world.test.clock.advance(10 * minute);
    expect(await shows(third)).toBe(false);
    await world.test.clock.advance(1);
    await sweepSessions(world.test.app);
    const left = sql<{ secret: unknown }>`select secret from console_sessions`;
    const { rows } = await left.execute(world.test.app.store.db);
    expect(rows.filter(({ secret }) => secret !== null)).toEqual([]);
  });

  it('a secret is shown to its session alone, and lies encrypted', async () => {
    const at = await makeKey();
    expect(await shows(at, await world.operator())).toBe(false);
    const found = await sql`select * from console_sessions`.execute(world.test.app.store.db);
    const stored = JSON.stringify(found.rows);
    expect(stored).toContain('"secret":"');
    expect(stored).not.toContain('svc_live_');
    expect(stored).not.toContain(new URL(at, 'http://x').searchParams.get('once'));
  });

  it('a sentence stands on the next page, once, with the button that takes the action back', async () => {
    const [, token = ''] = browser.cookie.split('=');
    const undo = { path: '/blocks', action: 'add', fields: { address: 'a@example.com' } };
    await keepToast(world.test.app, token, { said: 'Seen once.', undo });
    const script = { 'sec-fetch-dest': 'empty' };
    expect((await browser.get('/console/blocks', script)).body).not.toContain('Seen once.');
    const { body } = await browser.get('/console/keys');
    expect(body).toContain('Seen once.');
    const [toast = ''] = /<div class="toast".*?<\/div>/s.exec(body) ?? [];
    expect(formOf(toast, 'add')).toMatchObject({ address: 'a@example.com' });
    expect((await browser.get('/console/keys')).body).not.toContain('Seen once.');
  });

  it('nothing is destroyed by a form that no question sent', async () => {
    const { id } = await world.api('POST', '/v1/brands', { slug: 'acme', name: 'Acme' });
    const bare = await browser.post('/console/brands/acme', { _action: 'delete' });
    expect([bare.status, bare.body.includes('the page asks first')]).toEqual([422, true]);
    expect(await world.api('GET', '/v1/brands/acme')).toMatchObject({ id });
  });
});
