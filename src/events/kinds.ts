// Kinds of events (contract 7). Each area declares those that it tells, in its `events.ts`.
import type { z } from 'zod';

/** A kind of event on something that is no message. */
export interface EventKind<Schema extends z.ZodType = z.ZodType> {
  /** `domain.verified`: the resource, then what happened to it. */
  type: `${string}.${string}`;
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
