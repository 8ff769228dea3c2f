// The kinds of events on the warming of a domain.
import { eventKind } from '../../history/events/kinds.ts';
import { warmingRecordOutput } from './schema.ts';

const sample = {
  id: 'warm_06dq2k0qz8h3v5m1r9t4w7xy',
  status: 'held' as const,
  identity: 'new' as const,
  initialDailyRecipients: 500,
  dailyGrowthPercent: 30,
  targetDailyRecipients: 50_000,
  direct: 'count' as const,
  holdReason: '4% of the last 500 messages bounced (limit 3%).',
  heldAt: '2026-01-06T12:00:00.000Z',
  pausedAt: null,
  completedAt: null,
  createdAt: '2026-01-05T12:00:00.000Z',
  updatedAt: '2026-01-06T12:00:00.000Z',
  domain: { id: 'dom_06dq2k0qz8h3v5m1r9t4w7xy', domain: 'example.com' },
};

export const warmingHeld = eventKind({
  type: 'warming.held',
  summary: 'A plan waits until a person resumes it: its mail bounced or was reported',
  schema: warmingRecordOutput,
  sample,
});

export const warmingCompleted = eventKind({
  type: 'warming.completed',
  summary: 'The domain may send the planned volume',
  schema: warmingRecordOutput,
  sample: {
    ...sample,
    status: 'completed' as const,
    holdReason: null,
    heldAt: null,
    completedAt: '2026-01-24T12:00:00.000Z',
    updatedAt: '2026-01-24T12:00:00.000Z',
  },
});
