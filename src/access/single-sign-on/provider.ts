// The provider of single sign-on (OpenID Connect Core 1.0). Only this file imports openid-client,
// and only at the first use.
//
//   request           | when                          | bounds
//   ------------------+-------------------------------+--------------------------------------------
//   discovery         | first sign-in of five minutes | 10 s, 1 MB, 200, no redirect
//   token, keys       | each return of a browser      | the same
//
// Keys are asked for each time, so a rotated key works at once. The addresses may be private: the
// configuration names the issuer, and the issuer names the other hosts.
import type { Configuration, CustomFetch, ServerMetadata } from 'openid-client';
import type { App } from '../../core/app.ts';
import { messageOf } from '../../platform/errors.ts';
import { askOnce } from '../../platform/net/http/client.ts';
import { isLoopbackHost } from '../../platform/net/network-address.ts';
import { systemClock } from '../../platform/runtime/clock.ts';
import { type Identity, identityOf } from './identity.ts';

const requestMs = 10_000;
const mostBytes = 1024 * 1024;
const discoveryLivesMs = 5 * 60_000;
/** Longest time by which a clock of the provider may be ahead, in seconds. */
const clockToleranceSeconds = 60;
/** Algorithms of ID tokens; never `none`, and none with a shared secret. */
const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const anywhere = { hostProblem: () => null, addressProblem: () => null };

/** Reason why a provider signs nobody in. */
export type ProviderFault = 'unreachable' | 'denied' | 'unverified';

/** A sign-in at the provider that failed. The message is for the log and has no token. */
export class ProviderError extends Error {
  readonly fault: ProviderFault;
  constructor(fault: ProviderFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Secrets of a single sign-in, which the provider returns or asks for. */
export interface FlowSecrets {
  state: string;
  nonce: string;
  /** Verifier of PKCE (RFC 7636). */
  verifier: string;
}

/** Returns the settings of the provider; null if the configuration names none. */
export function providerOf({ config }: Pick<App, 'config'>) {
  const { issuer, clientId, ...rest } = config.console.signIn.oidc;
  return issuer === null || clientId === null ? null : { ...rest, issuer, clientId };
}

export type ProviderSettings = NonNullable<ReturnType<typeof providerOf>>;

/** Returns the `fetch` for openid-client: our client of outgoing HTTP with the bounds above. */
function fetcherOf(app: App): CustomFetch {
  const bounds = { guard: anywhere, timeoutMs: requestMs, mostBytes, connectionsPerOrigin: 1 };
  return async (url, { method, headers, body }) => {
    const answer = await askOnce(app, bounds, {
      url: new URL(url),
      method: method as 'GET' | 'POST',
      headers: { ...headers, 'user-agent': 'svc-sign-in/1' },
      body: body ? String(body) : undefined,
    }).catch((error: unknown) => {
      throw new ProviderError('unreachable', messageOf(error));
    });
    const { statusCode: status, text } = answer;
    if (status >= 500) throw new ProviderError('unreachable', `${url} answered ${status}`);
    const type = answer.header('content-type') ?? '';
    const isEmpty = [204, 205, 304].includes(status);
    return new Response(isEmpty ? null : text, { status, headers: { 'content-type': type } });
  };
}

/**
 * Returns an address of the discovery document: https, or http on this machine for an issuer with
 * http. @throws ProviderError
 */
function endpointOf(document: ServerMetadata, name: keyof ServerMetadata): string {
  const text = document[name];
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : null;
  const mayBePlain = document.issuer.startsWith('http:');
  const isSafe =
    url?.protocol === 'https:' ||
    (mayBePlain && url?.protocol === 'http:' && isLoopbackHost(url.hostname.replace(/[[\]]/g, '')));
  if (isSafe && url) return url.href;
  throw new ProviderError('unverified', `the discovery document has no usable ${name}`);
}

/**
 * Reads the discovery document. The issuer must be exactly equal: openid-client lets Entra answer
 * with a different tenant. @throws ProviderError
 */
async function discover(app: App, { issuer }: ProviderSettings): Promise<ServerMetadata> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const headers = { accept: 'application/json' };
  const answer = await fetcherOf(app)(url, {
    method: 'GET',
    headers,
    body: undefined,
    redirect: 'manual',
  });
  if (answer.status !== 200) {
    throw new ProviderError('unreachable', `${url} answered ${answer.status}`);
  }
  const document = (await answer.json().catch(() => null)) as ServerMetadata | null;
  if (typeof document !== 'object' || document === null) {
    throw new ProviderError('unverified', `${url} did not answer with JSON`);
  }
  if (document.issuer !== issuer) {
    const named = JSON.stringify(document.issuer)?.slice(0, 200);
    throw new ProviderError('unverified', `${url} names the issuer ${named}, not ${issuer}`);
  }
  const { token_endpoint_auth_methods_supported: methods } = document;
  return {
    issuer,
    authorization_endpoint: endpointOf(document, 'authorization_endpoint'),
    token_endpoint: endpointOf(document, 'token_endpoint'),
    jwks_uri: endpointOf(document, 'jwks_uri'),
    authorization_response_iss_parameter_supported:
      document.authorization_response_iss_parameter_supported === true,
    id_token_signing_alg_values_supported: algorithms,
    ...(Array.isArray(methods) && { token_endpoint_auth_methods_supported: methods }),
  };
}

interface Discovered {
  readAt: number;
  document: Promise<ServerMetadata>;
}

const discovered = new WeakMap<App, Discovered>();

/** Returns the discovery document, read at most five minutes ago. A failure is not kept. */
function documentOf(app: App, settings: ProviderSettings): Promise<ServerMetadata> {
  const now = app.clock.now();
  const known = discovered.get(app);
  const age = known ? now - known.readAt : Infinity;
  if (known && age >= 0 && age < discoveryLivesMs) return known.document;
  const document = discover(app, settings);
  discovered.set(app, { readAt: now, document });
  document.catch(() => {
    if (discovered.get(app)?.document === document) discovered.delete(app);
  });
  return document;
}

/**
 * Returns the reason why no sign-in works now, as text; null if the discovery document can be used.
 */
export async function providerDoubt(app: App, settings: ProviderSettings): Promise<string | null> {
  try {
    await discover(app, settings);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

async function configure(app: App, settings: ProviderSettings): Promise<Configuration> {
  const document = await documentOf(app, settings);
  const library = await import('openid-client');
  const { clientId, clientSecret } = settings;
  // A server that lists no methods accepts `client_secret_basic` (Discovery 1.0, 3).
  const methods = document.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authenticate = methods.includes('client_secret_post')
    ? library.ClientSecretPost
    : library.ClientSecretBasic;
  const method = clientSecret === null ? library.None() : authenticate(clientSecret);
  const configuration = new library.Configuration(
    document,
    clientId,
    {
      // The library reads the clock of the machine; the offset makes it the app's clock.
      [library.clockSkew]: Math.round((app.clock.now() - systemClock.now()) / 1000),
      [library.clockTolerance]: clockToleranceSeconds,
    },
    method,
  );
  configuration[library.customFetch] = fetcherOf(app);
  if (document.issuer.startsWith('http:')) library.allowInsecureRequests(configuration);
  library.enableNonRepudiationChecks(configuration);
  return configuration;
}

interface Authorization {
  callbackUrl: string;
  secrets: FlowSecrets;
  /** Asks for a new proof, even of a person who is signed in at the provider. */
  isProof: boolean;
}

/** Returns the address at which the provider signs a person in. @throws ProviderError */
export async function authorizationUrl(
  app: App,
  settings: ProviderSettings,
  { callbackUrl, secrets, isProof }: Authorization,
): Promise<string> {
  const configuration = await configure(app, settings);
  const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client');
  return buildAuthorizationUrl(configuration, {
    redirect_uri: callbackUrl,
    scope: settings.scopes.join(' '),
    state: secrets.state,
    nonce: secrets.nonce,
    code_challenge: await calculatePKCECodeChallenge(secrets.verifier),
    code_challenge_method: 'S256',
    ...(isProof && { prompt: 'login', max_age: '0' }),
  }).href;
}

/** Exchanges the code of a return for the identity in a verified ID token. @throws ProviderError */
export async function redeemCode(
  app: App,
  settings: ProviderSettings,
  { url, secrets }: { url: URL; secrets: FlowSecrets },
): Promise<Identity> {
  const configuration = await configure(app, settings);
  const { AuthorizationResponseError, authorizationCodeGrant } = await import('openid-client');
  const tokens = await authorizationCodeGrant(configuration, url, {
    expectedState: secrets.state,
    expectedNonce: secrets.nonce,
    pkceCodeVerifier: secrets.verifier,
    idTokenExpected: true,
  }).catch((error: unknown) => {
    const { cause } = error as { cause?: unknown };
    if (cause instanceof ProviderError) throw cause;
    const isDenied = error instanceof AuthorizationResponseError;
    throw new ProviderError(isDenied ? 'denied' : 'unverified', describe(error));
  });
  const claims = tokens.claims();
  if (!claims) throw new ProviderError('unverified', 'the answer has no ID token');
  // Core 1.0, 3.1.3.7: the library does not check `azp` for a single audience, nor `iat`.
  if (claims['azp'] !== undefined && claims['azp'] !== settings.clientId) {
    throw new ProviderError('unverified', 'the ID token was issued to another client (azp)');
  }
  const latest = app.clock.now() / 1000 + clockToleranceSeconds;
  for (const name of ['iat', 'auth_time'] as const) {
    const at = claims[name];
    if (at !== undefined && at > latest) {
      throw new ProviderError('unverified', `the ID token has a time of the future (${name})`);
    }
  }
  const identity = identityOf(claims, settings, settings);
  if (identity) return identity;
  throw new ProviderError('unverified', 'the ID token has no usable subject (sub)');
}

/** Returns the words of a failure of the library, which has tokens only in `cause`. */
function describe(error: unknown): string {
  const code = error instanceof Error && 'error' in error ? ` (${String(error.error)})` : '';
  const { cause } = error as { cause?: unknown };
  const more = cause instanceof Error ? `: ${cause.message}` : '';
  return `${messageOf(error)}${code}${more}`.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, 300);
}
