// A sign-in at the provider, from the click to the return. All of it stands in a sealed cookie of
// the browser, so a browser can end only a sign-in that it began.
//
//   state   | event                                          | state
//   --------+------------------------------------------------+---------
//   (none)  | beginProvider                                  | begun
//   begun   | a return with state, nonce and a verified token | ended
//   begun   | 10 minutes, another browser, an error          | refused
import { createHash } from 'node:crypto';
import type { App } from '../../core/app.ts';
import { exactly } from '../../core/root-keys/token-text.ts';
import { newToken } from '../../platform/runtime/tokens.ts';
import { reportFault } from './faults.ts';
import type { Identity } from './identity.ts';
import {
  authorizationUrl,
  type FlowSecrets,
  ProviderError,
  type ProviderFault,
  providerOf,
  redeemCode,
} from './provider.ts';

const sealPurpose = 'single sign-on';
/** Time in which a browser may return from the provider, in ms. */
export const flowLivesMs = 10 * 60_000;
const longestNext = 300;

/** Purpose of a visit to the provider. */
export type FlowPurpose =
  | { purpose: 'sign-in' }
  /** Binds the person of this session in My account. */
  | { purpose: 'bind'; sessionHash: string; personId: string }
  /** Proves the person of this session again. */
  | { purpose: 'proof'; sessionHash: string; personId: string }
  /** Accepts an invitation, by the hash of its token. */
  | { purpose: 'invitation'; invitationHash: string };

/** A sign-in at the provider. */
export type Flow = FlowPurpose & {
  /** Path under `/console` to continue at. */
  next: string;
  /** URL to which the provider sends the browser back. */
  callbackUrl: string;
  /** Time of the begin, ms since 1970. */
  begunAt: number;
};

type Sealed = Flow & { secret: string };

/** A return without an identity. `flow` is null if this browser began no sign-in. */
export interface RefusedReturn {
  flow: Flow | null;
  fault: ProviderFault | 'not-begun' | 'off';
}

/** Derives three secrets, which are of no use without the cookie. */
function secretsOf(secret: string): FlowSecrets {
  const derive = (name: string) =>
    createHash('sha256').update(`${name} ${secret}`).digest('base64url');
  return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') };
}

function openCookie(app: App, cookie: string | null): Sealed | null {
  const text = cookie && app.secrets.unseal(sealPurpose, cookie, timeOf);
  if (!text) return null;
  const flow = JSON.parse(text) as Sealed;
  const age = app.clock.now() - flow.begunAt;
  return age >= 0 && age < flowLivesMs ? flow : null;
}

function timeOf(text: string) {
  return exactly((JSON.parse(text) as Sealed).begunAt);
}

/**
 * Begins a sign-in. Returns the provider's address for the browser, and the value of a cookie that
 * lives `flowLivesMs`. @throws ProviderError
 */
export async function beginProvider(
  app: App,
  begin: FlowPurpose & { next: string; callbackUrl: string },
): Promise<{ url: string; cookie: string }> {
  const settings = providerOf(app);
  if (!settings) throw new ProviderError('unreachable', 'console.signIn.oidc has no issuer');
  const begunAt = app.clock.now();
  const secret = newToken(app.random);
  const next = begin.next.length > longestNext ? '/console' : begin.next;
  const sealed: Sealed = { ...begin, next, begunAt, secret };
  const url = await authorizationUrl(app, settings, {
    callbackUrl: begin.callbackUrl,
    secrets: secretsOf(secret),
    isProof: begin.purpose === 'proof',
  }).catch((error: unknown) => {
    reportFault(app, error);
    throw error;
  });
  return { url, cookie: app.secrets.seal(sealPurpose, JSON.stringify(sealed), begunAt) };
}

/**
 * Ends a sign-in. `query` is the query of the return, `cookie` the value of `beginProvider`.
 * Returns the identity, or the fault of a refused return.
 */
export async function finishProvider(
  app: App,
  { query, cookie }: { query: string; cookie: string | null },
): Promise<{ flow: Flow; identity: Identity } | RefusedReturn> {
  const settings = providerOf(app);
  if (!settings) return { flow: null, fault: 'off' };
  const sealed = openCookie(app, cookie);
  if (!sealed) return { flow: null, fault: 'not-begun' };
  const { secret, ...flow } = sealed;
  const url = new URL(flow.callbackUrl);
  url.search = query;
  try {
    return { flow, identity: await redeemCode(app, settings, { url, secrets: secretsOf(secret) }) };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    reportFault(app, error);
    return { flow, fault: error.fault };
  }
}
