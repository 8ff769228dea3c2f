// Shapes of the answers of a certificate authority (RFC 8555 7.1). The answers are untrusted.
import { z } from 'zod';

const address = z.string().max(2_000);

export const directory = z.object({
  newAccount: address,
  newOrder: address,
  meta: z.object({ caaIdentities: z.array(z.string().max(253)).max(20).optional() }).optional(),
});

export const order = z.object({
  url: address,
  status: z.enum(['pending', 'ready', 'processing', 'valid', 'invalid']),
  authorizations: z.array(address).min(1).max(10),
  finalize: address,
  certificate: address.optional(),
  error: z.object({ detail: z.string().optional() }).optional(),
});

const problem = z.object({ type: z.string().optional(), detail: z.string().optional() });

export const authorization = z.object({
  status: z.string(),
  identifier: z.object({ value: z.string() }),
  challenges: z
    .array(
      z.object({
        type: z.string(),
        url: address,
        status: z.string(),
        /**
         * Base64url. RFC 8555 8.1 demands 128 bits (22 characters); shorter tokens are accepted
         * too.
         */
        token: z
          .string()
          .regex(/^[A-Za-z0-9_-]{16,256}$/)
          .optional(),
        error: problem.optional(),
      }),
    )
    .max(20),
});

export type AcmeOrder = z.output<typeof order>;
export type AcmeAuthorization = z.output<typeof authorization>;
