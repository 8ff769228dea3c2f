// All SQL on `passkeys` and `used_challenges`. Rows only, no decisions.
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export interface PasskeyRow {
  id: string;
  person_id: string;
  /** Host that the passkey belongs to. */
  rp_id: string;
  /** Id that the authenticator chose, in base64url. */
  credential_id: string;
  /** COSE key in base64url. */
  public_key: string;
  /** Last counter of the authenticator; 0 for an authenticator that does not count. */
  counter: number;
  /** 1 if the passkey is copied between the devices of the person. */
  is_synced: number;
  name: string;
  created_at: number;
  last_used_at: number | null;
  /** Time at which the counter did not grow; the passkey is refused since then. */
  refused_at: number | null;
}

export type PasskeyOf = Pick<PasskeyRow, 'id' | 'person_id'>;

interface PasskeyTables {
  passkeys: PasskeyRow;
  used_challenges: { hash: string; used_at: number };
}

const own = ownTables<PasskeyTables>();

/** Most passkeys of a person. */
export const mostPasskeys = 20;

/** Returns the passkeys of a person, the oldest first. */
export const selectPasskeys = own.all((db, personId: string) =>
  db
    .selectFrom('passkeys')
    .selectAll()
    .where('person_id', '=', personId)
    .orderBy('id')
    .limit(mostPasskeys),
);

export const findPasskey = own.first((db, credentialId: string) =>
  db.selectFrom('passkeys').selectAll().where('credential_id', '=', credentialId),
);

/** Finds a passkey, and locks the row until the transaction ends. */
export function lockPasskey(db: Db, id: string): Promise<PasskeyRow | undefined> {
  return tables<PasskeyTables>(db)
    .selectFrom('passkeys')
    .selectAll()
    .where('id', '=', id)
    .$if(engineOf(db) === 'postgres', (q) => q.forUpdate())
    .executeTakeFirst();
}

/** Inserts a passkey. Returns false if the credential is stored already. */
export async function insertPasskey(db: Db, row: PasskeyRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tables<PasskeyTables>(db)
    .insertInto('passkeys')
    .values(row)
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows) > 0;
}

type PasskeyChanges = Partial<
  Pick<PasskeyRow, 'counter' | 'is_synced' | 'last_used_at' | 'refused_at' | 'name'>
>;

/** Changes a passkey. Returns false if the person has no passkey of this id. */
export async function updatePasskey(
  db: Db,
  { id, person_id }: PasskeyOf,
  change: PasskeyChanges,
): Promise<boolean> {
  const { numUpdatedRows } = await tables<PasskeyTables>(db)
    .updateTable('passkeys')
    .set(change)
    .where('id', '=', id)
    .where('person_id', '=', person_id)
    .executeTakeFirst();
  return Number(numUpdatedRows) > 0;
}

/** Deletes a passkey of a person. Returns the deleted row; undefined if the id is unknown. */
export function deletePasskey(
  db: Db,
  { id, person_id }: PasskeyOf,
): Promise<PasskeyRow | undefined> {
  return tables<PasskeyTables>(db)
    .deleteFrom('passkeys')
    .where('id', '=', id)
    .where('person_id', '=', person_id)
    .returningAll()
    .executeTakeFirst();
}

/** Deletes all passkeys of a person. Returns their number. */
export const deletePasskeysOf = own.change((db, personId: string) =>
  db.deleteFrom('passkeys').where('person_id', '=', personId),
);

/** Returns the ids in `personIds` of persons with a passkey. */
export const personsWithPasskey = own.all(
  (db, personIds: readonly string[]) =>
    db
      .selectFrom('passkeys')
      .select('person_id')
      .distinct()
      .where('person_id', ...isOneOf(db, personIds)),
  (rows: { person_id: string }[]) => new Set(rows.map(({ person_id }) => person_id)),
);

/** Counts all passkeys by their host. */
export const countByHost = own.all((db) =>
  db
    .selectFrom('passkeys')
    .select(({ fn }) => ['rp_id', fn.countAll<number>().as('count')])
    .groupBy('rp_id')
    .orderBy('rp_id'),
);

/** Returns up to `most` ids of persons who have passkeys, but none for the host `rpId`. */
export const selectLeftBehind = own.all(
  (db, rpId: string, most: number) =>
    db
      .selectFrom('passkeys as away')
      .select('away.person_id')
      .distinct()
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('passkeys as here')
              .select('here.id')
              .whereRef('here.person_id', '=', 'away.person_id')
              .where('here.rp_id', '=', rpId),
          ),
        ),
      )
      .orderBy('away.person_id')
      .limit(most),
  (rows: { person_id: string }[]) => rows.map(({ person_id }) => person_id),
);

/** Stores a challenge as used. Returns false if it was used before. */
export const insertUsedChallenge = own.change(
  (db, hash: string, now: number) =>
    db
      .insertInto('used_challenges')
      .values({ hash, used_at: now })
      .onConflict((conflict) => conflict.column('hash').doNothing()),
  (count) => count > 0,
);

/** Deletes up to `most` challenges used before a time. Returns their number. */
export const deleteUsedChallenges = own.change((db, before: number, most: number) =>
  db
    .deleteFrom('used_challenges')
    .where('hash', 'in', (from) =>
      from
        .selectFrom('used_challenges')
        .select('hash')
        .where('used_at', '<', before)
        .orderBy('used_at')
        .limit(most),
    ),
);
