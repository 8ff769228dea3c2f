// Placeholders for the arguments of a statement that is compiled once (statement.ts).

/** Reads the value of a parameter from the arguments of a call. */
export type Reader = (args: readonly unknown[]) => unknown;

const reader = Symbol('reader');

/** Returns the reader of a placeholder; undefined for an ordinary value. */
export function readerOf(value: unknown): Reader | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as { [reader]?: Reader })[reader];
}

/**
 * Returns a placeholder whose value `read` returns. The properties are placeholders for fields of
 * the value.
 */
export function placeholder(read: Reader): object {
  return new Proxy(
    { [reader]: read },
    {
      get(target, key) {
        if (key === reader) return target[reader];
        // Kysely looks for this method on each value.
        if (key === 'toOperationNode') return undefined;
        if (typeof key === 'symbol' || key === 'toJSON') {
          throw new TypeError(
            'A statement cannot compute with its arguments: they have no values yet',
          );
        }
        return placeholder((args) => (read(args) as Record<string, unknown>)[key]);
      },
    },
  );
}
