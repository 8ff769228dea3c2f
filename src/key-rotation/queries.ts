// SQL on the encrypted columns of all tables; encrypted-columns.ts lists the columns.
import { sql } from 'kysely';
import { type Db, engineOf } from '../platform/store/db.ts';
import type { EncryptedColumn } from './encrypted-columns.ts';

interface EncryptedText {
  id: string;
  text: string;
}

function staleIn({ column }: EncryptedColumn, prefix: string) {
  return sql`${sql.ref(column)} is not null and ${sql.ref(column)} <> ''
    and ${sql.ref(column)} not like ${`${prefix}%`}`;
}

/** Locks and returns texts that lack the prefix, from rows after `after` in the order of ids. */
export async function lockStaleTexts(
  db: Db,
  of: EncryptedColumn,
  { prefix, after, limit }: { prefix: string; after: string; limit: number },
): Promise<EncryptedText[]> {
  const lock = engineOf(db) === 'postgres' ? sql`for update` : sql``;
  const { rows } = await sql<EncryptedText>`
    select ${sql.ref(of.id)} as id, ${sql.ref(of.column)} as text from ${sql.table(of.table)}
    where ${sql.ref(of.id)} > ${after} and ${staleIn(of, prefix)}
    order by ${sql.ref(of.id)} limit ${limit} ${lock}`.execute(db);
  return rows;
}

export async function setText(
  db: Db,
  of: EncryptedColumn,
  { id, text }: EncryptedText,
): Promise<void> {
  await sql`update ${sql.table(of.table)} set ${sql.ref(of.column)} = ${text}
    where ${sql.ref(of.id)} = ${id}`.execute(db);
}

/** Tells whether a row has a text that lacks the prefix of the key in force. */
export async function hasStaleText(db: Db, of: EncryptedColumn, prefix: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ${sql.table(of.table)} where ${staleIn(of, prefix)} limit 1`.execute(db);
  return rows.length > 0;
}
