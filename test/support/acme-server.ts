// A certificate authority for tests (RFC 8555) on loopback. It checks nonces and signatures of
// requests, looks up challenges, signs certificates with a root of its own, and fails on demand.
import { createHash, createPublicKey, type JsonWebKey, verify, webcrypto } from 'node:crypto';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as x509 from '@peculiar/x509';
import type { Clock } from '../../src/platform/runtime/clock.ts';

/** Node's type of Web Crypto and the type that the library expects have different names. */
type WebCrypto = Extract<Parameters<typeof x509.cryptoProvider.set>[0], object>;

const dayMs = 24 * 3600_000;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const tokenBytes = 24;
const subjectAlternativeName = '2.5.29.17';

/** Faults that replace the answer to a request. */
export type AcmeFault =
  /** An HTML page with status 200. */
  | 'garbage'
  /** JSON of an unexpected form. */
  | 'nonsense'
  /** Accepts the request and never answers. */
  | 'silent'
  /** Rejects every nonce, even a nonce that it issued. */
  | 'bad-nonce'
  | { status: number; retryAfter?: string; type?: string };

export interface AcmeServerOptions {
  clock: Pick<Clock, 'now'>;
  /** Lifetime of the certificates. */
  lifeMs?: number;
  caaIdentities?: string[];
  /** Resolves with the content of the challenge; rejects if it is missing. */
  lookUp: (kind: 'http-01' | 'dns-01', hostname: string, token: string) => Promise<string>;
}

export interface AcmeServer {
  readonly directoryUrl: string;
  /** The root certificate in PEM. */
  readonly root: string;
  /** Requested paths, in order. */
  readonly requests: readonly string[];
  readonly orders: readonly { hostname: string; status: string }[];
  readonly accounts: readonly { contact: readonly string[] }[];
  /**
   * Sets the fault for requests to paths that begin with `at`, or for all requests; undefined ends
   * the fault.
   */
  fault(fault: AcmeFault | undefined, at?: string): void;
  /** Issues certificates for this name instead of the requested name. */
  misissueFor(hostname: string | undefined): void;
  /** Names this base for nonces in the directory, in place of the server's own base. */
  sendElsewhere(base: string): void;
  /** Issues a certificate without an order; returns certificate and key in PEM. */
  signFor(hostname: string, lifeMs: number): Promise<{ certificate: string; key: string }>;
  /** Count of unanswered requests. */
  readonly ignored: number;
  /** Leaves challenges undecided while on. */
  decideNothing(isOn: boolean): void;
  close(): Promise<void>;
}

interface Account {
  url: string;
  jwk: JsonWebKey;
  contact: string[];
}

interface Order {
  id: string;
  hostname: string;
  status: string;
  account: Account;
  token: string;
  authorization: string;
  error?: string;
  certificate?: string;
}

interface Signed {
  payload: Record<string, unknown> | null;
  account: Account | undefined;
  jwk: JsonWebKey;
}

class Problem extends Error {
  readonly status: number;
  readonly type: string;
  constructor(status: number, type: string, detail: string) {
    super(detail);
    this.status = status;
    this.type = type;
  }
}

function unpacked(text: unknown): Buffer {
  return Buffer.from(String(text), 'base64url');
}

function thumbprint({ crv, kty, x, y }: JsonWebKey): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

async function makeRoot(now: number) {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=Test Root',
    notBefore: new Date(now - dayMs),
    notAfter: new Date(now + 3650 * dayMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
  });
  return { keys, certificate };
}

/** Starts an authority on loopback, over plain HTTP. */
export async function startAcmeServer(options: AcmeServerOptions): Promise<AcmeServer> {
  const { clock, lookUp, lifeMs = 90 * dayMs, caaIdentities = ['ca.test'] } = options;
  x509.cryptoProvider.set(webcrypto as unknown as WebCrypto);
  const root = await makeRoot(clock.now());
  const nonces = new Set<string>();
  const accounts: Account[] = [];
  const orders: Order[] = [];
  const requests: string[] = [];
  const silent = new Set<ServerResponse>();
  let base = '';
  let serial = 1;
  let fault: { fault: AcmeFault; at: string } | undefined;
  let misissued: string | undefined;
  let named: string | undefined;
  let isUndecided = false;

  const newNonce = () => {
    const nonce = Buffer.from(webcrypto.getRandomValues(new Uint8Array(16))).toString('base64url');
    nonces.add(nonce);
    return nonce;
  };

  /** Reads a request: nonce, address, key and signature (RFC 8555 6.2). */
  function readSigned(url: string, body: string): Signed {
    const { protected: head, payload, signature } = JSON.parse(body) as Record<string, string>;
    const header = JSON.parse(unpacked(head).toString()) as Record<string, unknown>;
    if (!nonces.delete(String(header.nonce))) throw new Problem(400, 'badNonce', 'not a nonce');
    if (header.url !== url) throw new Problem(401, 'unauthorized', 'another address was signed');
    if (header.alg !== 'ES256') throw new Problem(400, 'badSignatureAlgorithm', 'ES256 only');
    const account = accounts.find((one) => one.url === header.kid);
    if (!account && header.kid !== undefined) {
      throw new Problem(400, 'accountDoesNotExist', 'no such account');
    }
    const jwk = account?.jwk ?? (header.jwk as JsonWebKey);
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    const isRight = verify(
      'sha256',
      Buffer.from(`${head}.${payload}`),
      { key, dsaEncoding: 'ieee-p1363' },
      unpacked(signature),
    );
    if (!isRight) throw new Problem(401, 'unauthorized', 'the signature is wrong');
    const text = unpacked(payload).toString();
    return { payload: text === '' ? null : JSON.parse(text), account, jwk };
  }

  const orderBody = (order: Order) => ({
    status: order.status,
    identifiers: [{ type: 'dns', value: order.hostname }],
    authorizations: [`${base}/authz/${order.id}`],
    finalize: `${base}/finalize/${order.id}`,
    ...(order.certificate && { certificate: `${base}/certificate/${order.id}` }),
  });

  const challengesOf = (order: Order) =>
    (['http-01', 'dns-01'] as const).map((type) => ({
      type,
      url: `${base}/challenge/${order.id}/${type}`,
      status: order.authorization,
      token: order.token,
      ...(order.error !== undefined && { error: { type: 'unauthorized', detail: order.error } }),
    }));

  async function validate(order: Order, kind: 'http-01' | 'dns-01'): Promise<void> {
    const expected = `${order.token}.${thumbprint(order.account.jwk)}`;
    const digest = createHash('sha256').update(expected).digest('base64url');
    const found = await lookUp(kind, order.hostname, order.token).catch((error: unknown) => {
      return `nothing: ${String(error)}`;
    });
    const isRight = found === (kind === 'http-01' ? expected : digest);
    order.authorization = isRight ? 'valid' : 'invalid';
    order.status = isRight ? 'ready' : 'invalid';
    if (!isRight) order.error = `found ${found.slice(0, 80)}`;
  }

  async function issue(order: Order, csr: Buffer): Promise<void> {
    const asked = new x509.Pkcs10CertificateRequest(csr);
    if (!(await asked.verify())) throw new Problem(400, 'badCSR', 'its signature is wrong');
    const extension = asked.getExtension(subjectAlternativeName);
    const names =
      extension && new x509.SubjectAlternativeNameExtension(extension.rawData).names.items;
    if (names?.length !== 1 || names[0]?.value !== order.hostname) {
      throw new Problem(400, 'badCSR', 'it names other hosts');
    }
    order.certificate = await sign(asked.publicKey, misissued ?? order.hostname, lifeMs);
    order.status = 'valid';
  }

  /** Issues a chain in PEM. */
  async function sign(publicKey: x509.PublicKeyType, hostname: string, ms: number) {
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: (++serial).toString(16).padStart(4, '0'),
      issuer: root.certificate.subject,
      subject: '',
      notBefore: new Date(clock.now() - 3600_000),
      notAfter: new Date(clock.now() + ms),
      publicKey,
      signingKey: root.keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: hostname }])],
    });
    return `${certificate.toString('pem')}\n${root.certificate.toString('pem')}\n`;
  }

  function newAccount({ payload, account, jwk }: Signed, response: ServerResponse): unknown {
    const there = account ?? accounts.find((one) => thumbprint(one.jwk) === thumbprint(jwk));
    const contact = (payload?.contact as string[] | undefined) ?? [];
    if (payload?.termsOfServiceAgreed !== true) {
      throw new Problem(403, 'userActionRequired', 'agree to the terms');
    }
    const made = there ?? { url: `${base}/account/${accounts.length + 1}`, jwk, contact };
    if (!there) accounts.push(made);
    response.statusCode = there ? 200 : 201;
    response.setHeader('location', made.url);
    return { status: 'valid', contact };
  }

  function newOrder({ payload, account }: Signed, response: ServerResponse): unknown {
    const [identifier] = (payload?.identifiers ?? []) as { value: string }[];
    if (!account || !identifier) throw new Problem(400, 'malformed', 'no identifier');
    const order: Order = {
      id: String(orders.length + 1),
      hostname: identifier.value,
      status: 'pending',
      account,
      token: Buffer.from(webcrypto.getRandomValues(new Uint8Array(tokenBytes))).toString(
        'base64url',
      ),
      authorization: 'pending',
    };
    orders.push(order);
    response.statusCode = 201;
    response.setHeader('location', `${base}/order/${order.id}`);
    return orderBody(order);
  }

  async function serve(path: string, body: string, response: ServerResponse): Promise<unknown> {
    const [, kind = '', id = '', detail = ''] = path.split('/');
    if (kind === 'directory') {
      return {
        newNonce: `${named ?? base}/nonce`,
        newAccount: `${base}/new-account`,
        newOrder: `${base}/new-order`,
        meta: { caaIdentities },
      };
    }
    if (kind === 'nonce') return undefined;
    const signed = readSigned(`${base}${path}`, body);
    if (kind === 'new-account' || kind === 'account') return newAccount(signed, response);
    if (!signed.account) throw new Problem(401, 'unauthorized', 'no account');
    if (kind === 'new-order') return newOrder(signed, response);
    const order = orders.find((one) => one.id === id);
    if (!order || order.account !== signed.account) throw new Problem(404, 'malformed', 'none');
    switch (kind) {
      case 'order':
        return orderBody(order);
      case 'authz':
        return {
          status: order.authorization,
          identifier: { type: 'dns', value: order.hostname },
          challenges: challengesOf(order),
        };
      case 'challenge':
        if (!isUndecided) void validate(order, detail as 'http-01');
        return challengesOf(order).find(({ type }) => type === detail);
      case 'finalize':
        if (order.status !== 'ready') throw new Problem(403, 'orderNotReady', order.status);
        await issue(order, unpacked(signed.payload?.csr));
        return orderBody(order);
      case 'certificate':
        response.setHeader('content-type', 'application/pem-certificate-chain');
        return order.certificate;
      default:
        throw new Problem(404, 'malformed', 'no such thing');
    }
  }

  function fail(how: AcmeFault, response: ServerResponse): void {
    const json = { 'content-type': 'application/json' };
    if (how === 'silent') {
      silent.add(response);
      response.on('close', () => silent.delete(response));
      return;
    }
    if (how === 'garbage') {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome!</h1>');
      return;
    }
    if (how === 'nonsense') {
      response.writeHead(200, { ...json, 'replay-nonce': newNonce(), location: 'nowhere' });
      response.end('{"hello":[1]}');
      return;
    }
    const { status, retryAfter, type } =
      how === 'bad-nonce' ? { status: 400, retryAfter: undefined, type: 'badNonce' } : how;
    response.writeHead(status, {
      'content-type': 'application/problem+json',
      'replay-nonce': newNonce(),
      ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
    });
    const problem = type && { type: `urn:ietf:params:acme:error:${type}`, detail: 'as told' };
    response.end(JSON.stringify(problem ?? {}));
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/';
    requests.push(path);
    if (fault && path.startsWith(fault.at)) return fail(fault.fault, response);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.setHeader('replay-nonce', newNonce());
    try {
      const answer = await serve(path, Buffer.concat(chunks).toString(), response);
      if (typeof answer === 'string') response.end(answer);
      else if (answer === undefined) response.end();
      else response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    } catch (error) {
      const { status, type, message } =
        error instanceof Problem ? error : new Problem(500, 'serverInternal', String(error));
      response.writeHead(status, { 'content-type': 'application/problem+json' });
      const detail = { type: `urn:ietf:params:acme:error:${type}`, detail: message };
      response.end(JSON.stringify(detail));
    }
  }

  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    directoryUrl: `${base}/directory`,
    root: root.certificate.toString('pem'),
    requests,
    orders,
    accounts,
    async signFor(hostname, ms) {
      const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
      const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
      const lines = pkcs8.toString('base64').match(/.{1,64}/g) ?? [];
      const key = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''];
      return { certificate: await sign(keys.publicKey, hostname, ms), key: key.join('\n') };
    },
    get ignored() {
      return silent.size;
    },
    fault(how, at = '/') {
      fault = how && { fault: how, at };
    },
    misissueFor(hostname) {
      misissued = hostname;
    },
    sendElsewhere(to) {
      named = to;
    },
    decideNothing(isOn) {
      isUndecided = isOn;
    },
    close() {
      for (const response of silent) response.destroy();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Fetches a challenge as the authority does: from `port` on loopback, for any name. */
export function fetchChallenge(port: number, hostname: string, token: string): Promise<string> {
  const path = `/.well-known/acme-challenge/${token}`;
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers: { host: hostname } }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve(response.statusCode === 200 ? text : 'not found'));
    }).on('error', reject);
  });
}
