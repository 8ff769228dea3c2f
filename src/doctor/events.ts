// The kind of events on the service itself, for the organization of the operator.
import { eventKind } from '../history/events/kinds.ts';
import { findingOutput } from './schema.ts';

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
