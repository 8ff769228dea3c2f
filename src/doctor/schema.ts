// The shape of a finding in events.
import { z } from 'zod';

export const findingOutput = z.object({
  check: z.string(),
  status: z.enum(['warn', 'fail']),
  found: z.string(),
  remedy: z.string().nullable(),
  command: z.string().nullable(),
});
