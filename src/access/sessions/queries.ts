// All SQL on `console_sessions` and `console_links`. Rows only, no decisions.
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export interface SessionRow {
  /** Hash of the token. */
  hash: string;
  organization_id: string;
  /** The key that signed in; null for the operator. */
  key_id: string | null;
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
