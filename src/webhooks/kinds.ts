// The kinds of events on webhooks themselves (contract 7, `webhook.*`).
import { z } from 'zod';
import { eventKind } from '../events/kinds.ts';

/** An endpoint as an event tells it: never its secret, nor the values of its headers. */
const toldEndpoint = z
  .looseObject({
    id: z.string(),
    name: z.string().nullable(),
    url: z.string(),
    events: z.array(z.string()),
    channels: z.array(z.string()),
    status: z.enum(['active', 'disabled']),
    disabledReason: z.string().nullable(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'ToldWebhook', description: 'A webhook endpoint, without its secret' });

export const webhookDisabled = eventKind({
  type: 'webhook.disabled',
  summary: 'Nothing is delivered to it until it is enabled again; the others are told',
  schema: toldEndpoint,
  sample: {
    id: 'wep_06dq2k0qz8h3v5m1r9t4w7xy',
    name: 'billing',
    url: 'https://example.com/hooks',
    events: ['message.*'],
    channels: ['email'],
    status: 'disabled' as const,
    disabledReason: 'It failed for 5 days without a success',
    createdAt: '2026-01-05T12:00:00.000Z',
    updatedAt: '2026-02-01T08:30:00.000Z',
  },
});

export const webhookTest = eventKind({
  type: 'webhook.test',
  summary: 'A test of one endpoint, with the data that was given',
  schema: z.record(z.string(), z.unknown()).nullable(),
  sample: { hello: 'world' },
});
