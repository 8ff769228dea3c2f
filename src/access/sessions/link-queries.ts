// All SQL on `mailed_links`, `known_browsers` and `sign_in_mails`. Rows only, no decisions.
import { type Db, fromJson, isOneOf, tables, toJson } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

/** Purpose of a mailed link: the effect of the button. */
export type LinkPurpose = 'sign-in' | 'proof' | 'address' | 'take-back' | 'end-sessions';

export interface MailedLinkRow {
  /** Hash of the token. */
  hash: string;
  person_id: string;
  purpose: LinkPurpose;
  /** Encrypted token; the link is put into the mail only at delivery. Null for a printed link. */
  token: string | null;
  message_id: string | null;
  /** Address to which the link was mailed. */
  email: string;
  /** Browser that requested the link, such as "Firefox on Windows". */
  browser: string;
  /** Network that asked for the link: a /24 or a /48. */
  network: string;
  /** Time of the request, ms since 1970. */
  asked_at: number;
  /** Token hash of the session that requested a `proof` link; null for each further purpose. */
  session_hash: string | null;
  expires_at: number;
}

interface LinkTables {
  mailed_links: MailedLinkRow;
  known_browsers: { hash: string; person_id: string; last_at: number };
  sign_in_mails: { key: string; mailed_at: string; last_mailed_at: number };
}

const own = ownTables<LinkTables>();

export async function insertMailedLink(db: Db, row: MailedLinkRow): Promise<void> {
  await tables<LinkTables>(db).insertInto('mailed_links').values(row).execute();
}

/** Stores the message id of the mail that has the link. */
export const setLinkMail = own.run((db, hash: string, messageId: string) =>
  db.updateTable('mailed_links').set({ message_id: messageId }).where('hash', '=', hash),
);

export const findMailedLink = own.first((db, hash: string) =>
  db.selectFrom('mailed_links').selectAll().where('hash', '=', hash),
);

export const findLinkOfMail = own.first((db, messageId: string) =>
  db.selectFrom('mailed_links').selectAll().where('message_id', '=', messageId),
);

/** Deletes a link, and returns it: of two callers only the first gets it. */
export function takeMailedLink(db: Db, hash: string): Promise<MailedLinkRow | undefined> {
  return tables<LinkTables>(db)
    .deleteFrom('mailed_links')
    .where('hash', '=', hash)
    .returningAll()
    .executeTakeFirst();
}

/** Counts the unexpired links of a person for a sign-in or a proof. */
export const countOpenLinks = own.first(
  (db, personId: string, now: number) =>
    db
      .selectFrom('mailed_links')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('person_id', '=', personId)
      .where('purpose', 'in', ['sign-in', 'proof'])
      .where('expires_at', '>', now),
  (row) => Number(row?.count ?? 0),
);

export const deleteLinksOfPerson = own.run((db, personId: string) =>
  db.deleteFrom('mailed_links').where('person_id', '=', personId),
);

export const deleteLinksForPurpose = own.run((db, personId: string, purpose: LinkPurpose) =>
  db.deleteFrom('mailed_links').where('person_id', '=', personId).where('purpose', '=', purpose),
);

export const deleteMailedLinksBefore = own.run((db, now: number) =>
  db.deleteFrom('mailed_links').where('expires_at', '<', now),
);

/** Returns the last sign-in of a person from a browser; undefined for a new browser. */
export const findKnownBrowser = own.first((db, hash: string) =>
  db.selectFrom('known_browsers').select('last_at').where('hash', '=', hash),
);

/** Stores or renews a browser of a person. */
export async function putKnownBrowser(db: Db, row: LinkTables['known_browsers']): Promise<void> {
  await tables<LinkTables>(db)
    .insertInto('known_browsers')
    .values(row)
    .onConflict((conflict) => conflict.column('hash').doUpdateSet({ last_at: row.last_at }))
    .execute();
}

export const countBrowsers = own.first(
  (db, personId: string) =>
    db
      .selectFrom('known_browsers')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('person_id', '=', personId),
  (row) => Number(row?.count ?? 0),
);

export const deleteBrowsersOfPerson = own.run((db, personId: string) =>
  db.deleteFrom('known_browsers').where('person_id', '=', personId),
);

export const deleteBrowsersBefore = own.run((db, before: number) =>
  db.deleteFrom('known_browsers').where('last_at', '<', before),
);

/**
 * Returns the times of the mails that a limit counted. Locks the row until the transaction ends.
 */
export async function lockMailTimes(db: Db, key: string): Promise<number[]> {
  await tables<LinkTables>(db)
    .insertInto('sign_in_mails')
    .values({ key, mailed_at: '[]', last_mailed_at: 0 })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
  const { mailed_at } = await tables<LinkTables>(db)
    .updateTable('sign_in_mails')
    .set(({ ref }) => ({ last_mailed_at: ref('last_mailed_at') }))
    .where('key', '=', key)
    .returning('mailed_at')
    .executeTakeFirstOrThrow();
  return fromJson<number[]>(mailed_at) ?? [];
}

export async function setMailTimes(db: Db, key: string, times: readonly number[]): Promise<void> {
  await tables<LinkTables>(db)
    .updateTable('sign_in_mails')
    .set({ mailed_at: toJson(times) ?? '[]', last_mailed_at: times.at(-1) ?? 0 })
    .where('key', '=', key)
    .execute();
}

const lockKeys = own.lockerOf('sign_in_mails', { id: 'key' });

/** Deletes up to `limit` rows of keys without a mail since `before`. Returns their number. */
export async function deleteMailTimesBefore(
  db: Db,
  before: number,
  limit: number,
): Promise<number> {
  const old = await tables<LinkTables>(db)
    .selectFrom('sign_in_mails')
    .select('key')
    .where('last_mailed_at', '<', before)
    .orderBy('last_mailed_at')
    .limit(limit)
    .execute();
  const keys = old.map(({ key }) => key);
  await lockKeys(db, keys);
  await tables<LinkTables>(db)
    .deleteFrom('sign_in_mails')
    .where('key', ...isOneOf(db, keys))
    .where('last_mailed_at', '<', before)
    .execute();
  return keys.length;
}

/** Statement that ends all mailed links in a restored store. */
export const linksOfRestored = { table: 'mailed_links', sql: 'delete from mailed_links' };
