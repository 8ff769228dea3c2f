// Passkeys with a software authenticator: right answers, every broken answer, and the rules of
// adding.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Asking } from '../../../src/access/passkeys/challenges.ts';
import { sweepChallenges } from '../../../src/access/passkeys/challenges.ts';
import {
  type Adding,
  registrationOptions,
  removePasskey,
  renamePasskey,
  signInOptions,
  verifyRegistration,
  verifySignIn,
} from '../../../src/access/passkeys/passkeys.ts';
import {
  mostPasskeys,
  type PasskeyRow,
  selectPasskeys,
} from '../../../src/access/passkeys/queries.ts';
import { PasskeyRefusal } from '../../../src/access/passkeys/refusals.ts';
import { passkeySite } from '../../../src/access/passkeys/site.ts';
import type { App } from '../../../src/core/app.ts';
import { type Algorithm, type Fault, SoftwareAuthenticator } from '../../support/authenticator.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { joined } from './people.ts';

const origin = 'https://mail.example.com';
const minute = 60_000;
const config = { http: { publicUrl: origin } };

/** Returns the result of a call that must not be refused. */
function accepted<Value>(value: Value | PasskeyRefusal): Value {
  if (value instanceof PasskeyRefusal) throw new Error(`refused: ${value.reason}`);
  return value;
}

/** Returns the reason of a refusal; `accepted` without a refusal. */
function reasonOf(value: unknown): string {
  return value instanceof PasskeyRefusal ? value.reason : 'accepted';
}

class Person {
  readonly app: App;
  readonly id: string;
  readonly key: SoftwareAuthenticator;

  constructor(app: App, id: string, key = new SoftwareAuthenticator(origin)) {
    this.app = app;
    this.id = id;
    this.key = key;
  }

  adding(change: Partial<Adding> = {}): Adding {
    return { personId: this.id, browser: 'session-1', isStronglyProven: true, ...change };
  }

  /** Asks for a new passkey, and answers; `between` runs before the answer arrives. */
  async add(fault: Fault = {}, between: () => unknown = () => {}) {
    const options = accepted(await registrationOptions(this.app, this.adding()));
    const response = this.key.create(options, fault);
    await between();
    return verifyRegistration(this.app, this.adding(), { response, name: 'Office PC' });
  }

  async signIn(fault: Fault = {}, between: () => unknown = () => {}) {
    const asking = askingOf();
    const options = accepted(await signInOptions(this.app, asking));
    const answer = this.key.get({ ...options, rpId: 'mail.example.com' }, fault);
    await between();
    return verifySignIn(this.app, asking, answer);
  }
}

const askingOf = (change: Partial<Asking> = {}): Asking => ({
  purpose: 'sign-in',
  browser: 'form-cookie',
  personId: null,
  ...change,
});

describe.each(stores)('passkeys on %s', (store) => {
  let test: TestApp;
  let app: App;
  let jette: Person;
  let count = 0;
  beforeAll(async () => {
    test = await testApp({ store, config });
    app = test.app;
  });
  beforeEach(async () => {
    jette = await newPerson();
  });
  afterAll(() => test?.close());

  /** Makes a person with an address of the running number. */
  async function newPerson(): Promise<Person> {
    count += 1;
    const { organizationId } = test.caller;
    const email = `jette-${count}@example.com`;
    return new Person(app, await joined(app, { email, organizationId }));
  }

  const stored = () => selectPasskeys(app.store.db, jette.id);

  it('ask for a verified, discoverable passkey of the whole host, without attestation', async () => {
    const options = accepted(await registrationOptions(app, jette.adding()));
    expect(options).toMatchObject({
      rp: { id: 'mail.example.com' },
      user: { id: Buffer.from(jette.id).toString('base64url'), name: `jette-${count}@example.com` },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      pubKeyCredParams: [{ alg: -7 }, { alg: -8 }, { alg: -257 }],
    });
    const question = accepted(await signInOptions(app, askingOf()));
    expect(question).toMatchObject({ rpId: 'mail.example.com', userVerification: 'required' });
    expect(question.allowCredentials).toBeUndefined();
  });

  it.each(['ES256', 'EdDSA', 'RS256'] satisfies Algorithm[])('sign in by %s', async (algorithm) => {
    const key = new SoftwareAuthenticator(origin, { algorithm });
    const person = new Person(app, jette.id, key);
    accepted(await person.add());
    expect(accepted(await person.signIn())).toMatchObject({
      person_id: jette.id,
      name: 'Office PC',
      counter: 1,
      last_used_at: test.clock.now(),
    });
  });

  it('sign in twice by a synced passkey, which counts nothing', async () => {
    const person = new Person(app, jette.id, new SoftwareAuthenticator(origin, { counts: false }));
    expect(accepted(await person.add()).is_synced).toBe(1);
    for (const _ of [1, 2]) expect(accepted(await person.signIn()).counter).toBe(0);
  });

  it('accept an attestation by the passkey itself', async () => {
    expect(reasonOf(await jette.add({ attestation: 'self' }))).toBe('accepted');
  });

  const anotherBrowser = () => challengeFor({ browser: 'another' });
  const challengeFor = async (change: Partial<Asking>) =>
    accepted(await signInOptions(app, askingOf(change))).challenge;
  const challengeToAdd = async (change: Partial<Adding>) =>
    accepted(await registrationOptions(app, jette.adding(change))).challenge;

  const brokenAnswers: [string, () => Fault | Promise<Fault>, string][] = [
    ['another origin', () => ({ origin: 'https://mail.example.org' }), 'invalid'],
    ['an origin with a port', () => ({ origin: `${origin}:8443` }), 'invalid'],
    ['http', () => ({ origin: 'http://mail.example.com' }), 'invalid'],
    ['a slash after the origin', () => ({ origin: `${origin}/` }), 'invalid'],
    ['the parent host', () => ({ rpId: 'example.com' }), 'invalid'],
    ['a host below', () => ({ rpId: 'a.mail.example.com' }), 'invalid'],
    ['no user verification', () => ({ isVerified: false }), 'invalid'],
    ['nobody present', () => ({ isPresent: false }), 'invalid'],
    ['no challenge of ours', () => ({ challenge: 'AAAA' }), 'foreign'],
  ];

  it.each([
    ...brokenAnswers,
    ['a wrong signature', () => ({ isForged: true }), 'invalid'],
    ['the type of a new passkey', () => ({ type: 'webauthn.create' }), 'invalid'],
    ['an unknown passkey', () => ({ credentialId: 'AAAA' }), 'unknown'],
    ['the name of another person', () => ({ userHandle: 'AAAA' }), 'unknown'],
    ['no name of a person', () => ({ userHandle: null }), 'unknown'],
    ["another browser's challenge", async () => ({ challenge: await anotherBrowser() }), 'foreign'],
    [
      'the challenge of a proof',
      async () => ({ challenge: await challengeFor({ purpose: 'proof' }) }),
      'foreign',
    ],
    [
      'the challenge of a new passkey',
      async () => ({ challenge: await challengeToAdd({ browser: 'form-cookie' }) }),
      'foreign',
    ],
    [
      "another person's challenge",
      async () => ({ challenge: await challengeFor({ personId: 'per_another' }) }),
      'foreign',
    ],
  ] as typeof brokenAnswers)('refuse a sign-in with %s', async (_what, fault, reason) => {
    accepted(await jette.add());
    expect(reasonOf(await jette.signIn(await fault()))).toBe(reason);
    // The fault alone was refused.
    expect(reasonOf(await jette.signIn())).toBe('accepted');
  });

  it.each([
    ...brokenAnswers,
    ['the type of a sign-in', () => ({ type: 'webauthn.get' }), 'invalid'],
    ['an algorithm that nobody asked for', () => ({ coseAlgorithm: -35 }), 'invalid'],
    ['a certificate', () => ({ attestation: 'certificate' }), 'invalid'],
    [
      "another session's challenge",
      async () => ({ challenge: await challengeToAdd({ browser: 'another' }) }),
      'foreign',
    ],
    [
      'the challenge of a sign-in',
      async () => ({ challenge: await challengeFor({ browser: 'session-1' }) }),
      'foreign',
    ],
  ] as typeof brokenAnswers)('refuse a new passkey with %s', async (_what, fault, reason) => {
    expect(reasonOf(await jette.add(await fault()))).toBe(reason);
    expect(await stored()).toEqual([]);
    expect(reasonOf(await jette.add())).toBe('accepted');
  });

  it.each([
    ['no JSON', 'passkey'],
    ['no credential', '{}'],
    ['a list', '[]'],
    [
      'an id of 2,000 characters',
      JSON.stringify({ id: 'A'.repeat(2_000), rawId: 'A', type: 'public-key' }),
    ],
    ['another type', JSON.stringify({ id: 'A', rawId: 'A', type: 'password', response: {} })],
    [
      'a response of 1 MB',
      JSON.stringify({
        id: 'A',
        rawId: 'A',
        type: 'public-key',
        response: {
          clientDataJSON: 'A'.repeat(1e6),
          authenticatorData: '',
          signature: '',
          attestationObject: '',
        },
      }),
    ],
  ])('refuse %s', async (_what, text) => {
    expect(reasonOf(await verifySignIn(app, askingOf(), text))).toBe('unreadable');
    const added = await verifyRegistration(app, jette.adding(), { response: text, name: '' });
    expect(reasonOf(added)).toBe('unreadable');
  });

  it('refuse a used challenge, for a sign-in and for a new passkey', async () => {
    accepted(await jette.add());
    const asking = askingOf();
    const options = accepted(await signInOptions(app, asking));
    const answers = [jette.key.get(options), jette.key.get(options)] as const;
    accepted(await verifySignIn(app, asking, answers[0]));
    expect(reasonOf(await verifySignIn(app, asking, answers[0]))).toBe('used');
    expect(reasonOf(await verifySignIn(app, asking, answers[1]))).toBe('used');
    const creation = accepted(await registrationOptions(app, jette.adding()));
    const made = [jette.key.create(creation), jette.key.create(creation)];
    const results = [];
    for (const response of made) {
      results.push(await verifyRegistration(app, jette.adding(), { response, name: '' }));
    }
    expect(results.map(reasonOf)).toEqual(['accepted', 'used']);
  });

  it('let one of two equal answers at once in, on two daemons', async () => {
    accepted(await jette.add());
    const other = await test.another();
    const asking = askingOf();
    const answer = jette.key.get(accepted(await signInOptions(app, asking)));
    const results = await Promise.all([app, other].map((one) => verifySignIn(one, asking, answer)));
    expect(results.map(reasonOf).sort()).toEqual(['accepted', 'used']);
  });

  it('refuse a challenge of five minutes ago, and one of a clock set back', async () => {
    accepted(await jette.add());
    expect(reasonOf(await jette.signIn({}, () => test.clock.advance(5 * minute - 1)))).toBe(
      'accepted',
    );
    expect(reasonOf(await jette.signIn({}, () => test.clock.advance(5 * minute)))).toBe('old');
    expect(reasonOf(await jette.add({}, () => test.clock.advance(5 * minute)))).toBe('old');
  });

  it.each([
    ['an equal counter', 3],
    ['a smaller counter', 2],
    ['a counter that became 0', 0],
  ])('refuse a passkey with %s from then on, and no other passkey', async (_what, counter) => {
    accepted(await jette.add());
    accepted(await jette.signIn({ counter: 3 }));
    expect(reasonOf(await jette.signIn({ counter }))).toBe('copied');
    expect(reasonOf(await jette.signIn({ counter: 9 }))).toBe('copied');
    accepted(await jette.add());
    expect(reasonOf(await jette.signIn())).toBe('accepted');
    expect((await stored()).map(({ refused_at }) => refused_at !== null)).toEqual([true, false]);
  });

  it('stay accepted after a shrunken counter under a wrong signature', async () => {
    accepted(await jette.add());
    accepted(await jette.signIn({ counter: 3 }));
    expect(reasonOf(await jette.signIn({ counter: 1, isForged: true }))).toBe('invalid');
    expect(reasonOf(await jette.signIn({ counter: 4 }))).toBe('accepted');
  });

  it('prove only the person of the session, by that person alone', async () => {
    const ole = await newPerson();
    accepted(await jette.add());
    accepted(await ole.add());
    const asking = askingOf({ purpose: 'proof', browser: 'session-1', personId: jette.id });
    const options = accepted(await signInOptions(app, asking));
    expect(options.allowCredentials).toHaveLength(1);
    const { allowCredentials: _, ...open } = options;
    expect(reasonOf(await verifySignIn(app, asking, ole.key.get(open)))).toBe('unknown');
    expect(reasonOf(await verifySignIn(app, asking, jette.key.get(options)))).toBe('accepted');
  });

  it('are refused at another host, and offered by no other', async () => {
    accepted(await jette.add());
    app.publicUrl.current = 'https://other.example.com';
    Object.assign(app.config.http, { publicUrl: null });
    expect(reasonOf(await jette.signIn({ origin: 'https://other.example.com' }))).toBe('unknown');
    const asking = askingOf({ purpose: 'proof', personId: jette.id });
    expect(accepted(await signInOptions(app, asking)).allowCredentials).toEqual([]);
    Object.assign(app.config.http, { publicUrl: origin });
  });

  it('have a bound, and tell the authenticator which it has', async () => {
    for (let count = 0; count < mostPasskeys; count++) accepted(await jette.add());
    expect(reasonOf(await registrationOptions(app, jette.adding()))).toBe('full');
    const [first] = await stored();
    accepted(await removeOf(first));
    const options = accepted(await registrationOptions(app, jette.adding()));
    expect(options.excludeCredentials).toHaveLength(mostPasskeys - 1);
  });

  const removeOf = async (row: PasskeyRow | undefined) =>
    removePasskey(app, { id: row?.id ?? '', person_id: jette.id });

  it('are renamed and removed by their person alone', async () => {
    const { id } = accepted(await jette.add());
    expect(await renamePasskey(app, { id, person_id: 'per_another' }, 'Mine')).toBe(false);
    expect(await removePasskey(app, { id, person_id: 'per_another' })).toBe(false);
    await renamePasskey(app, { id, person_id: jette.id }, `  Blue\nkey ${'x'.repeat(80)}`);
    const [row] = await stored();
    expect(row?.name).toMatch(/^Blue key x+$/);
    expect(row?.name).toHaveLength(60);
    expect(await removeOf(row)).toBe(true);
    expect(reasonOf(await jette.signIn())).toBe('unknown');
  });

  it('keep a used challenge until it is too old', async () => {
    accepted(await jette.add());
    const asking = askingOf();
    const answer = jette.key.get(accepted(await signInOptions(app, asking)));
    accepted(await verifySignIn(app, asking, answer));
    await test.clock.advance(4 * minute);
    await sweepChallenges(app);
    expect(reasonOf(await verifySignIn(app, asking, answer))).toBe('used');
    await test.clock.advance(90 * minute);
    await sweepChallenges(app);
    const left = await app.store.db
      .selectFrom('used_challenges' as never)
      .selectAll()
      .execute();
    expect(left).toEqual([]);
  });
});

describe('the site of passkeys', () => {
  it.each([
    ['https://mail.example.com', 'mail.example.com', 'https://mail.example.com'],
    ['https://mail.example.com:8443/svc', 'mail.example.com', 'https://mail.example.com:8443'],
    ['https://MAIL.example.com', 'mail.example.com', 'https://mail.example.com'],
    ['https://münchen.example', 'xn--mnchen-3ya.example', 'https://xn--mnchen-3ya.example'],
    ['http://127.0.0.1:4025', 'localhost', 'http://localhost:4025'],
    ['http://[::1]:4025', 'localhost', 'http://localhost:4025'],
    ['http://0.0.0.0:4025', 'localhost', 'http://localhost:4025'],
    ['http://localhost:4025', 'localhost', 'http://localhost:4025'],
  ])('of %s is %s', (url, rpId, of) => {
    expect(siteOf(url)).toEqual({ rpId, origin: of });
  });

  it.each([
    'http://mail.example.com',
    'https://192.0.2.1',
    'https://[2001:db8::1]',
    'http://192.0.2.1:4025',
  ])('is missing for %s', (url) => {
    expect(siteOf(url)).toBeNull();
  });
});

/** Returns the site of an address of the service. */
function siteOf(url: string) {
  const config = {
    http: { publicUrl: null },
    console: { signIn: { passkeys: true } },
  } as App['config'];
  return passkeySite({ config, publicUrl: { current: url } });
}
