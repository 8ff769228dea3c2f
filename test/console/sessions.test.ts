// Who is let in to the console, for how long, and which forms count.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { revokeKey, updateKey } from '../../src/access/keys/keys.ts';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import { makeLink, sweepSessions } from '../../src/access/sessions/sessions.ts';
import { stores } from '../support/command.ts';
import { consoleWorld, type World } from './world.ts';

const hour = 3600_000;

describe.each(stores)('a session of the console on %s', (store) => {
  let world: World;
  beforeEach(async () => {
    world = await consoleWorld(store);
  });
  afterEach(() => world.close());

  it('begins with a key, and its cookie is for the console alone', async () => {
    const { status, body } = await world.browser().get('/console/messages?status=sent');
    expect([status, body]).toEqual([401, expect.stringContaining('name="key"')]);
    const answer = await world.browser().post('/console/sign-in', {
      key: world.test.apiKey,
      next: '/console/messages?status=sent',
    });
    expect([answer.status, answer.headers['location']]).toEqual([
      303,
      '/console/messages?status=sent',
    ]);
    expect(answer.headers['set-cookie']).toMatch(
      /^svc_console=[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict$/,
    );
    const signedIn = await world.signIn(world.test.apiKey);
    expect(await signedIn.get('/console')).toMatchObject({
      status: 200,
      body: expect.stringMatching(/<small>owner\b/),
    });
  });

  it.each([
    'https://evil.test/',
    '//evil.test',
    '/console//evil.test/..',
    'javascript:alert(1)',
    '/v1/x',
    '/console\r\nset-cookie: x=y',
    '/console/messages?q=\nx',
    '/console/../v1/messages',
    '/console/%2e%2e/docs',
    '\\\\evil.test/console',
    '/consoles',
    'console',
  ])('does not lead to %s afterwards', async (next) => {
    const { headers } = await world
      .browser()
      .post('/console/sign-in', { key: world.test.apiKey, next });
    expect(String(headers['location'])).toMatch(/^\/console(?:[/?][!-~]*)?$/);
    expect(String(headers['set-cookie'])).toMatch(/^svc_console=/);
  });

  it('does not begin with a wrong key, and ten of them from an address end the tries for a minute', async () => {
    for (let tried = 0; tried < 10; tried++) {
      const { status, body } = await world
        .browser()
        .post('/console/sign-in', { key: `svc_live_${tried}` });
      expect([status, body]).toEqual([401, expect.stringContaining('The API key is not valid.')]);
    }
    const right = () => world.browser().post('/console/sign-in', { key: world.test.apiKey });
    const wrong = await world.browser().post('/console/sign-in', { key: 'svc_live_x' });
    expect([wrong.status, wrong.body]).toEqual([429, expect.stringContaining('Wait a minute.')]);
    expect((await right()).status).toBe(303);
    await world.test.clock.advance(60_000);
    expect((await right()).status).toBe(303);
  });

  it('begins with a link of svc open once, by a button, within a minute', async () => {
    const { app, caller } = world.test;
    const path = `/console/open/${await makeLink(app, caller.organizationId)}?to=%2Fconsole%2Fdomains`;
    for (let look = 0; look < 2; look++) {
      const { status, headers } = await world.browser().get(path);
      expect([status, headers['set-cookie']]).toEqual([200, undefined]);
    }
    const [first, second] = [
      await world.browser().post(path, {}),
      await world.browser().post(path, {}),
    ];
    expect([first.status, first.headers['location'], second.status]).toEqual([
      303,
      '/console/domains',
      410,
    ]);
    const late = `/console/open/${await makeLink(app, caller.organizationId)}`;
    await world.test.clock.advance(60_000);
    expect((await world.browser().post(late, {})).status).toBe(410);
  });

  it('ends when its key is revoked, and is held to the networks of its key', async () => {
    const { id, key } = await world.keyWith('messages:read', 'domains:read');
    const browser = await world.signIn(key);
    expect((await browser.get('/console/domains')).status).toBe(200);
    const networks = (ipRanges: string[]) =>
      updateKey(world.test.app, world.test.operator, id, { constraints: { ipRanges } });
    await networks(['203.0.113.0/24']);
    const { status, body } = await browser.get('/console/domains');
    expect([status, body]).toEqual([
      403,
      expect.stringContaining('may not be used from the address'),
    ]);
    await networks(['127.0.0.0/8']);
    expect((await browser.get('/console/domains')).status).toBe(200);
    await revokeKey(world.test.app, world.test.operator, id);
    expect((await browser.get('/console/messages')).status).toBe(401);
  });

  it('ends after 12 hours without a request', async () => {
    const [idle, used] = [
      await world.signIn(world.test.apiKey),
      await world.signIn(world.test.apiKey),
    ];
    await world.test.clock.advance(11 * hour);
    expect((await used.get('/console')).status).toBe(200);
    await world.test.clock.advance(hour);
    expect([(await idle.get('/console')).status, (await used.get('/console')).status]).toEqual([
      401, 200,
    ]);
  });

  it('lives 7 days at most, however often it is used', async () => {
    const used = await world.signIn(world.test.apiKey);
    for (let passed = 0; passed < 7 * 24; passed += 8) {
      expect([passed, (await used.get('/console')).status]).toEqual([passed, 200]);
      await world.test.clock.advance(8 * hour);
    }
    expect((await used.get('/console')).status).toBe(401);
    await sweepSessions(world.test.app);
  });

  it('ends by signing out; all sessions of a key end together', async () => {
    const [one, two, three] = [
      await world.signIn(world.test.apiKey),
      await world.signIn(world.test.apiKey),
      await world.signIn(world.test.apiKey),
    ];
    await one.post('/console/sign-out', {});
    expect([(await one.get('/console')).status, (await two.get('/console')).status]).toEqual([
      401, 200,
    ]);
    await two.post('/console/sign-out', { all: '1' });
    expect((await three.get('/console')).status).toBe(401);
  });

  it('is not opened by a forged token', async () => {
    for (const token of ['', 'x', 'A'.repeat(43), `${'A'.repeat(43)}; x=1`]) {
      expect((await world.browser(`svc_console=${token}`).get('/console')).status).toBe(401);
    }
  });

  it('takes no form without its token, from elsewhere, or by GET', async () => {
    const browser = await world.signIn(world.test.apiKey);
    const other = await world.signIn(world.test.apiKey);
    const { body } = await other.get('/console');
    const [, foreign = ''] = /name="_form" value="([^"]*)"/.exec(body) ?? [];
    const block = { _action: 'add', address: 'ada@example.com' };
    const refused = [
      await browser.post('/console/blocks', { ...block, _form: '' }),
      await browser.post('/console/blocks', { ...block, _form: foreign }),
      await browser.post('/console/blocks', block, { origin: 'https://evil.test' }),
      await browser.post('/console/blocks', block, {
        origin: 'null',
        'sec-fetch-site': 'cross-site',
      }),
      await browser.post('/console/blocks', block, { 'sec-fetch-site': 'cross-site' }),
      await browser.post('/console/sign-out', { _form: '' }),
      await world.browser().post('/console/sign-in', { key: world.test.apiKey, _form: foreign }),
    ];
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
    await browser.get('/console/blocks?_action=add&address=ada%40example.com');
    expect((await browser.get('/console/blocks')).body).not.toContain('ada@example.com');
    const own = await browser.post('/console/blocks', block, {
      host: 'svc.test',
      origin: 'http://svc.test',
    });
    expect(own.status).toBe(303);
    expect((await browser.get('/console/blocks')).body).toContain('ada@example.com');
  });

  it('shows nothing of another organization', async () => {
    const { id } = await createOrganization(world.test.app, { name: 'Other', plan: 'free' });
    const link = await makeLink(world.test.app, id);
    const { headers } = await world.browser().post(`/console/open/${link}`, {});
    const [cookie = ''] = String(headers['set-cookie']).split(';');
    const other = world.browser(cookie);
    const ours = await world.signIn(world.test.apiKey);
    const [, path = ''] =
      /href="(\/console\/domains\/dom_\w+)"/.exec((await ours.get('/console/domains')).body) ?? [];
    expect([(await ours.get(path)).status, (await other.get(path)).status]).toEqual([200, 404]);
  });
});

describe('the cookie', () => {
  it('is of this host alone where the public URL is https', async () => {
    const world = await consoleWorld('sqlite', { http: { publicUrl: 'https://api.example.com' } });
    const { headers } = await world.browser().post('/console/sign-in', { key: world.test.apiKey });
    expect(headers['set-cookie']).toMatch(
      /^__Host-svc_console=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    );
    const [cookie = ''] = String(headers['set-cookie']).split(';');
    expect((await world.browser(cookie).get('/console')).status).toBe(200);
    expect((await world.browser(cookie.replace('__Host-', '')).get('/console')).status).toBe(401);
    await world.close();
  });

  it('opens nothing if it comes twice', async () => {
    const world = await consoleWorld();
    const { cookie } = await world.signIn(world.test.apiKey);
    for (const twice of [`${cookie}; svc_console=x`, `svc_console=x; ${cookie}`]) {
      const { status, body } = await world.browser(twice).get('/console');
      expect([status, body]).toEqual([400, expect.stringContaining('two cookies')]);
    }
    await world.close();
  });

  it('has a new token after each sign-in, and the earlier session of the browser ends', async () => {
    const world = await consoleWorld();
    const first = await world.signIn(world.test.apiKey);
    const [form = ''] = String((await world.browser().get('/console')).headers['set-cookie']).split(
      ';',
    );
    const both = world.browser(`${form}; ${first.cookie}`);
    const page = await world.browser(form).get('/console');
    const [, _form = ''] = /name="_form" value="([^"]*)"/.exec(page.body) ?? [];
    const again = await both.post(
      '/console/sign-in',
      { key: world.test.apiKey, _form },
      { cookie: both.cookie },
    );
    const [second = ''] = String(again.headers['set-cookie']).split(';');
    expect([again.status, second === first.cookie]).toEqual([303, false]);
    expect((await first.get('/console')).status).toBe(401);
    expect((await world.browser(second).get('/console')).status).toBe(200);
    await world.close();
  });
});

describe('a key with networks', () => {
  it('signs in from them only', async () => {
    const world = await consoleWorld();
    const { id, key } = await world.keyWith('messages:read');
    const constraints = { ipRanges: ['203.0.113.0/24'] };
    await updateKey(world.test.app, world.test.operator, id, { constraints });
    const { status, body } = await world.browser().post('/console/sign-in', { key });
    expect([status, body]).toEqual([
      401,
      expect.stringContaining('may not be used from the address'),
    ]);
    await world.close();
  });
});

describe('the console', () => {
  it('does not exist where console.enabled is false', async () => {
    const world = await consoleWorld('sqlite', { console: { enabled: false } });
    expect((await world.browser().get('/console')).status).toBe(404);
    await world.close();
  });

  it('has headers that keep its pages to themselves, and assets that browsers may keep', async () => {
    const world = await consoleWorld();
    const browser = await world.signIn(world.test.apiKey);
    const { headers, body } = await browser.get('/console');
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': expect.stringContaining('no-store'),
    });
    const assets = [...body.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(assets).toHaveLength(3);
    let bytes = body.length;
    for (const path of assets) {
      const asset = await world.browser().get(path);
      expect([asset.status, asset.headers['cache-control']]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
      bytes += asset.body.length;
    }
    expect(bytes).toBeLessThan(60_000);
    await world.close();
  });
});
