// Shapes of a browser's answers to a question for a passkey (WebAuthn Level 3, 5.1, JSON forms).
// Anybody can send them, so each part is bounded; the library checks the contents.
import { z } from 'zod';

const base64url = (longest: number) =>
  z
    .string()
    .regex(/^[\w-]*$/)
    .max(longest);

/** A credential id has at most 1,023 bytes. */
const credentialId = base64url(1_364).min(1);
const clientDataJSON = base64url(8_192);

const credential = { id: credentialId, rawId: credentialId, type: z.literal('public-key') };

export const registrationResponse = z.object({
  ...credential,
  response: z.object({ clientDataJSON, attestationObject: base64url(32_768) }),
});

export const signInResponse = z.object({
  ...credential,
  response: z.object({
    clientDataJSON,
    authenticatorData: base64url(8_192),
    signature: base64url(8_192),
    userHandle: base64url(128).nullish(),
  }),
});

export type RegistrationResponse = z.output<typeof registrationResponse>;
export type SignInResponse = z.output<typeof signInResponse>;

const longestName = 60;

/** Name of a passkey, as the person reads it in the list. */
export const passkeyName = z.string().transform((text) =>
  text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, longestName),
);
