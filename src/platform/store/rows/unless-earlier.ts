// Reads a store that may have an earlier schema, without the tables and columns of later
// migrations.
import { codeOf, messageOf } from '../../errors.ts';
import type { Db } from '../db.ts';
import { earlierSchemaOf } from '../migrate.ts';

/** SQLSTATE of a missing table, and of a missing column. */
const missing = ['42P01', '42703'];

function lacksSchema(error: unknown): boolean {
  const code = codeOf(error);
  return missing.includes(code) || (code === 'SQLITE_ERROR' && /^no such /.test(messageOf(error)));
}

/** Tells whether the error comes from a table or column that an earlier schema lacks. */
export async function isOfEarlierSchema(db: Db, error: unknown): Promise<boolean> {
  return lacksSchema(error) && (await earlierSchemaOf(db)) !== null;
}

/** Returns the result of `read`; null if an earlier schema lacks the table or a column. */
export async function unlessEarlier<T>(db: Db, read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (await isOfEarlierSchema(db, error)) return null;
    throw error;
  }
}
