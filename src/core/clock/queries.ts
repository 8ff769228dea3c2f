// All SQL on `clock_state`, a table of a single row.
import { sql } from 'kysely';
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export interface ClockStateRow {
  /** Time of the last heartbeat of any daemon; 0 before the first. */
  beat_at: number;
  /**
   * Milliseconds since the last jump for which wall and steady time agreed, as heartbeats counted.
   */
  agreed_ms: number;
  /** Time right after the last jump; null without a jump. */
  jumped_at: number | null;
  jump_ms: number | null;
  /** Earliest time after a jump back: rows with later times may be younger than they seem. */
  behind_from: number | null;
}

interface ClockTables {
  clock_state: ClockStateRow;
}

const own = ownTables<ClockTables>();

export const findClockState = own.first((db) => db.selectFrom('clock_state').selectAll());

/**
 * Stores a heartbeat, and adds the time since the last heartbeat to `agreed_ms`: at most `mostMs`.
 */
export async function storeBeat(db: Db, now: number, mostMs: number): Promise<void> {
  const added = sql<number>`case when beat_at > ${now} then 0
    when ${now} - beat_at > ${mostMs} then ${mostMs} else ${now} - beat_at end`;
  await tables<ClockTables>(db)
    .updateTable('clock_state')
    .set({ beat_at: now, agreed_ms: sql<number>`agreed_ms + ${added}` })
    .execute();
}

/** Records a jump, after which agreement is counted from zero. */
export const storeJump = own.run(
  (db, jump: { now: number; jumpMs: number; behindFrom: number | null }) =>
    db.updateTable('clock_state').set({
      beat_at: jump.now,
      agreed_ms: 0,
      jumped_at: jump.now,
      jump_ms: jump.jumpMs,
      behind_from: jump.behindFrom,
    }),
);
