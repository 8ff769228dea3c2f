// Each state of a member, and each way in, with two daemons on one store: the state is set at one
// daemon, and the way tried at the other.
// Slow: each state needs a service with a provider, a passkey and mail that leaves.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deleteMember, updateMember } from '../../src/access/members/members.ts';
import { members } from '../../src/access/members/queries.ts';
import { makeMailedLink } from '../../src/access/sessions/mailed-links.ts';
import { bindIdentity } from '../../src/access/single-sign-on/people.ts';
import { hashOfToken } from '../../src/platform/runtime/tokens.ts';
import { invite, join, memberOf, personOf } from '../access/members/people.ts';
import { Forger } from '../access/single-sign-on/forger.ts';
import { type PeopleWorld, peopleWorld } from '../outbound/sending/people/people-world.ts';
import { SoftwareAuthenticator } from '../support/authenticator.ts';
import { bothStores } from '../support/command.ts';
import { browserOf } from './persons.ts';
import { type Answer, type Browser, consoleOver, type World } from './world.ts';

const email = 'mara@example.com';
const origin = 'https://mail.acme.example';
const mara = { sub: 'u1', email, email_verified: true, name: 'Mara' };

const states = ['invited', 'active', 'disabled', 'deleted'] as const;
type State = (typeof states)[number];
type Way = 'link' | 'earlier link' | 'passkey' | 'provider' | 'invitation' | 'session' | 'proof';

/** Status of the last answer of a way, and whether its browser then opens the console. */
const wanted: Readonly<Record<State, Readonly<Record<Way, string>>>> = {
  invited: {
    link: 'no mail',
    'earlier link': 'none yet',
    passkey: 'none yet',
    provider: '200 in',
    invitation: '200 in',
    session: 'none yet',
    proof: 'none yet',
  },
  active: {
    link: '200 in',
    'earlier link': '200 in',
    passkey: '200 in',
    provider: '200 in',
    invitation: '410 out',
    session: '200 in',
    proof: '200 in',
  },
  disabled: {
    link: 'no mail',
    'earlier link': '403 out',
    passkey: '403 out',
    provider: '401 out',
    invitation: '410 out',
    session: '401 out',
    proof: '403 out',
  },
  deleted: {
    link: 'no mail',
    'earlier link': '410 out',
    passkey: '401 out',
    provider: '401 out',
    invitation: '410 out',
    session: '401 out',
    proof: '410 out',
  },
};

describe.each(bothStores)('two daemons on %s', (store) => {
  let forger: Forger;
  let mail: PeopleWorld;
  let first: World;
  let second: World;
  beforeEach(async () => {
    let now = () => 0;
    forger = await new Forger({ now: () => now() }).listen();
    const { issuer, clientId } = forger;
    const oidc = { issuer, clientId, domains: ['example.com'] };
    mail = await peopleWorld(store, { console: { signIn: { oidc } } });
    now = () => mail.test.clock.now();
    first = consoleOver(mail.test);
    second = consoleOver({ ...mail.test, app: await mail.test.another() });
    for (const { test } of [first, second]) {
      const join = { organization: test.caller.organizationId, role: null };
      Object.assign(test.app.config.console.signIn.oidc, { join });
    }
  });
  afterEach(async () => {
    await second.http.close(0);
    await first.http.close(0);
    await mail.close();
    await forger.close();
  });

  const cookiesOf = ({ headers }: Answer) => [headers['set-cookie'] ?? []].flat().map(String);
  const sessionIn = (answer: Answer) =>
    cookiesOf(answer)
      .find((cookie) => cookie.startsWith('__Host-svc_console='))
      ?.split(';')[0] ?? '';

  /** Says the status of an answer, and whether a browser with the cookie opens the console. */
  async function outcome(answer: Answer, cookie = sessionIn(answer)): Promise<string> {
    const { status } = await second.browser(cookie || 'x=y').get('/console');
    return `${answer.status} ${status === 200 ? 'in' : 'out'}`;
  }

  interface Person {
    memberId: string;
    invitation: string;
    ways: Partial<Record<Way, () => Promise<string>>>;
  }

  /** Signs in at the provider, and returns to the second daemon. */
  async function byProvider(): Promise<string> {
    forger.answerWith({ ...mara }, {});
    const gone = await second.browser().get('/console/sign-in/provider');
    const address = String(gone.headers['refresh']).slice('0; url='.length);
    const query = forger.signIn(address);
    const [flow = ''] = cookiesOf(gone);
    const back = second.browser(flow.split(';')[0]);
    return outcome(await back.get(`/console/oidc/callback?${query}`));
  }

  async function byMail(): Promise<string> {
    await mail.arrived();
    await mail.ask(email);
    const [arrived] = await mail.arrived();
    if (!arrived) return 'no mail';
    return outcome(await second.browser().post(`/console/link/${arrived.token}`, {}));
  }

  const ofAll = (invitation: string) => ({
    link: byMail,
    provider: byProvider,
    invitation: async () =>
      outcome(await second.browser().post(`/console/invitation/${invitation}`, {})),
  });

  async function invited(): Promise<Person> {
    const { app, operator } = first.test;
    const { id, token } = await invite(app, operator, email, 'editor');
    return { memberId: id, invitation: token, ways: ofAll(token) };
  }

  /** Adds a passkey in My account of the first daemon. */
  async function addPasskey(browser: Browser): Promise<SoftwareAuthenticator> {
    const key = new SoftwareAuthenticator(origin);
    await browser.post('/console/account', { _action: 'beginPasskey' });
    const question = await browser.post('/console/passkey-question', { purpose: 'add' });
    const credential = key.create(JSON.parse(question.body));
    await browser.post('/console/account', { _action: 'addPasskey', credential, name: 'PC' });
    return key;
  }

  /** Makes a person with each way in. */
  async function joined(): Promise<Person> {
    const { app, operator } = first.test;
    const member = await join(app, operator, email, 'editor');
    const personId = personOf(member);
    const invitation = 'x'.repeat(43);
    const row = await members.get(app.store.db, operator.organizationId, memberOf(member));
    const { cookie } = await browserOf(first, personId);
    const browser = first.browser(`__Host-${cookie}`);
    const key = await addPasskey(browser);
    const { issuer, clientId } = forger;
    const identity = { issuer, clientId, subject: 'u1', email, isEmailVerified: true };
    const more = { hostedDomain: null, name: null, authTime: null, roleClaim: undefined };
    await bindIdentity(app, personId, { ...identity, ...more });
    const linkOf = async (purpose: 'sign-in' | 'proof') => {
      const token = browser.cookie.split('=')[1] ?? '';
      const sessionHash = purpose === 'proof' ? hashOfToken(token) : null;
      const made = { personId, purpose, email, browser: 'x', address: '', sessionHash };
      const link = await app.store.write((trx) => makeMailedLink(app, trx, made, false));
      return `/console/link/${link.token}`;
    };
    const [early, proof] = [await linkOf('sign-in'), await linkOf('proof')];
    const own = second.browser(browser.cookie);
    const ways: Person['ways'] = {
      ...ofAll(invitation),
      'earlier link': async () => outcome(await second.browser().post(early, {})),
      session: async () => outcome(await own.get('/console'), own.cookie),
      proof: async () => outcome(await own.post(proof, {}), own.cookie),
      async passkey() {
        const page = await second.browser().get('/console/sign-in');
        const visitor = second.browser(cookiesOf(page)[0]?.split(';')[0]);
        const question = await visitor.post('/console/sign-in/passkey/options', {});
        const credential = key.get(JSON.parse(question.body));
        return outcome(await visitor.post('/console/sign-in/passkey', { credential }));
      },
    };
    return { memberId: row.id, invitation, ways };
  }

  /** Brings a member into the state, at the first daemon. */
  async function bring(state: State): Promise<Person> {
    const { app, operator } = first.test;
    if (state === 'invited') return invited();
    const person = await joined();
    if (state === 'disabled') await updateMember(app, operator, person.memberId, { status: state });
    if (state === 'deleted') await deleteMember(app, operator, person.memberId);
    return person;
  }

  it.each(states)('let a member who is %s in by the ways of the table alone', async (state) => {
    const { ways } = await bring(state);
    const found: Record<string, string> = {};
    for (const way of Object.keys(wanted[state]) as Way[]) {
      // An invitation is used once: by the provider, or by the button.
      const again = state === 'invited' && way === 'invitation' ? await renewed() : ways[way];
      found[way] = (await again?.()) ?? 'none yet';
    }
    expect(found).toEqual(wanted[state]);
  });

  /** Deletes the member that the provider made, and invites again. */
  async function renewed() {
    const { app, operator } = first.test;
    const { rows } = await members.page(app.store.db, operator.organizationId, {
      ...{ page: 1, limit: 1 },
    });
    await deleteMember(app, operator, rows[0]?.id ?? '');
    return (await invited()).ways.invitation;
  }

  it.each(['disabled', 'deleted'] as const)(
    'end the stream of a member who is %s at the first within a second',
    async (state) => {
      const { app, operator } = first.test;
      const member = await join(app, operator, email, 'editor');
      const { cookie } = await browserOf(first, personOf(member));
      const { url } = await second.http.listen();
      const stream = await fetch(`${url}/console/live`, {
        headers: { cookie: `__Host-${cookie}` },
      });
      expect(stream.status).toBe(200);
      let isEnded = false;
      const reading = (async () => {
        for await (const _chunk of stream.body ?? []);
        isEnded = true;
      })();
      const id = memberOf(member);
      if (state === 'disabled') await updateMember(app, operator, id, { status: state });
      else await deleteMember(app, operator, id);
      const within = async () => {
        await mail.test.clock.advance(1_000);
        return isEnded;
      };
      await expect.poll(within).toBe(true);
      await reading;
    },
  );
});
