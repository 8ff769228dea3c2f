// All SQL on `campaigns`. Reads and writes rows, decides nothing.
import { type SqlBool, sql } from 'kysely';
import type { PageRequest } from '../../core/api/pagination.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { createdWithin } from '../../platform/store/rows/rows.ts';

export interface CampaignRow {
  id: string;
  organization_id: string;
  name: string;
  channel: 'email';
  transactional: number;
  conversation_id: string | null;
  /** JSON, as the next three columns. `body` has the large parts of `audience` and `email`. */
  sender: string | null;
  audience: string;
  email: string;
  metadata: string | null;
  /** JSON of TemplateWarning[]. */
  warnings: string;
  created_at: number;
  updated_at: number;
  /** JSON of HTML, text, attachments, template data and contact ids. */
  body: string;
}

/** A campaign in a list, without the large parts. */
export type ListedCampaign = Omit<CampaignRow, 'body'>;

interface CampaignTables {
  campaigns: CampaignRow;
}

const own = ownTables<CampaignTables>();

export const campaigns = own.rowsOf('campaigns', 'campaign');

/** Returns the ids in `ids` of campaigns of the organization. */
export const findKnownCampaigns = own.all(
  (db, organizationId: string, ids: readonly string[]) =>
    db
      .selectFrom('campaigns')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('id', ...isOneOf(db, ids)),
  (rows) => rows.map(({ id }) => id),
);

/** Requires a campaign without reading the content. @throws ResourceNotFoundError. */
export async function requireCampaign(db: Db, organizationId: string, id: string): Promise<void> {
  const known = await findKnownCampaigns(db, organizationId, [id]);
  if (known.length === 0) throw new ResourceNotFoundError('campaign', id);
}

export const lockCampaigns = own.lockerOf('campaigns');

/** Locks a campaign until the transaction ends, and returns it. @throws ResourceNotFoundError. */
export async function lockCampaign(
  trx: Db,
  organizationId: string,
  id: string,
): Promise<CampaignRow> {
  await lockCampaigns(trx, [id]);
  return campaigns.get(trx, organizationId, id);
}

const listed = [
  'id',
  'organization_id',
  'name',
  'channel',
  'transactional',
  'conversation_id',
  'sender',
  'audience',
  'email',
  'metadata',
  'warnings',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof ListedCampaign)[];

/** Returns a page, newest first, without the bodies. */
export function selectCampaigns(
  db: Db,
  organizationId: string,
  { page, limit, ...times }: PageRequest,
): Promise<ListedCampaign[]> {
  const within = createdWithin(times);
  return tables<CampaignTables>(db)
    .selectFrom('campaigns')
    .select(listed)
    .where('organization_id', '=', organizationId)
    .$if(within !== undefined, (query) => query.where(within ?? sql<SqlBool>`true`))
    .orderBy('id', 'desc')
    .limit(limit)
    .offset((page - 1) * limit)
    .execute();
}

export const newestCampaignNames = own.all((db, organizationId: string, limit: number) =>
  db
    .selectFrom('campaigns')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .orderBy('id', 'desc')
    .limit(limit),
);

/** Returns ids and names of the campaigns of the organization with an id in `ids`. */
export const findCampaignNames = own.all((db, organizationId: string, ids: readonly string[]) =>
  db
    .selectFrom('campaigns')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .where('id', ...isOneOf(db, ids)),
);
