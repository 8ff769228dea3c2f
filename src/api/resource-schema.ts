// Schemas that resources share: the id in their path, flags in a query, the answer to a deletion.
import { z } from 'zod';
import { type IdKind, idPattern } from '../runtime/ids.ts';

/** The parameters of a path with `{id}`; `what` is said where the id is of no such kind. */
export function idPath(kind: IdKind, what = `a ${kind}`) {
  return z.strictObject({ id: z.string().regex(idPattern(kind), `is not ${what} id`) });
}

/** A boolean as it arrives in a query string. */
export const queryFlag = z
  .union([z.boolean(), z.enum(['true', 'false'], 'must be true or false')])
  .transform((value) => value === true || value === 'true');

/** What is answered where something was taken away. */
export const deleted = z.object({ success: z.boolean(), message: z.string() });

export type Deleted = z.output<typeof deleted>;
