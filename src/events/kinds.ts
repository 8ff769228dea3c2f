// Kinds of events. Each area declares those that it tells, in its `events.ts`.
import { z } from 'zod';
import type { EventType } from './names.ts';
import type { PresentedKind } from './schema.ts';

/** A kind of event on something that is no message. */
export interface EventKind<Schema extends z.ZodType = z.ZodType> {
  /** The resource, then what happened to it. */
  type: EventType;
  summary: string;
  /** Shape of `data`: the resource as it is at that moment. */
  schema: Schema;
  /** A `data` to show. */
  sample: z.input<Schema>;
}

/** Declares a kind. */
export function eventKind<Schema extends z.ZodType>(kind: EventKind<Schema>): EventKind<Schema> {
  return kind;
}

/** Some schemas with a name stand in several places: each is written out once and referred to. */
export function presentKind({ type, summary, schema, sample }: EventKind): PresentedKind {
  const { $schema, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return { type, summary, schema: json, sample: sample as Record<string, unknown> };
}
