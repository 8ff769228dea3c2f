// Schema of a provider file (src/mail/smtp/providers.yaml) and the parser of the file.
import { z } from 'zod';

const provider = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'may have only lower-case letters, digits and dashes'),
  mx: z.array(z.string().regex(/^[a-z0-9.-]+$/, 'is not the end of a host name')),
  connections: z.int().min(1).max(1_000),
  messagesPerConnection: z.int().min(1).max(10_000),
  perMinute: z.number().positive().nullable(),
  requireTls: z.boolean(),
});

/** Rules for a mailbox provider: ends of MX host names, limits, and the TLS requirement. */
export type Provider = z.output<typeof provider>;

/** Returns the entries of a provider file, or a problem of the file. */
export function parseProviders(content: unknown): Provider[] | { problem: string } {
  const result = z.array(provider).safeParse(content);
  return result.success ? result.data : { problem: z.prettifyError(result.error) };
}
