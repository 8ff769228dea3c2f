// The kind of events on the service itself, for the organization of the operator.

import { z } from 'zod';
import { eventKind } from '../history/events/kinds.ts';

// The shape of a finding in events.

const findingOutput = z.object({
  check: z.string(),
  status: z.enum(['warn', 'fail']),
  found: z.string(),
  remedy: z.string().nullable(),
  command: z.string().nullable(),
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
