// Schemas of requests and responses of webhooks (specification 2.14, 4.9).

import { z } from 'zod';
import { boundedMap } from '../core/api/bounded-schema.ts';
import { noun } from '../core/api/noun.ts';
import { pageQuery } from '../core/api/pagination.ts';
import { idOf, timeRange } from '../core/api/resource-schema.ts';
import { eventFilter, eventPattern } from '../history/events/schema.ts';
import { isOwnHeader } from './endpoints/headers.ts';

export const webhookNoun = noun('webhook', 'wep');

const longestUrl = 2_048;
const mostPatterns = 100;
const mostHeaders = 20;
const longestHeaderName = 100;
const longestHeaderValue = 1_000;
const largestTestData = 64 * 1024;
const mostTestKeys = 1_000;

const channels = ['email'] as const;
const statuses = ['active', 'disabled'] as const;
/** `suspended`: the installation of the endpoint is disabled. */
const shownStatuses = [...statuses, 'suspended'] as const;
const deliveryStatuses = ['pending', 'delivered', 'exhausted', 'cancelled'] as const;

const unique = <Item>(items: readonly Item[]): Item[] => [...new Set(items)];

const name = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}]+$/u, 'must be one line of text')
  .meta({ description: 'Name of the webhook' });

const url = z
  .string()
  .max(longestUrl)
  .meta({ description: 'URL that receives the events: http:// or https://', format: 'uri' });

const patterns = z
  .array(eventPattern)
  .min(1)
  .max(mostPatterns)
  .transform(unique)
  .meta({
    description: 'Kinds of events, such as `message.delivered`, `message.*` or `*`',
    examples: [['message.*', 'domain.failed']],
  });

const channelList = z
  .array(z.enum(channels, { error: `is not one of ${channels.join(', ')}` }))
  .min(1)
  .max(10)
  .transform(unique);

const headers = z
  .record(z.string(), z.string().max(longestHeaderValue))
  .superRefine((given, context) => {
    const report = (path: string[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    const names = Object.keys(given);
    if (names.length > mostHeaders) report([], `must be at most ${mostHeaders} headers`);
    const seen = new Set<string>();
    for (const [header, value] of Object.entries(given)) {
      const folded = header.toLowerCase();
      if (header.length > longestHeaderName || !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(folded)) {
        report([header], 'is not the name of a header');
      } else if (!isOwnHeader(folded)) report([header], 'is set by the service itself');
      else if (seen.has(folded)) report([header], 'is given twice');
      // RFC 9110 5.5, limited to ASCII.
      if (!/^[\t\x20-\x7e]*$/.test(value)) {
        report([header], 'must be printable ASCII on one line');
      }
      seen.add(folded);
    }
  })
  .meta({
    description: `At most ${mostHeaders} of your own, sent with each post; none that the service sets`,
    examples: [{ 'X-Team': 'billing' }],
  });

export const listWebhooksQuery = z.strictObject({
  ...pageQuery,
  ...timeRange('endpoints created'),
});

export const createWebhookInput = z
  .strictObject({
    name: name.nullish(),
    url,
    events: patterns,
    channels: channelList.optional().describe('Channels of the events (default: all)'),
    headers: headers.nullish(),
  })
  .meta({
    examples: [{ url: 'https://hooks.example.com/svc', events: ['message.*', 'domain.failed'] }],
  });

export const updateWebhookInput = z
  .strictObject({
    name: name.nullable().optional(),
    url: url.optional(),
    events: patterns.optional(),
    channels: channelList.optional().describe('Channels of the events'),
    headers: headers.nullable().optional(),
    status: z.enum(statuses).optional().meta({
      description: 'A disabled webhook gets no events, and its waiting deliveries are cancelled',
    }),
  })
  .meta({ examples: [{ events: ['message.*'], status: 'active' }] });

export const webhookOutput = z
  .object({
    id: z.string().describe('Id of the webhook'),
    name: z.string().nullable().describe('Name of the webhook; null without one'),
    url: z
      .string()
      .meta({ description: 'For readers without `webhooks:write` its origin, followed by `/…`' }),
    events: z.array(z.string()).describe('Kinds of events that are posted, such as `message.*`'),
    channels: z.array(z.enum(channels)).describe('Channels of the events'),
    headers: z
      .record(z.string(), z.string())
      .meta({ description: 'Values are `***` for keys that may only read webhooks' }),
    status: z
      .enum(shownStatuses)
      .describe('disabled: by a person or after failures; suspended: with its installation'),
    disabledReason: z.string().nullable().describe('Reason why it was disabled; null without one'),
    installationId: z
      .string()
      .nullable()
      .meta({ description: 'The installation of an extension that it belongs to' }),
    secret: z.string().nullable().meta({
      description: 'Key of the signatures: shown on creation and rotation, else null',
    }),
    createdAt: z.string().describe('Time of creation'),
    updatedAt: z.string().describe('Time of the last change'),
  })
  .meta({ id: 'Webhook', description: 'An endpoint that receives events' });

export const deliveryParams = z.strictObject({
  id: idOf(webhookNoun, 'is not a webhook id').describe('Id of the webhook'),
  deliveryId: idOf('webhookDelivery', 'is not the id of a webhook delivery').describe(
    'Id of the delivery',
  ),
});

export const listDeliveriesQuery = z.strictObject({
  ...pageQuery,
  status: z.enum(deliveryStatuses).optional().describe('Only deliveries with this status'),
  eventType: eventFilter
    .optional()
    .meta({ description: 'Only deliveries of these kinds, such as `message.*,domain.failed`' }),
  ...timeRange('deliveries created'),
});

const delivery = {
  id: z.string().describe('Id of the delivery'),
  endpointId: z.string().describe('Webhook of the delivery'),
  eventId: z.string().meta({ description: 'The `webhook-id` of its posts' }),
  eventType: z.string().describe('Kind of the event'),
  status: z
    .enum(deliveryStatuses)
    .describe('pending: waits or is tried again; exhausted: given up; cancelled: no longer wanted'),
  attemptCount: z.number().meta({ description: 'Automatic attempts' }),
  nextAttemptAt: z
    .string()
    .nullable()
    .describe('Time of the next attempt; null if none is planned'),
  lastAttemptAt: z
    .string()
    .nullable()
    .describe('Time of the latest attempt; null before the first'),
  lastError: z
    .string()
    .nullable()
    .meta({ description: 'Error of the latest attempt, by hand too; null if it succeeded' }),
  createdAt: z.string().describe('Time of creation'),
  updatedAt: z.string().describe('Time of the last change'),
};

export const deliveryOutput = z
  .object(delivery)
  .meta({ id: 'WebhookDelivery', description: 'A delivery of one event to one endpoint' });

export const deliveryWithAttemptsOutput = z
  .object({
    ...delivery,
    payload: z.string().meta({
      description:
        'JSON as it is posted; in `data` only ids for callers who may not read the resource',
    }),
    attempts: z
      .array(
        z.object({
          id: z.string().describe('Id of the attempt'),
          trigger: z
            .enum(['automatic', 'manual'])
            .describe('automatic: by the schedule; manual: by a redelivery'),
          at: z.string().describe('Time of the attempt'),
          durationMs: z.number().describe('Duration in milliseconds'),
          outcome: z
            .enum(['succeeded', 'failed'])
            .describe('succeeded: the endpoint answered with a status of 200 to 299'),
          statusCode: z.number().nullable().describe('HTTP status of the answer; null without one'),
          errorClass: z.string().nullable().describe('Kind of the error; null without one'),
          response: z.string().nullable().describe('Beginning of the answer; null without one'),
        }),
      )
      .meta({ description: 'Oldest first' }),
  })
  .meta({ id: 'WebhookDeliveryWithAttempts', description: 'A delivery with all its attempts' });

export const testDataOutput = z.record(z.string(), z.unknown());

export const testWebhookInput = z
  .strictObject({
    data: boundedMap(testDataOutput, mostTestKeys)
      .refine(
        (data) => JSON.stringify(data).length <= largestTestData,
        `must be at most ${largestTestData / 1024} KB of JSON`,
      )
      .nullish()
      .meta({ description: 'The `data` of the event; default: an empty object' }),
  })
  .meta({ examples: [{ data: { hello: 'world' } }] });

export const testWebhookOutput = z
  .object({
    accepted: z.boolean().describe('True: the event is queued'),
    eventId: z.string().describe('Id of the test event'),
    deliveryId: z.string().describe('Id of the delivery'),
  })
  .meta({ id: 'WebhookTest', description: 'A test event that waits to be posted' });

export const redeliveryOutput = z
  .object({
    accepted: z.boolean().describe('True: the attempt was made'),
    deliveryId: z.string().describe('Id of the delivery'),
    attemptId: z.string().describe('Id of the attempt'),
    outcome: z.enum(['succeeded', 'failed']).describe('Result of the attempt'),
  })
  .meta({ id: 'WebhookRedelivery', description: 'Outcome of an attempt by hand' });

export const replayInput = z
  .strictObject({
    status: z
      .enum(deliveryStatuses)
      .optional()
      .meta({ description: 'Only events whose delivery to this endpoint has this status' }),
    ...timeRange('events'),
    events: patterns
      .optional()
      .meta({ description: 'Only these kinds; default: those of the endpoint' }),
  })
  .meta({ examples: [{ status: 'exhausted', events: ['message.*'] }] });

export const replayOutput = z
  .object({
    accepted: z.boolean().describe('True: the events are queued'),
    deliveries: z.number().meta({ description: 'Number of new deliveries; 10,000 may be pending' }),
    isComplete: z
      .boolean()
      .meta({ description: 'False if more events remain: the oldest are posted first' }),
  })
  .meta({ id: 'WebhookReplay', description: 'Logged events that wait to be posted again' });

export const statsQuery = z.strictObject({
  period: z
    .union([z.number(), z.string()])
    .transform(Number)
    .pipe(z.union([z.literal(7), z.literal(30), z.literal(90)], 'must be 7, 30 or 90'))
    .default(30)
    .meta({ description: 'Days, today included: 7, 30 (default) or 90', enum: [7, 30, 90] }),
});

const counts = {
  pending: z.number().describe('Deliveries that wait or are tried again'),
  delivered: z.number().describe('Deliveries that the endpoint accepted'),
  exhausted: z.number().describe('Deliveries that were given up'),
  cancelled: z.number().describe('Deliveries that are no longer wanted'),
};

export const webhookStatsOutput = z
  .object({
    total: z.number().describe('Number of deliveries'),
    ...counts,
    daily: z
      .array(z.object({ date: z.string().describe('Calendar day, such as 2026-01-05'), ...counts }))
      .meta({
        description: "Calendar days of the organization's time zone, oldest first",
      }),
  })
  .meta({
    id: 'WebhookStats',
    description: 'Deliveries by the day of their creation, and their status now',
  });

export type CreateWebhook = z.output<typeof createWebhookInput>;
export type UpdateWebhook = z.output<typeof updateWebhookInput>;
export type Webhook = z.output<typeof webhookOutput>;
export type ListDeliveries = z.output<typeof listDeliveriesQuery>;
export type WebhookDelivery = z.output<typeof deliveryOutput>;
export type WebhookDeliveryWithAttempts = z.output<typeof deliveryWithAttemptsOutput>;
export type TestWebhook = z.output<typeof testWebhookInput>;
export type WebhookTest = z.output<typeof testWebhookOutput>;

export type ReplayWebhook = z.output<typeof replayInput>;
export type WebhookReplay = z.output<typeof replayOutput>;
export type WebhookStats = z.output<typeof webhookStatsOutput>;
