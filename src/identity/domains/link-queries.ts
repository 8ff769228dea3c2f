// All SQL on `domain_links`. Rows only, no decisions.
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export interface DomainLinkRow {
  domain_id: string;
  /** Hash of the token. */
  hash: string;
  created_at: number;
  /** Ms since 1970. */
  expires_at: number;
}

interface LinkTables {
  domain_links: DomainLinkRow;
}

const own = ownTables<LinkTables>();

/** Stores the link of a domain, in place of an earlier link. */
export async function putDomainLink(db: Db, row: DomainLinkRow): Promise<void> {
  const { domain_id: _id, ...changed } = row;
  await tables<LinkTables>(db)
    .insertInto('domain_links')
    .values(row)
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(changed))
    .execute();
}

export const deleteDomainLink = own.all((db, domainId: string) =>
  db.deleteFrom('domain_links').where('domain_id', '=', domainId).returning('domain_id'),
);

export const findDomainLink = own.first((db, domainId: string) =>
  db.selectFrom('domain_links').selectAll().where('domain_id', '=', domainId),
);

/** Finds a link by the hash of its token. */
export const findDomainLinkBy = own.first((db, hash: string) =>
  db.selectFrom('domain_links').selectAll().where('hash', '=', hash),
);
