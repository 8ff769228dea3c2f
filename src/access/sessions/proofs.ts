// Proofs of the person at a browser, and the proofs that an organization accepts.
//
//   organization                  | opens                       | fresh proof
//   ------------------------------+-----------------------------+------------------------------
//   `signIn: any`                 | every session               | key, operator, link, passkey,
//                                 |                             | provider
//   `signIn: strong`              | passkey, provider, operator | the same
//   `oidc.join.organization`,     | provider, operator          | the same
//   with `oidc.only`              |                             |
import type { App } from '../../core/app.ts';

/** A pasted key, a link of `svc open`, a mailed link, a passkey, or single sign-on. */
export type Proof = 'key' | 'operator' | 'link' | 'passkey' | 'provider';

/** Times of the last proof of each kind in a session, ms since 1970. */
export type Proofs = Readonly<Partial<Record<Proof, number>>>;

/** Time for which a proof is fresh. */
export const freshMs = 15 * 60_000;

/** Proofs that an organization asks of a session. */
export type Strength = 'any' | 'strong' | 'provider';

const accepted: Readonly<Record<Strength, readonly Proof[]>> = {
  any: ['key', 'operator', 'link', 'passkey', 'provider'],
  strong: ['operator', 'passkey', 'provider'],
  provider: ['operator', 'provider'],
};

/** Returns the proofs that an organization asks for. */
export function strengthOf(
  { config }: Pick<App, 'config'>,
  { id, signIn }: { id: string; signIn: 'any' | 'strong' },
): Strength {
  const { only, join } = config.console.signIn.oidc;
  return only && join.organization === id ? 'provider' : signIn;
}

/** Tells whether a session with these proofs opens an organization that asks for `strength`. */
export function isStrongEnough(proofs: Proofs, strength: Strength): boolean {
  return accepted[strength].some((proof) => proofs[proof] !== undefined);
}

/** Tells whether an organization that asks for `strength` accepts this proof. */
export function isAccepted(proof: Proof, strength: Strength): boolean {
  return accepted[strength].includes(proof);
}

/**
 * Returns the time of the last proof that suffices for `strength`, ms since 1970; 0 without a
 * proof.
 */
export function lastProofAt(proofs: Proofs, strength: Strength): number {
  return Math.max(0, ...accepted[strength].map((proof) => proofs[proof] ?? 0));
}
