// All SQL on `content_links`, `content_cuts` and `engagements`. Rows only, no decisions.
import type { Kysely } from 'kysely';
import {
  bulkInsert,
  type Db,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
} from '../../platform/store/db.ts';

export interface ContentLinkRow {
  content_id: string;
  /** Number of the link, from 1. */
  link: number;
  url: string;
}

export interface ContentCutsRow {
  content_id: string;
  /** JSON of `Cuts` (src/outbound/tracking/links.ts). */
  cuts: string;
}

export interface EngagementRow {
  message_id: string;
  delivery_id: string;
  /** Time of the first open by a person after the delivery arrived. */
  opened_at: number | null;
  clicked_at: number | null;
  /** All opens by persons, with repeats. */
  opens: number;
  clicks: number;
  /** All opens and clicks by machines. */
  automated: number;
  /** JSON: time of the last event by link (src/outbound/tracking/engage.ts). */
  told: string;
  /** Number of events that were recorded. */
  told_count: number;
}

interface TrackingTables {
  content_links: ContentLinkRow;
  content_cuts: ContentCutsRow;
  engagements: EngagementRow;
}

export const insertContentLinks = bulkInsert<TrackingTables>('content_links', [
  'content_id',
  'link',
  'url',
]);
export const insertContentCuts = bulkInsert<TrackingTables>('content_cuts', ['content_id', 'cuts']);

const selectCuts = statement(
  (db: Kysely<TrackingTables>, parameter: ParameterOf<{ ids: unknown }>) =>
    db
      .selectFrom('content_cuts')
      .selectAll()
      .where(isOneOf(db, 'content_id', parameter('ids'))),
);

export function findContentCuts(db: Db, contentIds: readonly string[]): Promise<ContentCutsRow[]> {
  return selectCuts(db, { ids: idList(db, contentIds) });
}

type LinkName = { contentId: string; link: number };

const selectUrl = statement((db: Kysely<TrackingTables>, parameter: ParameterOf<LinkName>) =>
  db
    .selectFrom('content_links')
    .select('url')
    .where('content_id', '=', parameter('contentId'))
    .where('link', '=', parameter('link')),
);

/** Finds the target of a link. */
export async function findLinkUrl(
  db: Db,
  contentId: string,
  link: number,
): Promise<string | undefined> {
  return (await selectUrl(db, { contentId, link }))[0]?.url;
}

const selectEngagements = statement(
  (db: Kysely<TrackingTables>, parameter: ParameterOf<{ ids: unknown }>) =>
    db
      .selectFrom('engagements')
      .selectAll()
      .where(isOneOf(db, 'message_id', parameter('ids'))),
);

/** Finds all engagements of these messages. A caller that changes one must lock its delivery. */
export function findEngagements(db: Db, messageIds: readonly string[]): Promise<EngagementRow[]> {
  return selectEngagements(db, { ids: idList(db, messageIds) });
}

const upsert = statement((db: Kysely<TrackingTables>, parameter: ParameterOf<EngagementRow>) => {
  const values = {
    opened_at: parameter('opened_at'),
    clicked_at: parameter('clicked_at'),
    opens: parameter('opens'),
    clicks: parameter('clicks'),
    automated: parameter('automated'),
    told: parameter('told'),
    told_count: parameter('told_count'),
  };
  return db
    .insertInto('engagements')
    .values({
      message_id: parameter('message_id'),
      delivery_id: parameter('delivery_id'),
      ...values,
    })
    .onConflict((conflict) =>
      conflict.columns(['message_id', 'delivery_id']).doUpdateSet((eb) => ({
        opened_at: eb.ref('excluded.opened_at'),
        clicked_at: eb.ref('excluded.clicked_at'),
        opens: eb.ref('excluded.opens'),
        clicks: eb.ref('excluded.clicks'),
        automated: eb.ref('excluded.automated'),
        told: eb.ref('excluded.told'),
        told_count: eb.ref('excluded.told_count'),
      })),
    );
});

/** Hot. Writes rows. Their deliveries are locked, so the order of the rows does not matter. */
export async function upsertEngagements(db: Db, rows: readonly EngagementRow[]): Promise<void> {
  for (const row of rows) await upsert(db, row);
}
