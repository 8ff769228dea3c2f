// The header `Idempotency-Key` (specification 4.2, 8.3): its use by each operation, and the notice
// that an answer repeats an earlier answer.
import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';
import type { Route } from './route.ts';

/** Name of the header in lower case. */
export const keyHeader = 'idempotency-key';

/** Schema of the header `Idempotency-Key`: 1 to 255 characters (specification 8.3). */
export const idempotencyHeader = z.object({
  [keyHeader]: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({ description: 'Repeating a request with the same key returns the original answer' }),
});

/**
 * Use of the header by an operation. `own`: the operation stores the key in its own transaction.
 * `body`: as `own`, and the key can also be `idempotencyKey` of the body. `claim`: the key is
 * claimed before the operation (src/service/door/claims.ts). `refused`: a POST that changes
 * nothing, where a key has no effect. `none`: a method other than POST, where repeats are harmless.
 */
export type KeyUse = 'own' | 'body' | 'claim' | 'refused' | 'none';

/** Returns how an operation uses the header. */
export function keyUseOf({
  method,
  permission,
  headers,
  body,
}: Pick<Route, 'method' | 'permission' | 'headers' | 'body'>): KeyUse {
  if (method !== 'POST') return 'none';
  // A route may lack a permission here, hence `String`: mounting such a route fails later.
  if (String(permission).endsWith(':read')) return 'refused';
  if (hasField(headers, keyHeader)) return 'own';
  return hasField(body, 'idempotencyKey') ? 'body' : 'claim';
}

/** Returns whether an operation accepts the header. */
export function takesKey(route: Parameters<typeof keyUseOf>[0]): boolean {
  return !['refused', 'none'].includes(keyUseOf(route));
}

function hasField(schema: z.ZodType | undefined, name: string): boolean {
  return schema instanceof z.ZodObject && Object.hasOwn(schema.shape, name);
}

interface Notice {
  isReplayed: boolean;
}

const notices = new AsyncLocalStorage<Notice>();

/** Runs `work`. Returns the value, and whether `work` called `noticeReplay`. */
export async function watchReplays<T>(
  work: () => Promise<T>,
): Promise<{ value: T; isReplayed: boolean }> {
  const notice = { isReplayed: false };
  const value = await notices.run(notice, work);
  return { value, isReplayed: notice.isReplayed };
}

/** Reports that the present request gets the answer of an earlier request with the same key. */
export function noticeReplay(): void {
  const notice = notices.getStore();
  if (notice) notice.isReplayed = true;
}
