// All SQL on `further_message_ids`: Message-IDs that a relay put in the place of our Message-IDs.
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

/** A further id; `left_half` is the part before the domain. */
export interface FurtherIdRow {
  left_half: string;
  message_id: string;
}

interface IdTables {
  further_message_ids: FurtherIdRow;
}

const own = ownTables<IdTables>();

/** Returns the rows with these left halves. */
export const findFurtherIds = own.all((db, halves: readonly string[]) =>
  db
    .selectFrom('further_message_ids')
    .select(['left_half', 'message_id'])
    .where('left_half', ...isOneOf(db, halves)),
);

/** Stores further ids. The caller has locked their messages. */
export async function insertFurtherIds(trx: Db, rows: readonly FurtherIdRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tables<IdTables>(trx)
    .insertInto('further_message_ids')
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
