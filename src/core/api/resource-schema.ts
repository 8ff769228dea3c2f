// Schemas that resources share: the id in a path, flags in a query, the answer to a deletion. Also
// finds the ids in a request by the schema of the request.
import { z } from 'zod';
import { type IdKind, idPattern } from '../../platform/runtime/ids.ts';

/**
 * Kinds of ids that a schema accepts. The command line uses them to complete an id of which only
 * the ending is typed.
 */
export const idKinds = z.registry<{ kinds: readonly IdKind[] }>();

/** Schema of an id of this kind; `problem` is the error text for anything else. */
export function idOf(kind: IdKind, problem: string) {
  return z
    .string()
    .regex(idPattern(kind), problem)
    .register(idKinds, { kinds: [kind] });
}

/**
 * Parameters of a path with `{id}`. The error for an id of a different kind names the kind in
 * `what`: `a block`.
 */
export function idPath(kind: IdKind, what: string) {
  return z.strictObject({ id: idOf(kind, `is not ${what} id`).describe(`Id of ${what}`) });
}

type Schema = z.core.$ZodType | undefined;

type Replace = (kinds: readonly IdKind[], id: string) => Promise<string>;

/** Returns `value` with the result of `replace` for each text with the schema of an id. */
export async function mapIds(schema: Schema, value: unknown, replace: Replace): Promise<unknown> {
  const within = (inner: Schema, part: unknown) => mapIds(inner, part, replace);
  if (schema === undefined || value === undefined || value === null) return value;
  const known = idKinds.get(schema as z.ZodType);
  if (known) return typeof value === 'string' ? replace(known.kinds, value) : value;
  if (schema instanceof z.ZodObject) {
    if (typeof value !== 'object' || Array.isArray(value)) return value;
    const entries = Object.entries(value).map(async ([name, part]) => [
      name,
      await within(Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined, part),
    ]);
    return Object.fromEntries(await Promise.all(entries));
  }
  if (schema instanceof z.ZodArray) {
    if (!Array.isArray(value)) return value;
    return Promise.all(value.map((entry) => within(schema.element, entry)));
  }
  if (schema instanceof z.ZodPipe) return within(schema.in, value);
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  ) {
    return within(schema.def.innerType, value);
  }
  return value;
}

const withoutSeconds = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(Z|[+-]\d\d:\d\d)$/;

/** Returns the schema of an instant with an offset. Absent seconds (ISO 8601) become 0. */
export function instantAs(error: string) {
  return z
    .string(error)
    .overwrite((text) => text.replace(withoutSeconds, '$1:00$2'))
    .check(z.iso.datetime({ offset: true, error }));
}

/** Schema of an instant with an offset: `2026-01-05T12:00:00Z`. */
export const instant = instantAs('must be an ISO 8601 instant');

/** Schema of a bound: an instant, or a date, which means 00:00 of the day in UTC. */
const time = z.union([instant, z.iso.date()], 'must be an ISO 8601 date or time');

/** Returns the schemas of `after` and `since`, the only bounds of a stream of `things`. */
export function timeStart(things: string) {
  return {
    after: time.optional().meta({ description: `Only ${things} from this time on` }),
    since: time.optional().meta({ description: 'The same as `after`' }),
  };
}

/** Returns the schemas of the four bounds of a list of `things`. */
export function timeRange(things: string) {
  return {
    ...timeStart(things),
    before: time.optional().meta({ description: `Only ${things} before this time` }),
    until: time.optional().meta({ description: 'The same as `before`' }),
  };
}

/** Schema of a boolean in a query string. */
export const queryFlag = z
  .union([z.boolean(), z.enum(['true', 'false'], 'must be true or false')])
  .transform((value) => value === true || value === 'true');

/** Schema of the response to a deletion. */
export const deleted = z.object({
  success: z.boolean().describe('True: the deletion is done'),
  message: z.string().describe('Sentence for people about the deletion'),
});

export type Deleted = z.output<typeof deleted>;
