// Kinds of events. Each area declares kinds in an `events.ts`.
import { z } from 'zod';
import type { EventType } from './names.ts';
import type { PresentedKind } from './schema.ts';

/** Kind of event on a resource that is not a message. */
export interface EventKind<Schema extends z.ZodType = z.ZodType> {
  /** Name: the resource, then the change. */
  type: EventType;
  summary: string;
  /** Schema of `data`: the resource at the moment of the event. */
  schema: Schema;
  /** Example of `data` for the reference. */
  sample: z.input<Schema>;
}

/** Declares a kind of event. Returns `kind` unchanged, with the type of the schema. */
export function eventKind<Schema extends z.ZodType>(kind: EventKind<Schema>): EventKind<Schema> {
  return kind;
}

/**
 * Presents a kind for the reference. A named schema that occurs in several places is written out
 * once and referred to.
 */
export function presentKind({ type, summary, schema, sample }: EventKind): PresentedKind {
  const { $schema, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return { type, summary, schema: json, sample: sample as Record<string, unknown> };
}
