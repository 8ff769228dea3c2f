// Broken and forged answers of a provider: each is refused with a fault that says nothing of
// addresses, and no identity.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  beginProvider,
  finishProvider,
  flowLivesMs,
} from '../../../src/access/single-sign-on/flow.ts';
import { ProviderError } from '../../../src/access/single-sign-on/provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { Forger, type Forgery, signedByStranger } from './forger.ts';

const callbackUrl = 'http://localhost:4025/console/oidc/callback';
const claims = { sub: 'u1', email: 'Mara@Example.com', email_verified: true };

let forger: Forger;
let test: TestApp;

beforeAll(async () => {
  // The forger needs the clock of the service, and the service its address.
  let now = () => 0;
  forger = await new Forger({ now: () => now() }).listen();
  const { issuer, clientId, clientSecret } = forger;
  const oidc = { issuer, clientId, clientSecret };
  test = await testApp({ config: { console: { signIn: { oidc } } } });
  now = () => test.clock.now();
});

afterAll(async () => {
  await test.close();
  await forger.close();
});

/** Begins anew: the discovery document is read again. */
async function begin() {
  await test.clock.advance(5 * 60_000);
  return beginProvider(test.app, { purpose: 'sign-in', next: '/console', callbackUrl });
}

async function signIn(forgery: Forgery) {
  forger.answerWith(claims, forgery);
  const { url, cookie } = await begin();
  return finishProvider(test.app, { query: forger.signIn(url), cookie });
}

const json = { 'content-type': 'application/json' };
const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>Log in</p>' };
const far = { status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' };
const vast = { status: 200, headers: json, body: `{"a":"${'x'.repeat(1_100_000)}"}` };
const now = () => Math.floor(test.clock.now() / 1000);

describe('an honest answer', () => {
  it.each(['RS256', 'PS256', 'ES256', 'EdDSA'] as const)('with %s signs in', async (algorithm) => {
    expect(await signIn({ algorithm })).toMatchObject({
      flow: { purpose: 'sign-in', next: '/console' },
      identity: {
        issuer: forger.issuer,
        clientId: 'svc',
        subject: 'u1',
        email: 'mara@example.com',
        isEmailVerified: true,
        authTime: null,
      },
    });
  });

  it('is asked for with PKCE, state and nonce, which the address does not reveal', async () => {
    forger.answerWith(claims);
    const { url, cookie } = await begin();
    const given = Object.fromEntries(new URL(url).searchParams);
    expect(given).toMatchObject({
      response_type: 'code',
      client_id: 'svc',
      redirect_uri: callbackUrl,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(given).not.toHaveProperty('prompt');
    await finishProvider(test.app, { query: forger.signIn(url), cookie });
    const token = forger.requests.find(({ path }) => path === '/token');
    expect(token?.body).toMatch(/code_verifier=[\w-]{43}/);
    expect(token?.authorization).toMatch(/^Basic /);
    for (const secret of [given['state'], given['nonce']]) expect(cookie).not.toContain(secret);
  });

  it('is asked for anew for a proof', async () => {
    forger.answerWith(claims);
    const { url } = await beginProvider(test.app, {
      ...{ purpose: 'proof', personId: 'per_1', sessionHash: 'a', next: '/console', callbackUrl },
    });
    const { searchParams } = new URL(url);
    expect([searchParams.get('prompt'), searchParams.get('max_age')]).toEqual(['login', '0']);
  });

  it('follows keys that were rotated meanwhile', async () => {
    expect(await signIn({})).toHaveProperty('identity');
    const kid = (keys: Record<string, unknown>[]) =>
      keys.map((key) => ({ ...key, kid: `new-${key['kid']}` }));
    const header = (head: Record<string, unknown>) => ({ ...head, kid: 'new-RS256' });
    expect(await signIn({ keys: kid, header })).toHaveProperty('identity');
  });

  it('counts an address as proven only by the boolean true', async () => {
    for (const value of ['true', 1, undefined, null]) {
      const result = await signIn({ claims: (all) => ({ ...all, email_verified: value }) });
      expect(result).toMatchObject({ identity: { isEmailVerified: false } });
    }
  });
});

/** Faults before the browser leaves. */
const atBegin: Record<string, [Forgery, string]> = {
  'answers 500': [{ discovery: () => ({ status: 500, body: '' }) }, 'unreachable'],
  'answers 404': [{ discovery: () => ({ status: 404, body: '' }) }, 'unreachable'],
  'answers HTML': [{ discovery: () => page }, 'unverified'],
  'answers a list': [{ discovery: () => ({ ...page, body: '[1]' }) }, 'unverified'],
  'redirects the discovery': [{ discovery: () => far }, 'unreachable'],
  'answers more than a megabyte': [{ discovery: () => vast }, 'unreachable'],
  'names another issuer': [
    { discovery: (all) => ({ ...all, issuer: 'http://127.0.0.1:1' }) },
    'unverified',
  ],
  'names the issuer with a slash more': [
    { discovery: (all) => ({ ...all, issuer: `${all['issuer']}/` }) },
    'unverified',
  ],
  'names a script as its sign-in page': [
    { discovery: (all) => ({ ...all, authorization_endpoint: 'javascript:alert(1)' }) },
    'unverified',
  ],
  'names plain HTTP elsewhere': [
    { discovery: (all) => ({ ...all, token_endpoint: 'http://192.0.2.1/token' }) },
    'unverified',
  ],
  'has no keys in its document': [{ discovery: ({ jwks_uri: _, ...all }) => all }, 'unverified'],
};

/** Faults of the return, the code, the ID token or the keys. */
const atReturn: Record<string, [Forgery, string]> = {
  'says that the person refused': [
    {
      back: (query) => {
        query.delete('code');
        query.set('error', 'access_denied');
      },
    },
    'denied',
  ],
  'returns without the state': [{ back: (query) => query.delete('state') }, 'unverified'],
  'returns with another state': [{ back: (query) => query.set('state', 'x') }, 'unverified'],
  'returns with two states': [{ back: (query) => query.append('state', 'x') }, 'unverified'],
  'returns without iss, which it promised': [
    { back: (query) => query.delete('iss') },
    'unverified',
  ],
  'returns with the iss of another': [
    { back: (query) => query.set('iss', 'https://id.example.com') },
    'unverified',
  ],
  'returns without a code': [{ back: (query) => query.delete('code') }, 'unverified'],
  'returns with an invented code': [{ back: (query) => query.set('code', 'x') }, 'unverified'],
  'returns an ID token by the browser': [
    { back: (query) => query.set('id_token', 'a.b.c') },
    'unverified',
  ],
  'answers 503 to the code': [{ token: () => ({ status: 503, body: '' }) }, 'unreachable'],
  'answers HTML to the code': [{ token: () => page }, 'unverified'],
  'redirects the code': [{ token: () => far }, 'unverified'],
  'answers the code with a megabyte': [{ token: () => vast }, 'unreachable'],
  'gives no ID token': [{ token: ({ id_token: _, ...all }) => all }, 'unverified'],
  'gives an ID token of two parts': [{ jwt: (jwt) => jwt.replace(/\.[^.]*$/, '') }, 'unverified'],
  'signs with none': [{ algorithm: 'none' }, 'unverified'],
  'signs with its public key as a secret': [{ algorithm: 'HS256' }, 'unverified'],
  'signs with RS512': [{ algorithm: 'RS512' }, 'unverified'],
  'signs with ES384': [{ algorithm: 'ES384' }, 'unverified'],
  'signs with a key of its own in the header': [
    {
      jwt: signedByStranger,
      header: (head) => ({ ...head, jwk: { kty: 'RSA', n: 'x', e: 'AQAB' } }),
    },
    'unverified',
  ],
  'signs with a key that it does not list': [{ jwt: signedByStranger }, 'unverified'],
  'names a key that it does not list': [
    { header: (head) => ({ ...head, kid: 'gone' }) },
    'unverified',
  ],
  'has a critical header': [
    { header: (head) => ({ ...head, crit: ['exp'], exp: 1 }) },
    'unverified',
  ],
  'changes the claims after signing': [
    {
      jwt: (jwt) => {
        const [head, body = '', end] = jwt.split('.');
        const all = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), sub: 'boss' };
        return `${head}.${Buffer.from(JSON.stringify(all)).toString('base64url')}.${end}`;
      },
    },
    'unverified',
  ],
  'signs for another audience': [{ claims: (all) => ({ ...all, aud: 'another' }) }, 'unverified'],
  'signs for two audiences': [
    { claims: (all) => ({ ...all, aud: ['svc', 'another'] }) },
    'unverified',
  ],
  'signs for another party': [{ claims: (all) => ({ ...all, azp: 'another' }) }, 'unverified'],
  'signs for another issuer': [
    { claims: (all) => ({ ...all, iss: 'https://id.example.com' }) },
    'unverified',
  ],
  'signs another nonce': [{ claims: (all) => ({ ...all, nonce: 'x' }) }, 'unverified'],
  'signs no nonce': [{ claims: ({ nonce: _, ...all }) => all }, 'unverified'],
  'signs an expired token': [
    { claims: (all) => ({ ...all, iat: now() - 900, exp: now() - 300 }) },
    'unverified',
  ],
  'signs a token without end': [{ claims: ({ exp: _, ...all }) => all }, 'unverified'],
  'signs a token of the future': [
    { claims: (all) => ({ ...all, iat: now() + 600, exp: now() + 900 }) },
    'unverified',
  ],
  'signs a proof of the future': [
    { claims: (all) => ({ ...all, auth_time: now() + 600 }) },
    'unverified',
  ],
  'signs a token that is not valid yet': [
    { claims: (all) => ({ ...all, nbf: now() + 600 }) },
    'unverified',
  ],
  'signs no subject': [{ claims: ({ sub: _, ...all }) => all }, 'unverified'],
  'signs an empty subject': [{ claims: (all) => ({ ...all, sub: '' }) }, 'unverified'],
  'signs a number as subject': [{ claims: (all) => ({ ...all, sub: 7 }) }, 'unverified'],
  'signs a subject of 300 characters': [
    { claims: (all) => ({ ...all, sub: 'x'.repeat(300) }) },
    'unverified',
  ],
  'has HTML in place of keys': [{ keys: () => page }, 'unverified'],
  'redirects the keys': [{ keys: () => far }, 'unverified'],
  'lists no key': [{ keys: () => [] }, 'unverified'],
  'lists a key for encryption alone': [
    { keys: (keys) => keys.map((key) => ({ ...key, use: 'enc' })) },
    'unverified',
  ],
};

describe('a provider that', () => {
  it('is forged in at least forty ways', () => {
    expect(Object.keys({ ...atBegin, ...atReturn }).length).toBeGreaterThanOrEqual(40);
  });

  it.each(Object.entries(atBegin))('%s gets no browser', async (_, [forgery, fault]) => {
    forger.answerWith(claims, forgery);
    const error = await begin().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ fault });
  });

  it.each(Object.entries(atReturn))('%s is refused', async (_, [forgery, fault]) => {
    const result = await signIn(forgery);
    expect(result).not.toHaveProperty('identity');
    expect(result).toMatchObject({ fault, flow: { purpose: 'sign-in' } });
    expect(JSON.stringify(result)).not.toMatch(/mara|client-secret|eyJ/i);
  });

  it('is down gets no browser', async () => {
    const gone = await new Forger({ now: () => test.clock.now() }).listen();
    const oidc = { issuer: gone.issuer, clientId: 'svc' };
    await gone.close();
    const away = await testApp({ seed: 2, config: { console: { signIn: { oidc } } } });
    const flow = { purpose: 'sign-in', next: '/console', callbackUrl } as const;
    await expect(beginProvider(away.app, flow)).rejects.toMatchObject({ fault: 'unreachable' });
    await away.close();
  });

  it('does not answer within 10 seconds is refused', async () => {
    forger.answerWith(claims, { token: () => 'silent' });
    const { url, cookie } = await begin();
    const result = finishProvider(test.app, { query: forger.signIn(url), cookie });
    await expect.poll(() => forger.requests.some(({ path }) => path === '/token')).toBe(true);
    await test.clock.advance(10_000);
    expect(await result).toMatchObject({ fault: 'unreachable' });
  });
});

it('a failure is logged once a minute, without a token', async () => {
  const lines: string[] = [];
  const { issuer, clientId, clientSecret } = forger;
  const oidc = { issuer, clientId, clientSecret };
  const config = { console: { signIn: { oidc } } };
  const logged = await testApp({ seed: 4, config, log: { write: (line) => lines.push(line) } });
  const failures = async (count: number) => {
    for (let at = 0; at < count; at += 1) {
      const flow = { purpose: 'sign-in', next: '/console', callbackUrl } as const;
      forger.answerWith(claims, { algorithm: 'none' });
      const { url, cookie } = await beginProvider(logged.app, flow);
      await finishProvider(logged.app, { query: forger.signIn(url), cookie });
    }
    return lines
      .filter((line) => line.includes('single sign-on'))
      .map((line) => JSON.parse(line) as { fault: string; detail: string; since: number });
  };
  expect(await failures(3)).toEqual([expect.objectContaining({ fault: 'unverified', since: 0 })]);
  await logged.clock.advance(60_000);
  const [first, second] = await failures(1);
  expect(second).toMatchObject({ fault: 'unverified', since: 2 });
  expect(first?.detail).toContain('"alg"');
  expect(lines.join('')).not.toMatch(/client-secret|mara|eyJ/i);
  await logged.close();
});

describe('a return', () => {
  it('that another browser began is refused', async () => {
    forger.answerWith(claims);
    const [ours, another] = [await begin(), await begin()];
    const query = forger.signIn(another.url);
    expect(await finishProvider(test.app, { query, cookie: null })).toMatchObject({
      flow: null,
      fault: 'not-begun',
    });
    const refused = await finishProvider(test.app, { query, cookie: ours.cookie });
    expect(refused).toMatchObject({ fault: 'unverified' });
    expect(forger.requests.filter(({ path }) => path === '/token')).toEqual([]);
  });

  it('with a changed cookie is refused', async () => {
    forger.answerWith(claims);
    const { url, cookie } = await begin();
    const query = forger.signIn(url);
    for (const changed of [`${cookie}A`, cookie.slice(1), cookie.replace(/.$/, '_'), 'x', '']) {
      const result = await finishProvider(test.app, { query, cookie: changed });
      expect(result).toMatchObject({ flow: null, fault: 'not-begun' });
    }
  });

  it('after ten minutes is refused', async () => {
    forger.answerWith(claims);
    const { url, cookie } = await begin();
    const query = forger.signIn(url);
    await test.clock.advance(flowLivesMs);
    const result = await finishProvider(test.app, { query, cookie });
    expect(result).toMatchObject({ flow: null, fault: 'not-begun' });
  });

  it('with a code that was used is refused', async () => {
    forger.answerWith(claims);
    const { url, cookie } = await begin();
    const query = forger.signIn(url);
    expect(await finishProvider(test.app, { query, cookie })).toHaveProperty('identity');
    expect(await finishProvider(test.app, { query, cookie })).toMatchObject({
      fault: 'unverified',
    });
  });

  it('in the place of another provider is refused', async () => {
    forger.answerWith(claims);
    const { url, cookie } = await begin();
    const query = forger.signIn(url);
    const off = await testApp({ seed: 3 });
    expect(await finishProvider(off.app, { query, cookie })).toMatchObject({ fault: 'off' });
    await off.close();
  });
});
