// Erases the name of a person in tables that copy the name beside an id. Walks a table by the key
// in batches, because an index on the copies would cost time at each insert.
import { type RawBuilder, sql } from 'kysely';
import { type Db, tables, type Untyped } from '../db.ts';
import { compiledOnce } from './statement.ts';

/**
 * Erases the person's name in up to `limit` rows after the key `after`. Returns the last read key;
 * null at the end of the table.
 */
export type EraseNames = (
  trx: Db,
  person: { id: string; organizationId: string },
  after: string,
  limit: number,
) => Promise<string | null>;

/**
 * Maps each column of ids to the column of the names. A column that maps to itself holds JSON with
 * ids and names.
 */
export type NameColumns<Column extends string> = Readonly<Partial<Record<Column, Column>>>;

/**
 * Order of a walk: by the column `key`. With `isOfOrganization`, walks only rows of the
 * organization; for tables with a primary key that begins with `organization_id`.
 */
export interface Walk {
  key?: string;
  isOfOrganization?: boolean;
  /** Values to set in each changed row, by column. */
  mark?: Readonly<Record<string, unknown>>;
}

type Row = Record<string, string | null>;

const names = ['displayName', 'keyName', 'actorEmail'];

/** Returns JSON without names in the objects with this id; null for invalid JSON. */
function withoutNames(json: string, id: string): string | null {
  const read = (_key: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || !Object.values(value).includes(id)) {
      return value;
    }
    const known = names.filter((name) => name in value).map((name) => [name, null]);
    return { ...value, ...Object.fromEntries(known) };
  };
  try {
    return JSON.stringify(JSON.parse(json, read));
  } catch {
    return null;
  }
}

/** Returns the function that erases the names in these columns of a table. */
export function namesIn(
  table: string,
  columns: NameColumns<string>,
  { key = 'id', isOfOrganization = false, mark }: Walk = {},
): EraseNames {
  const pairs = Object.entries(columns) as [string, string][];
  const select = compiledOnce<Untyped, [string, string, string, number], Row>(
    (db, pattern, organizationId, after, limit) => {
      // Returns only texts with the id, because texts can be long.
      const textOf = (by: string): RawBuilder<unknown> =>
        sql`case when ${sql.ref(by)} like ${pattern} then ${sql.ref(by)} end`;
      return db
        .selectFrom(table)
        .select([sql.ref(key).as('key'), ...pairs.map(([by]) => textOf(by).as(by))])
        .$if(isOfOrganization, (query) => query.where('organization_id', '=', organizationId))
        .where(key, '>', after)
        .orderBy(key)
        .limit(limit)
        .$castTo<Row>();
    },
  );
  return async (trx, { id, organizationId }, after, limit) => {
    const { rows } = await select(trx, [`%${id}%`, organizationId, after, limit]);
    for (const row of rows) {
      const changes = pairs.flatMap(([by, name]) => {
        const text = row[by] ?? null;
        return text === null ? [] : [[name, by === name ? withoutNames(text, id) : null]];
      });
      if (changes.length === 0) continue;
      await tables<Untyped>(trx)
        .updateTable(table)
        .set({ ...Object.fromEntries(changes), ...mark } as Record<string, unknown>)
        .where(key, '=', row['key'])
        .$if(isOfOrganization, (query) => query.where('organization_id', '=', organizationId))
        .execute();
    }
    return rows.length < limit ? null : (rows.at(-1)?.['key'] ?? null);
  };
}
