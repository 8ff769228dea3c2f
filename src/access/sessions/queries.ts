// All SQL on `console_sessions` and `console_links`. Rows only, no decisions.
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { Proof } from './proofs.ts';

export interface SessionRow {
  /** Hash of the token. */
  hash: string;
  organization_id: string;
  /** The key that signed in; null for the operator and for a person. */
  key_id: string | null;
  person_id: string | null;
  /** Member row of the person in the organization; null for a session of a key or the operator. */
  member_id: string | null;
  /** The proof that began the session. */
  proof: Proof;
  /** JSON: times of the last proof of each kind. */
  proofs: string;
  browser: string | null;
  network: string | null;
  /** 1 for a session that opens no other organization of the person. */
  is_alone: number;
  /** Longest life from the creation; null for the usual time. */
  longest_ms: number | null;
  /** Form that awaits a proof, encrypted by the token. */
  kept_input: string | null;
  kept_at: number | null;
  /** Sentence about the last action, sealed; the next page shows it. */
  toast: string | null;
  /** Secret that can be seen for ten minutes: hash of the id, the sealed text, the time. */
  secret_id: string | null;
  secret: string | null;
  secret_at: number | null;
  created_at: number;
  last_seen_at: number;
}

export interface LinkRow {
  /** Hash of the token. */
  hash: string;
  organization_id: string;
  expires_at: number;
}

interface SessionTables {
  console_sessions: SessionRow;
  console_links: LinkRow;
}

const mostListed = 100;
const own = ownTables<SessionTables>();

export const findSession = own.first((db, hash: string) =>
  db.selectFrom('console_sessions').selectAll().where('hash', '=', hash),
);

export async function insertSession(db: Db, row: SessionRow): Promise<void> {
  await tables<SessionTables>(db).insertInto('console_sessions').values(row).execute();
}

type SessionChange = Partial<Omit<SessionRow, 'hash' | 'created_at'>>;

/** Changes a session. Returns false for an ended session. */
export async function updateSession(db: Db, hash: string, change: SessionChange): Promise<boolean> {
  const { numUpdatedRows } = await tables<SessionTables>(db)
    .updateTable('console_sessions')
    .set(change)
    .where('hash', '=', hash)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Drops the form that a session keeps. Returns false without a form. */
export const dropInput = own.change(
  (db, hash: string) =>
    db
      .updateTable('console_sessions')
      .set({ kept_input: null, kept_at: null })
      .where('hash', '=', hash)
      .where('kept_input', 'is not', null),
  (count) => count > 0,
);

/** Drops forms that were kept before this time. */
export const dropInputsBefore = own.run((db, keptBefore: number) =>
  db
    .updateTable('console_sessions')
    .set({ kept_input: null, kept_at: null })
    .where('kept_at', '<', keptBefore),
);

const noSecret = { secret_id: null, secret: null, secret_at: null };

/** Drops the secret of a session, if `idHash` is the hash of the secret's id. */
export const dropSecret = own.run((db, hash: string, idHash: string) =>
  db
    .updateTable('console_sessions')
    .set(noSecret)
    .where('hash', '=', hash)
    .where('secret_id', '=', idHash),
);

/** Drops secrets that were kept before this time. */
export const dropSecretsBefore = own.run((db, keptBefore: number) =>
  db.updateTable('console_sessions').set(noSecret).where('secret_at', '<', keptBefore),
);

/** Returns the newest sessions of a person. */
export const selectSessionsOfPerson = own.all((db, personId: string) =>
  db
    .selectFrom('console_sessions')
    .select(['hash', 'proof', 'browser', 'network', 'longest_ms', 'created_at', 'last_seen_at'])
    .where('person_id', '=', personId)
    .orderBy('last_seen_at', 'desc')
    .limit(mostListed),
);

export const deleteSession = own.run((db, hash: string) =>
  db.deleteFrom('console_sessions').where('hash', '=', hash),
);

export const deleteSessionsOfKey = own.run((db, organizationId: string, keyId: string) =>
  db
    .deleteFrom('console_sessions')
    .where('organization_id', '=', organizationId)
    .where('key_id', '=', keyId),
);

export const deleteSessionsOfMember = own.run((db, memberId: string) =>
  db.deleteFrom('console_sessions').where('member_id', '=', memberId),
);

export const deleteSessionsOfPerson = own.run((db, personId: string) =>
  db.deleteFrom('console_sessions').where('person_id', '=', personId),
);

/** Deletes the sessions of a person that this proof began. */
export const deleteSessionsOfProof = own.run((db, personId: string, proof: Proof) =>
  db.deleteFrom('console_sessions').where('person_id', '=', personId).where('proof', '=', proof),
);

/** Deletes the sessions of a person, except the session with the hash `except`. */
export const deleteOtherSessions = own.run((db, personId: string, except: string) =>
  db.deleteFrom('console_sessions').where('person_id', '=', personId).where('hash', '<>', except),
);

export const deleteSessionsBefore = own.run((db, createdBefore: number) =>
  db.deleteFrom('console_sessions').where('created_at', '<', createdBefore),
);

export async function insertLink(db: Db, row: LinkRow): Promise<void> {
  await tables<SessionTables>(db).insertInto('console_links').values(row).execute();
}

/** Deletes a link, and returns it: of two callers only the first gets it. */
export function takeLink(db: Db, hash: string): Promise<LinkRow | undefined> {
  return tables<SessionTables>(db)
    .deleteFrom('console_links')
    .where('hash', '=', hash)
    .returningAll()
    .executeTakeFirst();
}

export const deleteLinksBefore = own.run((db, now: number) =>
  db.deleteFrom('console_links').where('expires_at', '<', now),
);

/** Statements that delete the sessions and links of a restored store: all people sign in again. */
export const sessionsOfRestored = ['console_sessions', 'console_links'].map((table) => ({
  table,
  sql: `delete from ${table}`,
}));
