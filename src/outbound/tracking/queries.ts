// All SQL on `content_links`, `content_cuts` and `engagements`. Rows only, no decisions.
import { sql } from 'kysely';
import { type Db, isOneOf } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

class ContentLinkRow {
  content_id!: string;
  /** Number of the link, from 1. */
  link!: number;
  url!: string;
}

class ContentCutsRow {
  content_id!: string;
  /** JSON of `Cuts` (src/outbound/tracking/links.ts). */
  cuts!: string;
}

export interface EngagementRow {
  message_id: string;
  delivery_id: string;
  /** Time of the first open by a person while the delivery was sent or had arrived; else null. */
  opened_at: number | null;
  clicked_at: number | null;
  /** Number of all opens by persons, including repeats. */
  opens: number;
  clicks: number;
  /** Number of all opens and clicks by programs. */
  automated: number;
  /** JSON: time of the last event by link (src/outbound/tracking/engage.ts). */
  recorded: string;
  /** Number of opens and clicks that became events; engage.ts limits it. */
  recorded_count: number;
}

interface TrackingTables {
  content_links: ContentLinkRow;
  content_cuts: ContentCutsRow;
  engagements: EngagementRow;
}

const own = ownTables<TrackingTables>();

export const insertContentLinks = own.bulkInsert('content_links', ContentLinkRow);
export const insertContentCuts = own.bulkInsert('content_cuts', ContentCutsRow);

export const findContentCuts = own.all((db, contentIds: readonly string[]) =>
  db
    .selectFrom('content_cuts')
    .selectAll()
    .where('content_id', ...isOneOf(db, contentIds)),
);

/** Tells whether a content has stored links. */
export const hasLinks = own.first(
  (db, contentId: string) =>
    db.selectFrom('content_links').select('link').where('content_id', '=', contentId).limit(1),
  (row) => row !== undefined,
);

/** Copies the links of a content to a second content, unless that content has them. */
export const copyLinks = own.run((db, from: string, to: string) =>
  db
    .insertInto('content_links')
    .columns(['content_id', 'link', 'url'])
    .expression((rows) =>
      rows
        .selectFrom('content_links')
        .select([sql<string>`${to}`.as('content_id'), 'link', 'url'])
        .where('content_id', '=', from),
    )
    .onConflict((conflict) => conflict.columns(['content_id', 'link']).doNothing()),
);

/** Finds the targets of the links of a content, in the order of their numbers. */
export const findContentUrls = own.all((db, contentId: string) =>
  db.selectFrom('content_links').select('url').where('content_id', '=', contentId).orderBy('link'),
);

/** Finds the target of a link; undefined if the content has no stored link with this number. */
export const findLinkUrl = own.first(
  (db, contentId: string, link: number) =>
    db
      .selectFrom('content_links')
      .select('url')
      .where('content_id', '=', contentId)
      .where('link', '=', link),
  (row) => row?.url,
);

/**
 * Finds all engagements of these messages. A caller that changes an engagement must lock the
 * delivery.
 */
export const findEngagements = own.all((db, messageIds: readonly string[]) =>
  db
    .selectFrom('engagements')
    .selectAll()
    .where('message_id', ...isOneOf(db, messageIds)),
);

const upsert = own.run((db, row: EngagementRow) => {
  const values = {
    opened_at: row.opened_at,
    clicked_at: row.clicked_at,
    opens: row.opens,
    clicks: row.clicks,
    automated: row.automated,
    recorded: row.recorded,
    recorded_count: row.recorded_count,
  };
  return db
    .insertInto('engagements')
    .values({
      message_id: row.message_id,
      delivery_id: row.delivery_id,
      ...values,
    })
    .onConflict((conflict) =>
      conflict.columns(['message_id', 'delivery_id']).doUpdateSet((eb) => ({
        opened_at: eb.ref('excluded.opened_at'),
        clicked_at: eb.ref('excluded.clicked_at'),
        opens: eb.ref('excluded.opens'),
        clicks: eb.ref('excluded.clicks'),
        automated: eb.ref('excluded.automated'),
        recorded: eb.ref('excluded.recorded'),
        recorded_count: eb.ref('excluded.recorded_count'),
      })),
    );
});

/** Writes rows in any order, because the caller has locked their deliveries. Hot. */
export async function upsertEngagements(db: Db, rows: readonly EngagementRow[]): Promise<void> {
  for (const row of rows) await upsert(db, row);
}
