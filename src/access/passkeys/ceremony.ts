// The library of WebAuthn: options for the browser, and the check of its answer. Only this file
// imports it, at first use, because it brings 23 packages with it.
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { RegistrationResponse, SignInResponse } from './schema.ts';
import type { PasskeySite } from './site.ts';

export type { PublicKeyCredentialCreationOptionsJSON, PublicKeyCredentialRequestOptionsJSON };

/** ES256, EdDSA and RS256 (RFC 9053), the algorithms of common authenticators, the usual first. */
const algorithms = [-7, -8, -257];
const timeoutMs = 5 * 60_000;

const load = () => import('@simplewebauthn/server');

interface NewPasskey {
  personId: string;
  email: string;
  challenge: string;
  /** Ids of the person's credentials, so that no authenticator makes a second passkey. */
  known: readonly string[];
}

/** Returns the options of `create`: discoverable, with user verification, without attestation. */
export async function creationOptions(
  { rpId }: PasskeySite,
  { personId, email, challenge, known }: NewPasskey,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await load();
  return generateRegistrationOptions({
    rpName: rpId,
    rpID: rpId,
    userID: new Uint8Array(Buffer.from(personId)),
    userName: email,
    userDisplayName: email,
    challenge,
    timeout: timeoutMs,
    attestationType: 'none',
    excludeCredentials: known.map((id) => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  });
}

/** Returns the options of `get`. `allowed` has the ids of passkeys; null allows any passkey. */
export async function requestOptions(
  { rpId }: PasskeySite,
  { challenge, allowed }: { challenge: string; allowed: readonly string[] | null },
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await load();
  return generateAuthenticationOptions({
    rpID: rpId,
    challenge,
    timeout: timeoutMs,
    userVerification: 'required',
    ...(allowed && { allowCredentials: allowed.map((id) => ({ id })) }),
  });
}

/** Tells whether the challenge that the authenticator signed is the expected challenge. */
type IsRight = (challenge: string) => boolean;

/** The credential that an authenticator made. */
export interface MadeCredential {
  credentialId: string;
  publicKey: string;
  counter: number;
  isSynced: boolean;
}

/**
 * Checks the answer to `creationOptions`. Returns null for a wrong origin, host, challenge or
 * signature, and without user verification. An attestation by certificates is refused before it is
 * read: nothing asked for it, and its check would fetch lists of revoked certificates.
 */
export async function checkCreation(
  { rpId, origin }: PasskeySite,
  response: RegistrationResponse,
  isRight: IsRight,
): Promise<MadeCredential | null> {
  const { verifyRegistrationResponse } = await load();
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  try {
    const attestation = decodeAttestationObject(
      new Uint8Array(Buffer.from(response.response.attestationObject, 'base64url')),
    );
    const isSigned = attestation.get('fmt') !== 'none';
    const isBySelf = attestation.get('fmt') === 'packed' && !attestation.get('attStmt').get('x5c');
    if (isSigned && !isBySelf) return null;
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { ...response, clientExtensionResults: {} },
      expectedChallenge: isRight,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    if (!verified) return null;
    const { credential, credentialBackedUp } = registrationInfo;
    return {
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      isSynced: credentialBackedUp,
    };
  } catch {
    return null;
  }
}

/** The state of an authenticator at the time of its answer. */
export interface CheckedAnswer {
  counter: number;
  isSynced: boolean;
}

/**
 * Checks the answer to `requestOptions`. Returns null as `checkCreation` does. The counter is
 * compared later, under the lock of the passkey, and only after the signature was right.
 */
export async function checkRequest(
  { rpId, origin }: PasskeySite,
  response: SignInResponse,
  { publicKey, isRight }: { publicKey: string; isRight: IsRight },
): Promise<CheckedAnswer | null> {
  const { verifyAuthenticationResponse } = await load();
  const { userHandle, ...parts } = response.response;
  const key = new Uint8Array(Buffer.from(publicKey, 'base64url'));
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...response,
        response: { ...parts, ...(userHandle && { userHandle }) },
        clientExtensionResults: {},
      },
      expectedChallenge: isRight,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      credential: { id: response.id, publicKey: key, counter: 0 },
    });
    if (!verified) return null;
    const { newCounter, credentialBackedUp } = authenticationInfo;
    return { counter: newCounter, isSynced: credentialBackedUp };
  } catch {
    return null;
  }
}
