// The shape of a finding in events.
import { z } from 'zod';

export const findingOutput = z.object({
  check: z.string().describe('Name of the check'),
  status: z.enum(['warn', 'fail']).describe('warn: works, but not well; fail: does not work'),
  found: z.string().describe('Sentence on the finding'),
  remedy: z.string().nullable().describe('Next step; null without one'),
  command: z.string().nullable().describe('Command that helps; null without one'),
});
