// A provider of OpenID Connect on loopback. It signs ID tokens, and each test falsifies a part. It
// asks for no password.
import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../../src/platform/runtime/clock.ts';

type Json = Record<string, unknown>;

/** An answer of HTTP in place of JSON. `silent` accepts the request and never answers. */
type RawAnswer = 'silent' | { status: number; headers?: Record<string, string>; body: string };

/** Changes of the honest answers. */
export interface Forgery {
  discovery?: (document: Json) => Json | RawAnswer;
  /** Changes the parameters with which the browser returns. */
  back?: (query: URLSearchParams) => void;
  token?: (answer: Json) => Json | RawAnswer;
  header?: (header: Json) => Json;
  claims?: (claims: Json) => Json;
  /** Changes the finished ID token. */
  jwt?: (jwt: string) => string;
  keys?: (keys: Json[]) => Json[] | RawAnswer;
  /** Signs with this algorithm; default: RS256. */
  algorithm?: Algorithm;
}

const pairs = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  EdDSA: generateKeyPairSync('ed25519'),
};

type Algorithm = 'RS256' | 'PS256' | 'RS512' | 'ES256' | 'ES384' | 'EdDSA' | 'HS256' | 'none';

const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });

function pairOf(algorithm: Algorithm) {
  if (algorithm === 'ES256' || algorithm === 'ES384' || algorithm === 'EdDSA') {
    return pairs[algorithm];
  }
  return pairs.RS256;
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function signature(algorithm: Algorithm, text: string, privateKey: KeyObject): Buffer {
  const data = Buffer.from(text);
  switch (algorithm) {
    case 'none':
      return Buffer.alloc(0);
    case 'HS256': {
      const secret = pairs.RS256.publicKey.export({ type: 'spki', format: 'pem' });
      return createHmac('sha256', secret).update(data).digest();
    }
    case 'PS256':
      return sign('sha256', data, { key: privateKey, padding: 6, saltLength: 32 });
    case 'RS512':
      return sign('sha512', data, privateKey);
    case 'EdDSA':
      return sign(null, data, privateKey);
    case 'ES256':
    case 'ES384':
      return sign(algorithm === 'ES256' ? 'sha256' : 'sha384', data, {
        key: privateKey,
        dsaEncoding: 'ieee-p1363',
      });
    default:
      return sign('sha256', data, privateKey);
  }
}

/** Signs with a key that the provider does not list. */
export function signedByStranger(jwt: string): string {
  const text = jwt.split('.').slice(0, 2).join('.');
  return `${text}.${signature('RS256', text, stranger.privateKey).toString('base64url')}`;
}

function isRaw(answer: unknown): answer is Exclude<RawAnswer, 'silent'> {
  return typeof answer === 'object' && answer !== null && 'body' in answer;
}

export class Forger {
  readonly clientId = 'svc';
  readonly clientSecret = 'client-secret';
  readonly requests: { path: string; authorization: string | undefined; body: string }[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #clock: Pick<Clock, 'now'>;
  readonly #codes = new Map<string, { nonce: string; challenge: string; redirect: string }>();
  #forgery: Forgery = {};
  #claims: Json = {};

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** Sets the claims of the next ID tokens, and the falsified parts. */
  answerWith(claims: Json, forgery: Forgery = {}): void {
    this.#claims = claims;
    this.#forgery = forgery;
    this.requests.length = 0;
  }

  /** Signs in at the address of `beginProvider`; returns the query of the return. */
  signIn(address: string): string {
    const given = new URL(address).searchParams;
    const code = randomUUID();
    this.#codes.set(code, {
      nonce: given.get('nonce') ?? '',
      challenge: given.get('code_challenge') ?? '',
      redirect: given.get('redirect_uri') ?? '',
    });
    const query = new URLSearchParams({
      code,
      state: given.get('state') ?? '',
      iss: this.issuer,
    });
    this.#forgery.back?.(query);
    return query.toString();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { url: path = '', headers } = request;
    this.requests.push({ path, authorization: headers.authorization, body });
    const answer = this.#answerTo(path, body);
    if (answer === 'silent') return;
    const raw = isRaw(answer) ? answer : null;
    response.writeHead(raw?.status ?? 200, raw?.headers ?? { 'content-type': 'application/json' });
    response.end(raw?.body ?? JSON.stringify(answer));
  }

  #answerTo(path: string, body: string): unknown {
    const { discovery, token, keys } = this.#forgery;
    if (path.endsWith('/.well-known/openid-configuration')) {
      const document = this.#document();
      return discovery?.(document) ?? document;
    }
    if (path === '/keys') {
      const listed = Object.entries(pairs).map(([name, { publicKey }]) => ({
        ...publicKey.export({ format: 'jwk' }),
        kid: name,
        use: 'sig',
      }));
      const changed = keys?.(listed) ?? listed;
      return isRaw(changed) ? changed : { keys: changed };
    }
    if (path.startsWith('/authorize?')) {
      const asked = new URL(path, this.issuer);
      const location = `${asked.searchParams.get('redirect_uri')}?${this.signIn(asked.href)}`;
      return { status: 302, headers: { location }, body: '' };
    }
    if (path !== '/token') return { status: 404, body: '' };
    const answer = this.#token(new URLSearchParams(body));
    return isRaw(answer) ? answer : (token?.(answer as Json) ?? answer);
  }

  #document(): Json {
    const { issuer } = this;
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
      authorization_response_iss_parameter_supported: true,
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    };
  }

  #token(form: URLSearchParams): Json | RawAnswer {
    const code = this.#codes.get(form.get('code') ?? '');
    const isOurs = code !== undefined && code.redirect === form.get('redirect_uri');
    this.#codes.delete(form.get('code') ?? '');
    if (!isOurs) {
      const headers = { 'content-type': 'application/json' };
      return { status: 400, headers, body: '{"error":"invalid_grant"}' };
    }
    const { algorithm = 'RS256', header, claims, jwt } = this.#forgery;
    const now = Math.floor(this.#clock.now() / 1000);
    const honest = {
      iss: this.issuer,
      aud: this.clientId,
      iat: now,
      exp: now + 300,
      nonce: code.nonce,
      ...this.#claims,
    };
    const kid = algorithm in pairs ? algorithm : 'RS256';
    const top = header?.({ alg: algorithm, kid, typ: 'JWT' }) ?? { alg: algorithm, kid };
    const text = `${encode(top)}.${encode(claims?.(honest) ?? honest)}`;
    const { privateKey } = pairOf(algorithm);
    const whole = `${text}.${signature(algorithm, text, privateKey).toString('base64url')}`;
    return { access_token: 'a', token_type: 'Bearer', id_token: jwt?.(whole) ?? whole };
  }
}
