// Sign-in with a real provider of OpenID Connect (oidc-provider) in place of the forger.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { beginProvider, finishProvider } from '../../../src/access/single-sign-on/flow.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const callbackUrl = 'http://localhost:4025/console/oidc/callback';

let server: Server;
let issuer: string;
let test: TestApp;

/** Keeps the cookies of a browser at the provider. */
const cookies = new Map<string, string>();

async function visit(url: string, form?: Record<string, string>): Promise<Response> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  });
  for (const header of response.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? [];
    cookies.set(name, value);
  }
  return response;
}

/** Follows the provider, as a person at a browser does; returns the query of the return. */
async function signInAt(url: string): Promise<string> {
  let at = url;
  for (let steps = 0; steps < 12; steps += 1) {
    const response = await visit(at);
    const location = response.headers.get('location');
    if (location?.startsWith(callbackUrl)) return new URL(location).search.slice(1);
    if (location) {
      at = new URL(location, at).href;
      continue;
    }
    const page = await response.text();
    const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
    const prompt = page.includes('name="login"') ? 'login' : 'consent';
    const done = await visit(new URL(action, at).href, { prompt, login: 'mara', password: 'any' });
    at = new URL(done.headers.get('location') ?? '', at).href;
  }
  throw new Error('the provider did not lead back');
}

beforeAll(async () => {
  server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'svc',
        client_secret: 'client-secret',
        redirect_uris: [callbackUrl],
        application_type: 'native',
      },
    ],
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['a'] },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.com`, email_verified: true, name: 'Mara' }),
    }),
  });
  server.on('request', provider.callback());
  const oidc = { issuer, clientId: 'svc', clientSecret: 'client-secret' };
  // The provider reads the clock of the machine.
  test = await testApp({ start: Date.now(), config: { console: { signIn: { oidc } } } });
});

afterAll(async () => {
  await test.close();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

it('signs a person in, and again for a fresh proof', async () => {
  const begin = { next: '/console/messages', callbackUrl };
  const first = await beginProvider(test.app, { purpose: 'sign-in', ...begin });
  const query = await signInAt(first.url);
  expect(await finishProvider(test.app, { query, cookie: first.cookie })).toMatchObject({
    flow: { purpose: 'sign-in', next: '/console/messages' },
    identity: {
      issuer,
      clientId: 'svc',
      subject: 'mara',
      email: 'mara@example.com',
      isEmailVerified: true,
      name: 'Mara',
    },
  });
  const again = await beginProvider(test.app, {
    ...{ purpose: 'proof', sessionHash: 'a', personId: 'per_1', ...begin },
  });
  const proof = await finishProvider(test.app, {
    query: await signInAt(again.url),
    cookie: again.cookie,
  });
  expect(proof).toMatchObject({ identity: { subject: 'mara' } });
  const { authTime } = 'identity' in proof ? proof.identity : { authTime: null };
  expect(Math.abs((authTime ?? 0) - Date.now())).toBeLessThan(60_000);
});

it('does not redeem a code twice', async () => {
  const flow = { purpose: 'sign-in', next: '/console', callbackUrl } as const;
  const { url, cookie } = await beginProvider(test.app, flow);
  const query = await signInAt(url);
  expect(await finishProvider(test.app, { query, cookie })).toHaveProperty('identity');
  expect(await finishProvider(test.app, { query, cookie })).toMatchObject({ fault: 'unverified' });
});
