// The shape of src/outbound/tracking/scanners.yaml.
import { z } from 'zod';

function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'i');
    return true;
  } catch {
    return false;
  }
}

const scanner = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9-]{1,40}$/, 'may have only lower-case letters, digits and dashes'),
    automated: z.boolean(),
    kinds: z.array(z.enum(['open', 'click'])).optional(),
    userAgent: z.string().min(1).refine(isPattern, 'is not a regular expression').optional(),
    networks: z.array(z.string()).min(1).optional(),
  })
  .refine(({ userAgent, networks }) => userAgent !== undefined || networks !== undefined, {
    message: 'needs a userAgent or networks',
  });

export type Scanner = z.output<typeof scanner>;

/** Returns the entries of the file, or the problem with them. */
export function parseScanners(content: unknown): Scanner[] | { problem: string } {
  const result = z.array(scanner).safeParse(content);
  return result.success ? result.data : { problem: z.prettifyError(result.error) };
}
