// A counter in the store, in a table of a single row. It grows with every change of rows that
// processes cache (changes.ts). A transaction that changes such rows must call `note`.
import { type Db, tables } from '../db.ts';
import { compiledOnce } from '../rows/statement.ts';
import { hasGathered, lastly } from './last-writes.ts';

type Untyped = Record<string, { counter: number }>;

export interface ChangeCounter {
  /** Reads the counter, which grows with every change. */
  count(db: Db): Promise<number>;
  /**
   * Increments the counter at the end of the transaction, because the single row stays locked until
   * the commit.
   */
  note(trx: Db): void;
  /** Whether this transaction has called `note`. */
  isNoted(trx: Db): boolean;
}

/** Declares the counter in a table with a single row. */
export function changeCounter(name: string): ChangeCounter {
  const read = compiledOnce<Untyped, [], { counter: number }>((db) =>
    db.selectFrom(name).select('counter'),
  );
  const add = async (trx: Db): Promise<void> => {
    await tables<Untyped>(trx)
      .updateTable(name)
      .set(({ eb }) => ({ counter: eb('counter', '+', 1) }))
      .execute();
  };
  return {
    count: async (db) => (await read(db, [])).rows[0]?.counter ?? 0,
    note: (trx) => void lastly(trx, name, () => ({ write: add })),
    isNoted: (trx) => hasGathered(trx, name),
  };
}
