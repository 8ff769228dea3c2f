// Declarations of a room on the room's own tables, typed by their rows: `const own =
// ownTables<DeliveryTables>()`. A statement with an unknown or forgotten column, a wrong type or a
// column of another table does not compile.
import { type ChangeCounter, changeCounter } from './changes/change-counter.ts';
import { type ToPresent, toPresent } from './changes/to-present.ts';
import { addingTo, Counter } from './counter.ts';
import { type Db, engineOf, isOneOf, type Untyped } from './db.ts';
import { bulkInsert, columnsOf, type RowClass } from './rows/bulk-insert.ts';
import { type IdsEnding, idsEndingIn } from './rows/ids-ending.ts';
import { type OwnedRow, rowsOf } from './rows/rows.ts';
import { type Build, compiledOnce } from './rows/statement.ts';

/** A statement as callers see it. */
type Statement<Args extends readonly unknown[], Result> = (
  db: Db,
  ...args: Args
) => Promise<Result>;

type Column<Row> = keyof Row & string;

/** The name of a table if its rows have these columns, else never. */
type Having<Columns, Tables, Name extends keyof Tables> = Tables[Name] extends Columns
  ? Name
  : never;

/** Columns of a row that cannot be null: an insert must give them. */
type Filled<Row> = { [Name in keyof Row as null extends Row[Name] ? never : Name]: Row[Name] };

/** The columns of a row, each with the type that the table gives it. */
type Known<Row, Stored> = { [Name in keyof Row]: Name extends keyof Stored ? Stored[Name] : never };

/** Insert of rows with the columns of the class alone. */
type BulkInsert<Row> = <Given extends Row>(
  db: Db,
  rows: readonly (Given & Record<Exclude<keyof Given, keyof Row>, never>)[],
) => Promise<void>;

/** The list, if each column of the row is in it or in `Others`; else never. */
type Complete<Row, Others, Listed> = [Exclude<keyof Row, Others | Listed>] extends [never]
  ? readonly Listed[]
  : never;

interface CounterOptions<Row, Latest> {
  latest?: readonly Latest[];
  after?: (trx: Db, row: Row) => Promise<void>;
}

/** Returns an answer unchanged. */
const asIs = (answer: unknown) => answer as never;

class OwnTables<Tables> {
  /** Declares a statement that returns the rows, or the result of `as` for them. */
  all<Args extends unknown[], Row, Result = Row[]>(
    build: Build<Tables, Args, Row>,
    as: (rows: Row[]) => Result = asIs,
  ): Statement<Args, Result> {
    const run = compiledOnce(build);
    return async (db, ...args) => as((await run(db, args)).rows);
  }

  /** Declares a statement that returns the first row, or the result of `as` for it. */
  first<Args extends unknown[], Row, Result = Row | undefined>(
    build: Build<Tables, Args, Row>,
    as: (row: Row | undefined) => Result = asIs,
  ): Statement<Args, Result> {
    const run = compiledOnce(build);
    return async (db, ...args) => as((await run(db, args)).rows[0]);
  }

  /**
   * Declares a statement that returns the number of changed rows, which costs less than
   * `returning`.
   */
  change<Args extends unknown[], Result = number>(
    build: Build<Tables, Args, unknown>,
    as: (count: number) => Result = asIs,
  ): Statement<Args, Result> {
    const run = compiledOnce(build);
    return async (db, ...args) => as(Number((await run(db, args)).numAffectedRows ?? 0));
  }

  /** Declares a statement that returns nothing. */
  run<Args extends unknown[]>(build: Build<Tables, Args, unknown>): Statement<Args, void> {
    const run = compiledOnce(build);
    return async (db, ...args) => void (await run(db, args));
  }

  /** Declares the insert of many rows. The class names their columns and may lack nullable ones. */
  bulkInsert<
    Name extends Column<Tables>,
    Row extends object & Filled<Tables[Name]> & Known<Row, Tables[Name]>,
  >(table: Name, row: RowClass<Row>): BulkInsert<Row> {
    return bulkInsert<Row>(table, columnsOf<Row>(row));
  }

  /**
   * Declares a counter: a table of sums by key. A newer value of the columns `latest` replaces the
   * stored value unless it is null. `after` gets each row of changes once all rows are written.
   */
  counter<
    Name extends Column<Tables>,
    Key extends Column<Tables[Name]>,
    Sum extends Column<Tables[Name]>,
    Latest extends Column<Tables[Name]> = never,
  >(
    table: Name,
    key: readonly Key[],
    sums: Complete<Tables[Name], Key | Latest, Sum>,
    { latest = [], after }: CounterOptions<Tables[Name], Latest> = {},
  ): Counter<Pick<Tables[Name], Key>, Pick<Tables[Name], Sum | Latest>> {
    const counted = { sums, latest };
    const add = addingTo(table, key, counted);
    return new Counter(table, key, counted, async (trx, rows) => {
      await add(trx, rows);
      if (after) for (const row of rows) await after(trx, row as Tables[Name]);
    });
  }

  /** Declares a counter within rows that it does not make. `write` adds the sums of a key. */
  counterBy<Key extends object, Sums extends object>(
    name: string,
    key: readonly Column<Key>[],
    sums: readonly Column<Sums>[],
    write: (trx: Db, row: Key & Sums) => Promise<unknown>,
  ): Counter<Key, Sums> {
    return new Counter(name, key, { sums }, async (trx, rows) => {
      for (const row of rows) await write(trx, row as Key & Sums);
    });
  }

  /** Declares the common queries of a resource's table; `kind` is the noun of the 404. */
  rowsOf<Name extends Column<Tables>>(table: Name & Having<OwnedRow, Tables, Name>, kind: string) {
    return rowsOf<Extract<Tables[Name], OwnedRow>>(table, kind);
  }

  /** Declares the search of ids by their ending, for a table without `rowsOf`. */
  idsEnding<Name extends Column<Tables>>(
    table: Name & Having<{ id: string; organization_id: string | null }, Tables, Name>,
  ): IdsEnding {
    return idsEndingIn(table);
  }

  /** Declares the change that brings times of a column to the present after a clock ran ahead. */
  toPresent<Name extends Column<Tables>>(table: Name, column: Column<Tables[Name]>): ToPresent {
    return toPresent(table, column);
  }

  /**
   * Declares a lock on rows, by id and in the order of ids unless `columns` names different
   * columns.
   */
  lockerOf<Name extends Column<Tables>>(table: Name, columns?: Locked<Column<Tables[Name]>>) {
    return lockerOf(table, columns);
  }

  /** Declares the change counter of a table with a single row. */
  changeCounter<Name extends Column<Tables>>(
    table: Name & Having<{ counter: number }, Tables, Name>,
  ): ChangeCounter {
    return changeCounter(table);
  }

  /** Names a column, for a full-text index. */
  column<Name extends Column<Tables>>(table: Name, column: Column<Tables[Name]>) {
    return { table, column };
  }
}

/** Returns the declarations on the tables of a room. */
export function ownTables<Tables>(): OwnTables<Tables> {
  return new OwnTables<Tables>();
}

// Order of locks (docs/making/store.md): a transaction that changes several rows of a kind locks
// them first, in a single select in the order of their ids, to avoid deadlocks. SQLite has a single
// writer at a time and needs no locks.

/** Column that orders the rows of a table, and column that selects the rows. */
interface Locked<Column extends string> {
  id?: Column;
  by?: Column;
}

/**
 * Returns a function that locks rows of a table until the transaction ends: rows with a column `by`
 * among the ids, in the order of `id`. On SQLite it does nothing.
 */
function lockerOf(
  table: string,
  { id = 'id', by = id }: Locked<string> = {},
): (db: Db, ids: readonly string[]) => Promise<void> {
  const lock = compiledOnce<Untyped, [readonly string[]], unknown>((db, ids) =>
    db
      .selectFrom(table)
      .select(id)
      .where(by, ...isOneOf(db, ids))
      .orderBy(id)
      .forUpdate(),
  );
  return async (db, ids) => {
    if (ids.length > 0 && engineOf(db) === 'postgres') await lock(db, [ids]);
  };
}
