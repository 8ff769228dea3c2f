// The ledger of a run: each contact that it has judged, with the fate of the message.
import { type CursorPage, cutPage, readCursor } from '../../core/api/cursor.ts';
import { searchInTime } from '../../core/api/filtered-page.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { findMessageStatuses, isMessageIn } from '../../outbound/messages/queries.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import { createdWithin } from '../../platform/store/rows/rows.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { selectRecipients } from '../../run-ledger/list-queries.ts';
import type { RecipientRow } from '../../run-ledger/queries.ts';
import type { ListRecipients, RunRecipient } from './run-schema.ts';
import { getRunState, type RunPlace } from './runs.ts';

async function presentRecipients(db: Db, rows: readonly RecipientRow[]): Promise<RunRecipient[]> {
  const ids = rows.flatMap(({ message_id }) => message_id ?? []);
  const found = ids.length === 0 ? [] : await findMessageStatuses(db, ids);
  const statuses = new Map(found.map(({ id, status }) => [id, status]));
  return rows.map((row) => ({
    contactId: row.contact_id,
    outcome: row.outcome,
    reason: row.reason,
    messageId: row.message_id,
    status: statuses.get(row.message_id ?? '') ?? null,
    openedAt: isoTime(row.opened_at),
    clickedAt: isoTime(row.clicked_at),
    createdAt: isoTime(row.created_at),
  }));
}

/**
 * Lists a page of the contacts that a run has judged, in the order of their ids.
 * @throws ResourceNotFoundError; ValidationError for a cursor of a different list, or a filter that
 * matches too slowly.
 */
export async function listRecipients(
  app: App,
  caller: Caller,
  place: RunPlace,
  { outcome, reason, status, limit, cursor, ...times }: ListRecipients,
): Promise<CursorPage<RunRecipient>> {
  const { db } = app.store;
  const { id } = await getRunState(db, caller, place);
  const { from, to } = boundsOf(times);
  const scope = ['recipients', id, outcome, reason, status, from, to];
  const after = cursor === undefined ? undefined : readCursor(scope, cursor).id;
  const where = status && isMessageIn('campaign_recipients.message_id', status);
  const filter = { outcome, reason, where, within: createdWithin(times) };
  const field = status ? 'status' : reason === undefined ? 'outcome' : 'reason';
  const rows = await searchInTime(app.store, caller.organizationId, field, (aside) =>
    selectRecipients(aside, id, filter, { after, limit: limit + 1 }),
  );
  const { shown, nextCursor } = cutPage(scope, rows, limit, ({ contact_id: id }) => ({
    at: 0,
    id,
  }));
  return { items: await presentRecipients(db, shown), nextCursor };
}
