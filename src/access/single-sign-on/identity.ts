// The identity that a provider vouches for, read from the claims of a verified ID token.
import { normalAddress } from '../members/address.ts';

const longestSubject = 255;
const longestName = 100;

/** A person at the provider. */
export interface Identity {
  issuer: string;
  clientId: string;
  subject: string;
  /** Address in normal form; null if absent, or unusable as the address of a person. */
  email: string | null;
  /** Whether the provider says, as a boolean, that it proved the address. */
  isEmailVerified: boolean;
  /** Domain of the organization at Google; null elsewhere. */
  hostedDomain: string | null;
  name: string | null;
  /** Time at which the provider last asked for a proof, ms since 1970; null if it does not say. */
  authTime: number | null;
  /** Value of the claim with the role, of any type; undefined without it. */
  roleClaim: unknown;
}

/** Names of the claims that the configuration chooses. */
export interface ChosenClaims {
  emailVerifiedClaim: string;
  roles: { readonly claim: string | null };
}

type Claims = Readonly<Record<string, unknown>>;

function textOf(value: unknown, longest: number): string | null {
  if (typeof value !== 'string' || /\p{Cc}/u.test(value)) return null;
  const text = value.trim();
  return text === '' || text.length > longest ? null : text;
}

/** Returns the value of a claim. Names such as `__proto__` are absent. */
function claimOf(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/**
 * Returns the identity in the claims of a verified ID token; null without a usable subject (OpenID
 * Connect Core 1.0, 2).
 */
export function identityOf(
  claims: Claims,
  client: { issuer: string; clientId: string },
  { emailVerifiedClaim, roles }: ChosenClaims,
): Identity | null {
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > longestSubject) return null;
  const email = textOf(claims['email'], 320);
  const authTime = claims['auth_time'];
  return {
    issuer: client.issuer,
    clientId: client.clientId,
    subject: sub,
    email: email === null ? null : normalAddress(email),
    isEmailVerified: claimOf(claims, emailVerifiedClaim) === true,
    hostedDomain: textOf(claims['hd'], 255)?.toLowerCase() ?? null,
    name: textOf(claims['name'], longestName),
    authTime: typeof authTime === 'number' ? authTime * 1000 : null,
    roleClaim: roles.claim === null ? undefined : claimOf(claims, roles.claim),
  };
}
