// What every noun asks of its table: rows of one organization, by id or a page of them. An area names
// the table in its queries.ts; what is hot, or decides, is SQL written there by hand.
import type { RawBuilder, SqlBool } from 'kysely';
import { ResourceNotFoundError } from '../errors.ts';
import { type Db, statement, tables } from './db.ts';

export interface OwnedRow {
  id: string;
  organization_id: string;
}

/** Values of columns, a boolean as 1 or 0; what is undefined is left out. */
type Values<Row> = { [Name in keyof Row]?: Row[Name] | boolean | undefined };

function stored(values: object): [string, unknown][] {
  return Object.entries(values).flatMap(([column, value]) => {
    if (value === undefined) return [];
    return [[column, typeof value === 'boolean' ? Number(value) : value]];
  });
}

/** Which rows of an organization. */
export interface Filter<Row> {
  equal?: Values<Row> | undefined;
  where?: RawBuilder<SqlBool> | undefined;
}

/** A page, from 1, of so many rows. */
interface PageOfRows {
  page: number;
  limit: number;
}

type Untyped = Record<string, Record<string, unknown>>;

class Rows<Row extends OwnedRow> {
  readonly #table: string;
  readonly #kind: string;
  readonly #byId;

  constructor(table: string, kind: string) {
    this.#table = table;
    this.#kind = kind;
    this.#byId = statement<Untyped, { organizationId: string; id: string }, unknown>(
      (db, parameter) =>
        db
          .selectFrom(table)
          .selectAll()
          .where('organization_id', '=', parameter('organizationId'))
          .where('id', '=', parameter('id')),
    );
  }

  async find(db: Db, organizationId: string, id: string): Promise<Row | undefined> {
    return (await this.#byId(db, { organizationId, id }))[0] as Row | undefined;
  }

  /** @throws ResourceNotFoundError naming the kind. */
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

  /** Newest first, and how many there are on all pages. */
  async page(
    db: Db,
    organizationId: string,
    { page, limit }: PageOfRows,
    filter: Filter<Row> = {},
  ): Promise<{ rows: Row[]; total: number }> {
    const matching = this.#matching(db, organizationId, filter).selectAll().orderBy('id', 'desc');
    const range = matching.limit(limit).offset((page - 1) * limit);
    const [rows, total] = await Promise.all([
      range.execute(),
      this.count(db, organizationId, filter),
    ]);
    return { rows: rows as unknown[] as Row[], total };
  }

  async count(db: Db, organizationId: string, filter: Filter<Row> = {}): Promise<number> {
    const { count } = await this.#matching(db, organizationId, filter)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** False where a row with the same values of `unique` is there already; without, that throws. */
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

  /** The row as changed, locked until the end of the transaction. @throws ResourceNotFoundError. */
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

  /** The row that was there. @throws ResourceNotFoundError. */
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

/** The rows of a table with `id` and `organization_id`; `kind` is the noun of its 404. */
export function rowsOf<Row extends OwnedRow>(table: string, kind: string): Rows<Row> {
  return new Rows<Row>(table, kind);
}
