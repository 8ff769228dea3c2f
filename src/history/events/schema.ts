// Input and output shapes of the event log and of event kinds.
import { z } from 'zod';
import { cursorQuery } from '../../core/api/pagination.ts';
import { timeRange, timeStart } from '../../core/api/resource-schema.ts';
import { anyIdPattern } from '../../platform/runtime/ids.ts';
import { type EventType, eventTypes } from './names.ts';
import { isKnownPattern, typesOf } from './patterns.ts';

export const eventType = z.enum(eventTypes, {
  error: 'is not a kind of event: GET /v1/events/kinds, or svc webhooks events, lists them',
});

const noPattern = 'is not a kind of event: use `*`, a kind, or a pattern such as `message.*`';

/** A pattern of event kinds. */
export const eventPattern = z.string().refine(isKnownPattern, noPattern);

const longestFilter = 4_000;

/** Patterns in a query, separated by commas. Parsed into kinds, or undefined for all kinds. */
export const eventFilter = z
  .string()
  .max(longestFilter)
  .refine(
    (text) => text.split(',').every(isKnownPattern),
    `${noPattern}, separated by commas (GET /v1/events/kinds, or svc webhooks events, lists the kinds)`,
  )
  .transform((text): EventType[] | undefined => {
    const types = typesOf(text.split(','));
    return types.length === eventTypes.length ? undefined : types;
  });

/** Filters of both the list and the stream. */
const logFilter = {
  type: eventFilter
    .optional()
    .meta({ description: 'Only events of these kinds, such as `message.*,domain.failed`' }),
  subject: z
    .string()
    .regex(anyIdPattern, 'is not an id')
    .optional()
    .meta({ description: 'Only events of the message, or other resource, with this id' }),
  ...timeStart('events'),
};

export const listLogQuery = z.strictObject({
  ...logFilter,
  ...timeRange('events'),
  order: z.enum(['asc', 'desc']).default('desc').meta({
    description: 'Order of the list: `asc` is oldest first',
  }),
  ...cursorQuery,
});

export const streamQuery = z.strictObject(logFilter);

export const mailboxStreamQuery = streamQuery.omit({ subject: true });

const eventId = z.string().regex(/^evt_[0-9a-hjkmnp-tv-z]{16,24}$/, 'is not an event id');

/** Query of `svc` commands, which cannot send the header Last-Event-ID. */
export const tailQuery = z.strictObject({ ...logFilter, lastEventId: eventId.optional() });

export const streamHeaders = z.object({
  'last-event-id': eventId
    .optional()
    .describe('Id of the last event that arrived: the stream continues after it'),
});

const data = z.record(z.string(), z.unknown());

/** `data` of events on a resource that is deleted. */
export const deletedOutput = z.object({
  id: z.string().describe('Id of the deleted resource'),
  deleted: z.literal(true).describe('Always true'),
});

export const logItem = z
  .object({
    id: z.string().meta({ description: 'The `webhook-id` of its deliveries' }),
    type: z.string().describe('Kind of the event'),
    timestamp: z.string().describe('Time of the event'),
    organizationId: z.string().describe('Organization in which the event happened'),
    data: data.meta({ description: 'Data of the kind: GET /v1/events/kinds' }),
  })
  .meta({ id: 'Event', description: 'An event' });

export const logPage = z.object({
  items: z.array(logItem).describe('Events of this page'),
  nextCursor: z.string().nullable().meta({
    description: 'Null on the last page; a page before may be short, or empty',
  }),
});

export const kindOutput = z
  .object({
    type: z.string().describe('Name of the kind'),
    summary: z.string().describe('Meaning of the kind'),
    schema: data.meta({ description: 'JSON Schema (draft 2020-12) of `data`' }),
    sample: data.meta({ description: 'An example of `data`' }),
  })
  .meta({ id: 'EventKind', description: 'A kind of event with the schema of its data' });

export const kindList = z.object({ items: z.array(kindOutput).describe('All kinds of events') });

export type ListLog = z.output<typeof listLogQuery>;
export type StreamLog = z.output<typeof streamQuery>;
export type TailLog = z.output<typeof tailQuery>;
export type StreamHeaders = z.output<typeof streamHeaders>;
export type LogItem = z.output<typeof logItem>;
export type PresentedKind = z.output<typeof kindOutput>;
export type DeletedResource = z.output<typeof deletedOutput>;
