// Passkeys over the pages of the console, with a software authenticator: adding, signing in without
// typing, proofs, and the first passkey of an organization with `signIn: strong`.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { updateOrganization } from '../../src/access/organizations/queries.ts';
import { selectPasskeys } from '../../src/access/passkeys/queries.ts';
import { resetPerson } from '../../src/access/sessions/reset.ts';
import { type Fault, SoftwareAuthenticator } from '../support/authenticator.ts';
import { stores } from '../support/command.ts';
import { browserOf, makePerson } from './persons.ts';
import { type Browser, consoleWorld, type World } from './world.ts';

const origin = 'https://mail.example.com';
const minute = 60_000;
const day = 24 * 60 * minute;

describe.each(stores)('passkeys in the console on %s', (store) => {
  let world: World;
  let personId: string;
  let key: SoftwareAuthenticator;
  let browser: Browser;
  beforeEach(async () => {
    world = await consoleWorld(store, { http: { publicUrl: origin } });
    ({ personId } = await makePerson(world, 'jette@example.com'));
    key = new SoftwareAuthenticator(origin);
    browser = await signedIn();
  });
  afterEach(() => world.close());

  const signedIn = async () => {
    const { cookie } = await browserOf(world, personId);
    return world.browser(`__Host-${cookie}`);
  };
  const stored = () => selectPasskeys(world.test.app.store.db, personId);
  const strengthen = () =>
    world.test.app.store.write((trx) =>
      updateOrganization(trx, world.test.caller.organizationId, { sign_in: 'strong' }),
    );

  /** Adds a passkey in My account. Returns the last answer. */
  async function add(from = browser) {
    const page = await from.post('/console/account', { _action: 'beginPasskey' });
    if (page.headers['location'] !== '/console/account/passkey') return page;
    const question = await from.post('/console/passkey-question', { purpose: 'add' });
    const credential = key.create(JSON.parse(question.body));
    return from.post('/console/account', { _action: 'addPasskey', credential, name: 'Office PC' });
  }

  /** Proves by a passkey on the page that asks again. */
  async function prove(from = browser) {
    const question = await from.post('/console/passkey-question', { purpose: 'proof' });
    const credential = key.get(JSON.parse(question.body));
    return from.post('/console/asks-again', { _action: 'passkey', credential });
  }

  /** Signs in by a passkey in a browser without a session. */
  async function signIn(fault: Fault = {}, sender?: Browser) {
    const visitor = await visit();
    const question = await visitor.post('/console/sign-in/passkey/options', {});
    const credential = key.get(JSON.parse(question.body), fault);
    return (sender ?? visitor).post('/console/sign-in/passkey', { credential });
  }

  /** Opens the sign-in page in a new browser, which keeps the cookie of the form. */
  async function visit(): Promise<Browser> {
    const { headers } = await world.browser().get('/console');
    const [cookie = ''] = String(headers['set-cookie']).split(';');
    return world.browser(cookie);
  }

  it('are added in My account, and sign in without a word typed', async () => {
    expect((await add()).headers['location']).toBe('/console/account');
    expect((await browser.get('/console/account')).body).toContain('Office PC');
    const { status, headers } = await signIn();
    expect(status).toBe(200);
    const [cookie = ''] = String(headers['set-cookie']).split(';');
    const page = await world.browser(cookie).get('/console');
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('jette@example.com')]);
  });

  it.each([
    ['another origin', { origin: 'https://mail.example.org' }, 'could not be verified'],
    ['no user verification', { isVerified: false }, 'could not be verified'],
    ['an unknown passkey', { credentialId: 'AAAA' }, 'opens nothing here'],
    ['another challenge', { challenge: 'AAAA' }, 'answered another question'],
  ] as [string, Fault, string][])('begin no session with %s', async (_what, fault, text) => {
    await add();
    const { status, headers, body } = await signIn(fault);
    expect([status, body]).toEqual([401, expect.stringContaining(text)]);
    expect(String(headers['set-cookie'])).not.toMatch(/svc_console=/);
  });

  it("begin no session by the answer to another browser's question", async () => {
    await add();
    const { status, body } = await signIn({}, await visit());
    expect([status, body]).toEqual([401, expect.stringContaining('answered another question')]);
  });

  it('answer no question without the form of the page', async () => {
    const visitor = await visit();
    for (const path of ['/console/sign-in/passkey/options', '/console/sign-in/passkey']) {
      expect((await visitor.post(path, { _form: 'x' })).status).toBe(403);
    }
  });

  it('ask the same question whoever is known here', async () => {
    const masked = async () => {
      const visitor = await visit();
      const { body } = await visitor.post('/console/sign-in/passkey/options', {});
      return JSON.stringify({ ...JSON.parse(body), challenge: '' });
    };
    const before = await masked();
    await add();
    expect(await masked()).toBe(before);
  });

  it('are asked again for a new passkey after 15 minutes', async () => {
    await add();
    await world.test.clock.advance(15 * minute);
    expect((await add()).headers['location']).toBe('/console/asks-again');
    expect((await prove()).headers['location']).toBe('/console/asks-again');
    expect((await add()).headers['location']).toBe('/console/account');
    expect(await stored()).toHaveLength(2);
  });

  it('are renamed and removed by a fresh proof', async () => {
    await add();
    await prove();
    const id = (await stored())[0]?.id ?? '';
    await browser.post('/console/account', { _action: 'renamePasskey', id, name: 'Blue key' });
    expect((await stored())[0]?.name).toBe('Blue key');
    await browser.post('/console/account', { _action: 'removePasskey', _sure: '1', id });
    expect(await stored()).toEqual([]);
  });

  it('open a strong organization: a mailed link adds the first, a passkey opens it', async () => {
    await strengthen();
    expect((await browser.get('/console/messages')).status).toBe(403);
    expect((await add()).headers['location']).toBe('/console/account');
    expect((await browser.get('/console/messages')).status).toBe(403);
    await prove();
    expect((await browser.get('/console/messages')).status).toBe(200);
    expect((await add()).headers['location']).toBe('/console/account');
  });

  it('are refused to a mailed link 7 days after the person joined, until a new start', async () => {
    await strengthen();
    await world.test.clock.advance(7 * day);
    browser = await signedIn();
    const { status, body } = await add();
    expect([status, body]).toEqual([409, expect.stringContaining('svc members reset')]);
    await resetPerson(world.test.app, 'jette@example.com');
    expect((await browser.get('/console/account')).status).toBe(401);
    browser = await signedIn();
    expect((await add()).headers['location']).toBe('/console/account');
    expect((await signIn()).status).toBe(200);
  });
});
