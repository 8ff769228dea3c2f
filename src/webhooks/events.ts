// The kinds of events on a webhook itself.
import { eventKind } from '../history/events/kinds.ts';
import { testDataOutput, webhookOutput } from './schema.ts';

export const webhookDisabled = eventKind({
  type: 'webhook.disabled',
  summary: 'An endpoint was disabled: it gets no posts until it is enabled again',
  schema: webhookOutput,
  sample: {
    id: 'wep_06dq2k0qz8h3v5m1r9t4w7xy',
    name: 'billing',
    url: 'https://hooks.example.com/svc',
    events: ['message.*'],
    channels: ['email' as const],
    headers: { 'X-Team': '***' },
    status: 'disabled' as const,
    installationId: null,
    disabledReason: 'It answered 410: it is gone',
    secret: null,
    createdAt: '2026-01-05T12:00:00.000Z',
    updatedAt: '2026-02-01T08:30:00.000Z',
  },
});

export const webhookTest = eventKind({
  type: 'webhook.test',
  summary: 'A test of an endpoint: `data` is the given object',
  schema: testDataOutput,
  sample: { hello: 'world' },
});
