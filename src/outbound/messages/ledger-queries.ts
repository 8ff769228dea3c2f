// SQL of rehearsals (src/service/rehearsal): the fate of each recipient, and what holds mail back. They read a whole
// store, so no request may call them.
import { sql } from 'kysely';
import { type Db, tables } from '../../platform/store/db.ts';
import type { DeliveryTables } from '../deliveries/queries.ts';
import type { MessageStatus, WaitReason } from '../deliveries/status.ts';

interface LedgerTables extends DeliveryTables {
  messages: { id: string; subject: string | null; campaign_run_id: string | null };
}

export interface LedgerRow {
  id: string;
  organization_id: string;
  email: string;
  subject: string | null;
  status: MessageStatus;
  created_at: number;
  /** Times in ms since 1970; null for what has not happened. */
  sent_at: number | null;
  terminal_at: number | null;
  due_at: number | null;
  error_message: string | null;
  wait_reason: WaitReason | null;
}

/** Returns the recipients with an id after `after` that were accepted or ended since `from`, or still wait. */
export function selectLedger(
  db: Db,
  { from, after, limit }: { from: number; after: string; limit: number },
): Promise<LedgerRow[]> {
  return tables<LedgerTables>(db)
    .selectFrom('deliveries as d')
    .innerJoin('messages as m', 'm.id', 'd.message_id')
    .select(['d.id', 'd.organization_id', 'd.email', 'm.subject', 'd.status', 'd.created_at'])
    .select(['d.sent_at', 'd.terminal_at', 'd.due_at', 'd.error_message', 'd.wait_reason'])
    .where('d.id', '>', after)
    .where((eb) =>
      eb.or([
        eb('d.created_at', '>=', from),
        eb('d.terminal_at', '>=', from),
        eb('d.terminal_at', 'is', null),
      ]),
    )
    .orderBy('d.id')
    .limit(limit)
    .execute();
}

export interface HeldBack {
  /** First word of the lane (stops.ts), or the wait reason. */
  kind: string;
  until: number | null;
}

/** Returns the stops and limits for which queued mail waits, each with its latest end. */
export async function selectHeldBack(db: Db): Promise<HeldBack[]> {
  const kind = sql<string>`substr(lane, 1, instr(lane, ' ') - 1)`;
  return tables<LedgerTables>(db)
    .selectFrom('deliveries')
    .select([kind.as('kind'), (eb) => eb.fn.max('due_at').as('until')])
    .where('lane', 'is not', null)
    .where('claimed_by', 'is', null)
    .where('turn', 'is', null)
    .groupBy(kind)
    .execute();
}

/** Returns the latest time to which mail of campaigns is put off, by quiet hours; null without any. */
export async function findQuietEnd(db: Db): Promise<number | null> {
  const row = await tables<LedgerTables>(db)
    .selectFrom('deliveries as d')
    .innerJoin('messages as m', 'm.id', 'd.message_id')
    .select('d.due_at')
    .where('d.status', '=', 'scheduled')
    .where('d.turn', 'is', null)
    .where('d.due_at', 'is not', null)
    .where('m.campaign_run_id', 'is not', null)
    .orderBy('d.due_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.due_at ?? null;
}
