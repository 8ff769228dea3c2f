// Reads of a store with a possibly earlier schema: tables and columns of later migrations
// are missing there.
import { codeOf, messageOf } from '../../errors.ts';
import type { Db } from '../db.ts';
import { earlierSchemaOf } from '../migrate.ts';

/** SQLSTATE of a missing table and of a missing column. */
const missing = ['42P01', '42703'];

function lacksSchema(error: unknown): boolean {
  const code = codeOf(error);
  return missing.includes(code) || (code === 'SQLITE_ERROR' && /^no such /.test(messageOf(error)));
}

/** Returns true if an error comes from an earlier schema. */
export async function isOfEarlierSchema(db: Db, error: unknown): Promise<boolean> {
  return lacksSchema(error) && (await earlierSchemaOf(db)) !== null;
}

/** Returns the read rows; null if the schema is an earlier schema that lacks them. */
export async function unlessEarlier<T>(db: Db, read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (await isOfEarlierSchema(db, error)) return null;
    throw error;
  }
}
