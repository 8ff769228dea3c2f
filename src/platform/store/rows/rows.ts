// Common queries on the table of a resource: rows of an organization, by id or by page. The
// queries.ts beside the resource passes the table name, and holds all further SQL.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { ResourceNotFoundError } from '../../errors.ts';
import { type Db, tables, type Untyped } from '../db.ts';
import { type IdsEnding, idsEndingIn } from './ids-ending.ts';
import { compiledOnce } from './statement.ts';
import { boundsOf, type TimeRange } from './time-range.ts';

export interface OwnedRow {
  id: string;
  organization_id: string;
}

/** Value of a column. Columns of numbers store booleans as 1 or 0. */
type Value<Stored> = Stored | (number extends Stored ? boolean : never);

/** Values by column; undefined values are skipped. */
type Values<Row> = { [Name in keyof Row]?: Value<Row[Name]> | undefined };

function stored(values: object): [string, unknown][] {
  return Object.entries(values).flatMap(([column, value]) => {
    if (value === undefined) return [];
    return [[column, typeof value === 'boolean' ? Number(value) : value]];
  });
}

/** Conditions on rows of an organization: values by column, and SQL. */
export interface Filter<Row> {
  equal?: Values<Row> | undefined;
  where?: RawBuilder<SqlBool> | undefined;
}

/**
 * Returns the condition that a row was created within a range; undefined without a bound.
 * @throws ValidationError as `boundsOf` does
 */
export function createdWithin(times: TimeRange): RawBuilder<SqlBool> | undefined {
  const { from, to } = boundsOf(times);
  if (from === undefined && to === undefined) return undefined;
  const start = from === undefined ? sql`` : sql`created_at >= ${from}`;
  const end = to === undefined ? sql`` : sql`created_at < ${to}`;
  const and = from === undefined || to === undefined ? sql`` : sql` and `;
  return sql<SqlBool>`(${start}${and}${end})`;
}

/** A page: the number, from 1, and the size in rows. The time bounds apply to `created_at`. */
interface PageOfRows extends TimeRange {
  page: number;
  limit: number;
}

export class Rows<Row extends OwnedRow> {
  readonly idsEnding: IdsEnding;
  readonly #table: string;
  readonly #kind: string;
  readonly #byId;

  constructor(table: string, kind: string) {
    this.#table = table;
    this.#kind = kind;
    this.idsEnding = idsEndingIn(table);
    this.#byId = compiledOnce<Untyped, [organizationId: string, id: string], unknown>(
      (db, organizationId, id) =>
        db
          .selectFrom(table)
          .selectAll()
          .where('organization_id', '=', organizationId)
          .where('id', '=', id),
    );
  }

  async find(db: Db, organizationId: string, id: string): Promise<Row | undefined> {
    return (await this.#byId(db, [organizationId, id])).rows[0] as Row | undefined;
  }

  /** Returns a row. @throws ResourceNotFoundError naming the kind. */
  async get(db: Db, organizationId: string, id: string): Promise<Row> {
    return this.#found(await this.find(db, organizationId, id), id);
  }

  #matching(db: Db, organizationId: string, { equal = {}, where }: Filter<Row>) {
    let query = tables<Untyped>(db)
      .selectFrom(this.#table)
      .where('organization_id', '=', organizationId);
    for (const [column, value] of stored(equal)) query = query.where(column, '=', value);
    return where ? query.where(where) : query;
  }

  /** Returns a page, newest first, and the number of rows on all pages. */
  async page(
    db: Db,
    organizationId: string,
    { page, limit, ...times }: PageOfRows,
    filter: Filter<Row> = {},
  ): Promise<{ rows: Row[]; total: number }> {
    const { where } = filter;
    const within = createdWithin(times);
    const both = where && within ? sql<SqlBool>`${within} and ${where}` : (where ?? within);
    const wanted = { ...filter, where: both };
    const matching = this.#matching(db, organizationId, wanted).selectAll().orderBy('id', 'desc');
    const range = matching.limit(limit).offset((page - 1) * limit);
    const [rows, total] = await Promise.all([
      range.execute(),
      this.count(db, organizationId, wanted),
    ]);
    return { rows: rows as unknown[] as Row[], total };
  }

  async count(db: Db, organizationId: string, filter: Filter<Row> = {}): Promise<number> {
    const { count } = await this.#matching(db, organizationId, filter)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /**
   * Inserts a row. With `unique`, returns false if a row has the same values in these columns;
   * without it, throws in this case.
   */
  async insert(db: Db, row: Row, unique?: readonly (keyof Row & string)[]): Promise<boolean> {
    const inserted = await tables<Untyped>(db)
      .insertInto(this.#table)
      .values({ ...row } as Record<string, unknown>)
      .$if(unique !== undefined, (query) =>
        query.onConflict((conflict) => conflict.columns([...(unique ?? [])]).doNothing()),
      )
      .returning('id')
      .execute();
    return inserted.length > 0;
  }

  /**
   * Changes a row, which stays locked until the transaction ends. Returns the changed row.
   * @throws ResourceNotFoundError.
   */
  async update(db: Db, organizationId: string, id: string, change: Values<Row>): Promise<Row> {
    const row = await tables<Untyped>(db)
      .updateTable(this.#table)
      .set(Object.fromEntries(stored(change)))
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    return this.#found(row, id);
  }

  /** Removes a row, and returns it. @throws ResourceNotFoundError. */
  async remove(db: Db, organizationId: string, id: string): Promise<Row> {
    const row = await tables<Untyped>(db)
      .deleteFrom(this.#table)
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    return this.#found(row, id);
  }

  #found(row: unknown, id: string): Row {
    if (row === undefined) throw new ResourceNotFoundError(this.#kind, id);
    return row as Row;
  }
}

/** Returns the queries of a table with `id` and `organization_id`; a 404 names `kind`. */
export function rowsOf<Row extends OwnedRow>(table: string, kind: string): Rows<Row> {
  return new Rows<Row>(table, kind);
}
