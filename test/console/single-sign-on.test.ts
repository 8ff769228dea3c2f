// Single sign-on in the console, from the link on the sign-in page to a session, with a provider
// on another site: the return brings no cookie of a session.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findPerson, findPersonByBinding } from '../../src/access/members/queries.ts';
import type { App } from '../../src/core/app.ts';
import { examine } from '../../src/doctor/examine.ts';
import { Forger, type Forgery } from '../access/single-sign-on/forger.ts';
import { browserOf, makePerson } from './persons.ts';
import { type Answer, type Browser, consoleWorld, type World } from './world.ts';

type Oidc = App['config']['console']['signIn']['oidc'];

const minute = 60_000;
const mara = { sub: 'u1', email: 'mara@example.com', email_verified: true, name: 'Mara' };

describe('single sign-on', () => {
  let forger: Forger;
  let world: World;
  beforeEach(async () => {
    let now = () => 0;
    forger = await new Forger({ now: () => now() }).listen();
    const { issuer, clientId } = forger;
    const oidc = { issuer, clientId, label: 'Example SSO', domains: ['example.com'] };
    world = await consoleWorld('sqlite', { console: { signIn: { oidc } } });
    now = () => world.test.clock.now();
    const { organizationId } = world.test.caller;
    configure({ join: { organization: organizationId, role: 'viewer' } });
  });
  afterEach(async () => {
    await world.close();
    await forger.close();
  });

  /** Changes keys of `console.signIn.oidc`, some of which name an organization. */
  function configure(change: Partial<Oidc>): void {
    Object.assign(world.test.app.config.console.signIn.oidc, change);
  }

  const cookiesOf = ({ headers }: Answer) =>
    [headers['set-cookie'] ?? []].flat().map((header) => String(header));
  const cookieOf = (answer: Answer, name: string) =>
    cookiesOf(answer)
      .find((header) => header.startsWith(`${name}=`))
      ?.split(';')[0] ?? '';

  /** Returns the address at which a page continues. */
  const addressIn = ({ headers }: Answer) =>
    String(headers['refresh'] ?? '').slice('0; url='.length);

  /** Goes to the provider, and returns from it with the cookie of this way alone. */
  async function visit(
    path: string,
    claims: object = mara,
    { from = world.browser(), forgery = {} }: { from?: Browser; forgery?: Forgery } = {},
  ): Promise<Answer> {
    forger.answerWith({ ...claims }, forgery);
    const gone = await from.get(path);
    const address = addressIn(gone);
    if (!address.startsWith('http:')) return gone;
    const query = forger.signIn(address);
    const [flow = ''] = cookiesOf(gone);
    expect(flow).toMatch(/HttpOnly; SameSite=Lax; Max-Age=600$/);
    return world.browser(flow.split(';')[0]).get(`/console/oidc/callback?${query}`);
  }

  const signIn = (claims?: object, forgery?: Forgery) =>
    visit('/console/sign-in/provider?next=/console/messages', claims, { forgery: forgery ?? {} });

  it('signs in by the link on the sign-in page, and continues by a page of 200', async () => {
    const { body } = await world.browser().get('/console/sign-in');
    expect(body).toContain('Continue with Example SSO');
    const answer = await signIn();
    expect([answer.status, answer.headers['refresh']]).toEqual([200, '0; url=/console/messages']);
    const session = cookiesOf(answer).find((header) => header.startsWith('svc_console='));
    expect(session).toContain('SameSite=Strict');
    const page = await world.browser(cookieOf(answer, 'svc_console')).get('/console/messages');
    expect(page.status).toBe(200);
    expect(page.body).toContain('Mara');
  });

  it('is asked by svc doctor, and its faults are counted', async () => {
    const { app } = world.test;
    const found = async () => (await examine(app, { only: ['single-sign-on'] }))[0]?.status;
    expect(await found()).toBe('ok');
    forger.answerWith(mara, { discovery: () => ({ status: 500, body: '' }) });
    expect(await found()).toBe('warn');
    const { body } = await world.browser().get('/console/sign-in/provider');
    expect(body).toContain('Example SSO did not answer.');
    const { values } = await app.metrics.providerFaults.get();
    expect(values).toMatchObject([{ labels: { fault: 'unreachable' }, value: 1 }]);
  });

  it('answers a refused account the same for known and unknown addresses', async () => {
    await makePerson(world, 'known@example.com');
    const of = async (email: string) => {
      const answer = await signIn({ ...mara, email, email_verified: false });
      expect(cookieOf(answer, 'svc_console')).toBe('');
      return [answer.status, answer.body.replaceAll(/value="[\w-]{43}"/g, 'value=""')];
    };
    const [status, body] = await of('known@example.com');
    expect(status).toBe(401);
    expect(await of('unknown@example.com')).toEqual([status, body]);
  });

  it.each<[string, Forgery]>([
    ['a token of another audience', { claims: (all) => ({ ...all, aud: 'x' }) }],
    ['a refusal', { back: (query) => query.set('error', 'access_denied') }],
    ['an error of the token endpoint', { token: () => ({ status: 500, body: '' }) }],
  ])('begins no session after %s', async (_, forgery) => {
    const answer = await signIn(mara, forgery);
    expect(answer.status).toBe(401);
    expect(cookieOf(answer, 'svc_console')).toBe('');
    expect(answer.body).toMatch(/role="(alert|status)"/);
    expect(answer.body).not.toContain('code=');
  });

  it('begins no session in a browser that did not begin the sign-in', async () => {
    forger.answerWith(mara);
    const gone = await world.browser().get('/console/sign-in/provider');
    const query = forger.signIn(addressIn(gone));
    const answer = await world.browser().get(`/console/oidc/callback?${query}`);
    expect([answer.status, cookieOf(answer, 'svc_console')]).toEqual([401, '']);
    expect(forger.requests.filter(({ path }) => path === '/token')).toEqual([]);
  });

  it('never leads to another site after the return', async () => {
    for (const next of ['https://evil.example/', '//evil.example/', '/v1/messages']) {
      const path = `/console/sign-in/provider?next=${encodeURIComponent(next)}`;
      const answer = await visit(path);
      expect(answer.headers['refresh']).toBe('0; url=/console');
    }
  });

  it('binds a person of a session with a fresh proof', async () => {
    const { db } = world.test.app.store;
    const { personId } = await makePerson(world, 'jette@example.com');
    const browser = await browserOf(world, personId);
    const path = '/console/sign-in/provider?for=bind';
    await world.test.clock.advance(15 * minute);
    expect((await visit(path, mara, { from: browser })).status).not.toBe(200);
    const fresh = await browserOf(world, personId);
    expect((await visit(path, mara, { from: fresh })).status).toBe(200);
    expect(await findPerson(db, personId)).toMatchObject({ oidc_subject: 'u1' });
    expect((await visit(path, mara)).status).not.toBe(200);
    const other = await makePerson(world, 'ben@example.com');
    const second = await browserOf(world, other.personId);
    expect((await visit(path, mara, { from: second })).status).not.toBe(200);
    const binding = { issuer: forger.issuer, clientId: 'svc', subject: 'u1' };
    expect(await findPersonByBinding(db, binding)).toMatchObject({ id: personId });
  });

  it('proves a person again only if the provider says that it asked', async () => {
    const begun = await signIn();
    const session = world.browser(cookieOf(begun, 'svc_console'));
    await world.test.clock.advance(20 * minute);
    const prove = async (authTime?: number) => {
      const claims = authTime === undefined ? mara : { ...mara, auth_time: authTime };
      return (await visit('/console/sign-in/provider?for=proof', claims, { from: session })).status;
    };
    const seconds = Math.floor(world.test.clock.now() / 1000);
    expect(await prove()).toBe(401);
    expect(await prove(seconds - 3_600)).toBe(401);
    expect(await prove(seconds)).toBe(200);
  });

  it('is the only way where the configuration says so', async () => {
    configure({ only: true });
    const { personId } = await makePerson(world, 'jette@example.com');
    const byLink = await browserOf(world, personId);
    expect((await byLink.get('/console/messages')).status).toBe(403);
    const bySso = world.browser(cookieOf(await signIn(), 'svc_console'));
    expect((await bySso.get('/console/messages')).status).toBe(200);
    const byKey = await world.signIn(world.test.apiKey);
    expect((await byKey.get('/console/messages')).status).not.toBe(200);
  });

  it('ends sessions after 12 hours where a claim gives roles', async () => {
    configure({ roles: { claim: 'groups', map: { staff: 'viewer' }, owners: false } });
    const answer = await signIn({ ...mara, groups: ['staff'] });
    const browser = world.browser(cookieOf(answer, 'svc_console'));
    await world.test.clock.advance(12 * 60 * minute - 1);
    expect((await browser.get('/console/messages')).status).toBe(200);
    await world.test.clock.advance(1);
    expect((await browser.get('/console/messages')).status).toBe(401);
  });

  it('goes to the provider without a click, but not after a sign-out or an error', async () => {
    configure({ auto: true });
    const browser = world.browser();
    const first = await browser.get('/console/sign-in');
    expect([first.status, first.headers['location']]).toEqual([
      303,
      expect.stringMatching(/^\/console\/sign-in\/provider/),
    ]);
    expect((await browser.get('/console/sign-in?state=out')).status).toBe(200);
    await forger.close();
    const failed = await visit('/console/sign-in/provider');
    expect(failed.status).not.toBe(303);
    expect(failed.body).toContain('did not answer');
    forger = await new Forger(world.test.clock).listen();
  });
});
