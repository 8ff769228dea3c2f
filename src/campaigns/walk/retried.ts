// The contacts of a run that repeats an earlier run: contacts of the earlier run for which no
// message could be made, or with a failed message. Bounced and complained messages did not fail.
import { findMessageRows } from '../../outbound/messages/queries.ts';
import type { Db } from '../../platform/store/db.ts';
import { selectNotSkipped } from '../../run-ledger/walk-queries.ts';

interface Asked {
  after: string | null;
  until: string;
  limit: number;
}

/**
 * Reads a page of the ledger of the repeated run. All failed contacts up to `reached` are in `ids`;
 * it is `until` at the end.
 */
export async function readFailed(
  db: Db,
  runId: string,
  { after, until, limit }: Asked,
): Promise<{ ids: string[]; reached: string }> {
  const rows = await selectNotSkipped(db, runId, { after: after ?? '', until, limit });
  const messageIds = rows.flatMap(({ message_id }) => message_id ?? []);
  const messages = messageIds.length > 0 ? await findMessageRows(db, messageIds) : [];
  const failed = new Set(messages.flatMap(({ id, status }) => (status === 'failed' ? id : [])));
  const found = rows.filter(
    ({ outcome, message_id }) => outcome === 'failed' || failed.has(message_id ?? ''),
  );
  return {
    ids: found.map(({ contact_id }) => contact_id),
    reached: rows.length < limit ? until : (rows.at(-1)?.contact_id ?? until),
  };
}
