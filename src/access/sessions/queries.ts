// All SQL on `console_sessions` and `console_links`. Rows only, no decisions.
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

/** Ways to prove who signs in. */
export type Proof = 'key' | 'operator' | 'link' | 'passkey' | 'provider';

export interface SessionRow {
  /** Hash of the token. */
  hash: string;
  organization_id: string;
  /** The key that signed in; null for the operator and for a person. */
  key_id: string | null;
  person_id: string | null;
  /** Place of the person in the organization of the session. */
  member_id: string | null;
  proof: Proof;
  proven_at: number;
  browser: string | null;
  network: string | null;
  /** 1 for a session that opens no other organization of the person. */
  is_alone: number;
  longest_ms: number | null;
  /** Encrypted form that awaits a proof. */
  kept_input: string | null;
  kept_at: number | null;
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

const own = ownTables<SessionTables>();

export const findSession = own.first((db, hash: string) =>
  db.selectFrom('console_sessions').selectAll().where('hash', '=', hash),
);

export async function insertSession(db: Db, row: SessionRow): Promise<void> {
  await tables<SessionTables>(db).insertInto('console_sessions').values(row).execute();
}

export const touchSession = own.run((db, hash: string, now: number) =>
  db.updateTable('console_sessions').set({ last_seen_at: now }).where('hash', '=', hash),
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
