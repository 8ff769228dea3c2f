// The kind of events on the service itself, for the organization of the operator.

import { z } from 'zod';
import { eventKind } from '../history/events/kinds.ts';

// The shape of a finding in events.

const findingOutput = z.object({
  check: z.string().describe('Name of the check'),
  status: z.enum(['warn', 'fail']).describe('warn: works, but not well; fail: does not work'),
  found: z.string().describe('Sentence on the finding'),
  remedy: z.string().nullable().describe('Next step; null without one'),
  command: z.string().nullable().describe('Command that helps; null without one'),
});

export const serviceFinding = eventKind({
  type: 'service.finding',
  summary: 'A daily check of the service has turned to warn or fail: svc doctor',
  schema: findingOutput,
  sample: {
    check: 'disk',
    status: 'warn' as const,
    found: '1.4 GB of 40.0 GB are free at /var/lib/svc',
    remedy: 'Free some space, or let old messages be deleted: retention.messagesDays.',
    command: 'svc config show',
  },
});
