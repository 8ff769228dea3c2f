// Declares statements on tables, typed by their rows: `const own = ownTables<DeliveryTables>()`. A
// statement with an unknown or forgotten column or a wrong type does not compile.
import { type ChangeCounter, changeCounter } from './changes/change-counter.ts';
import { type ToPresent, toPresent } from './changes/to-present.ts';
import { addingTo, Counter } from './counter.ts';
import { type Db, engineOf, isOneOf, type Untyped } from './db.ts';
import { bulkInsert, columnsOf, type RowClass } from './rows/bulk-insert.ts';
import { type IdsEnding, idsEndingIn } from './rows/ids-ending.ts';
import { type EraseNames, type NameColumns, namesIn, type Walk } from './rows/names.ts';
import { type OwnedRow, rowsOf } from './rows/rows.ts';
import { type Build, compiledOnce } from './rows/statement.ts';

/** Type of a declared statement. */
type Statement<Args extends readonly unknown[], Result> = (
  db: Db,
  ...args: Args
) => Promise<Result>;

type Column<Row> = keyof Row & string;

/** Type of a table's name if the rows have these columns, else never. */
type Having<Columns, Tables, Name extends keyof Tables> = Tables[Name] extends Columns
  ? Name
  : never;

/** Columns of a row that cannot be null, so that an insert must give them. */
type Filled<Row> = { [Name in keyof Row as null extends Row[Name] ? never : Name]: Row[Name] };

/** Columns of a row, each with the type in the table. */
type Known<Row, Stored> = { [Name in keyof Row]: Name extends keyof Stored ? Stored[Name] : never };

/** Type of an insert of rows that have only the columns of the class. */
type BulkInsert<Row> = <Given extends Row>(
  db: Db,
  rows: readonly (Given & Record<Exclude<keyof Given, keyof Row>, never>)[],
) => Promise<void>;

/** Type of the list if each column of the row is in it or in `Others`; else never. */
type Complete<Row, Others, Listed> = [Exclude<keyof Row, Others | Listed>] extends [never]
  ? readonly Listed[]
  : never;

interface CounterOptions<Row, Latest> {
  latest?: readonly Latest[];
  after?: (trx: Db, row: Row) => Promise<void>;
}

/** Default of `as`: returns the rows or the count unchanged. */
const asIs = (answer: unknown) => answer as never;

class OwnTables<Tables> {
  /** Declares a statement that returns the rows, or the result of `as` for the rows. */
  all<Args extends unknown[], Row, Result = Row[]>(
    build: Build<Tables, Args, Row>,
    as: (rows: Row[]) => Result = asIs,
  ): Statement<Args, Result> {
    const run = compiledOnce(build);
    return async (db, ...args) => as((await run(db, args)).rows);
  }

  /** Declares a statement that returns the first row, or the result of `as` for the row. */
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

  /**
   * Declares an insert of many rows. The class lists their columns, and may lack nullable columns.
   */
  bulkInsert<
    Name extends Column<Tables>,
    Row extends object & Filled<Tables[Name]> & Known<Row, Tables[Name]>,
  >(table: Name, row: RowClass<Row>): BulkInsert<Row> {
    return bulkInsert<Row>(table, columnsOf<Row>(row));
  }

  /**
   * Declares a counter: a table of sums by key. A newer value of a column in `latest` replaces the
   * stored value, unless it is null. `after` gets each row of added sums once all rows are written.
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

  /** Declares a counter in existing rows: it inserts none. `write` adds the sums of a key. */
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

  /** Declares the usual queries on the table of a resource; `kind` names the resource in a 404. */
  rowsOf<Name extends Column<Tables>>(table: Name & Having<OwnedRow, Tables, Name>, kind: string) {
    return rowsOf<Extract<Tables[Name], OwnedRow>>(table, kind);
  }

  /** Declares the search of ids by their ending, for a table without `rowsOf`. */
  idsEnding<Name extends Column<Tables>>(
    table: Name & Having<{ id: string; organization_id: string | null }, Tables, Name>,
  ): IdsEnding {
    return idsEndingIn(table);
  }

  /**
   * Declares the erasure of a person's names in a table. `columns`: columns of names by the columns
   * of their ids, such as `{author_id: 'author_name'}`.
   */
  namesIn<Name extends Column<Tables>>(
    table: Name,
    columns: NameColumns<Column<Tables[Name]>>,
    walk: Walk & { key?: Column<Tables[Name]> } = {},
  ): EraseNames {
    return namesIn(table, columns as NameColumns<string>, walk);
  }

  /** Declares the change that sets times of a column to the present after a clock ran ahead. */
  toPresent<Name extends Column<Tables>>(table: Name, column: Column<Tables[Name]>): ToPresent {
    return toPresent(table, column);
  }

  /**
   * Declares a lock on rows by id, in the order of ids, unless `columns` names different columns.
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

  /** Returns the names of a table and a column, checked by their types, for a full-text index. */
  column<Name extends Column<Tables>>(table: Name, column: Column<Tables[Name]>) {
    return { table, column };
  }
}

/** Returns the functions that declare statements on `Tables`. */
export function ownTables<Tables>(): OwnTables<Tables> {
  return new OwnTables<Tables>();
}

// Order of locks (docs/making/store.md): to avoid deadlocks, a transaction that changes several
// rows of a kind first locks them in a single select, in the order of ids. SQLite has a single
// writer and needs no locks.

/** Columns of a lock: `id` orders the rows (default `id`), `by` selects them (default: as `id`). */
interface Locked<Column extends string> {
  id?: Column;
  by?: Column;
}

/**
 * Returns a function that locks rows of a table until the transaction ends: rows whose column `by`
 * is among the ids, in the order of `id`. Does nothing on SQLite.
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
