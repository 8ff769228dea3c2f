// SQL on `campaigns` for rooms that stand before this one (src/service/service.ts).
import { isOneOf } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

interface KnownTables {
  campaigns: { id: string; organization_id: string };
}

const own = ownTables<KnownTables>();

/** Finds the campaigns of an organization among these ids. */
export const findKnownCampaigns = own.all(
  (db, organizationId: string, ids: readonly string[]) =>
    db
      .selectFrom('campaigns')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('id', ...isOneOf(db, ids)),
  (rows) => rows.map(({ id }) => id),
);
