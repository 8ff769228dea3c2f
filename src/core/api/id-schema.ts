// Ids within the value of a request, found by the schema of the request.
import { z } from 'zod';
import type { IdKind } from '../../platform/runtime/ids.ts';
import { idKinds } from './resource-schema.ts';

type Schema = z.core.$ZodType | undefined;

type Replace = (kinds: readonly IdKind[], id: string) => Promise<string>;

/** Returns `value` with the result of `replace` for each text whose schema is an id. */
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
