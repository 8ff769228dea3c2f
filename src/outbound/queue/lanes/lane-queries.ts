// All SQL on `lane_states`: a row per daemon, replaced once a second while it works. Decides
// nothing.
import { type Db, engineOf, tables } from '../../../platform/store/db.ts';

export interface LaneStatesRow {
  worker: string;
  reported_at: number;
  /** JSON written by src/outbound/queue/lanes/lane-report.ts. */
  lanes: string;
}

interface LaneTables {
  lane_states: LaneStatesRow;
}

export async function upsertLaneStates(db: Db, row: LaneStatesRow): Promise<void> {
  const { reported_at, lanes } = row;
  await tables<LaneTables>(db)
    .insertInto('lane_states')
    .values(row)
    .onConflict((conflict) => conflict.column('worker').doUpdateSet({ reported_at, lanes }))
    .execute();
}

/** Returns the reports since `since`, in the order of the workers' names. */
export function selectLaneStates(db: Db, since: number): Promise<LaneStatesRow[]> {
  return tables<LaneTables>(db)
    .selectFrom('lane_states')
    .selectAll()
    .where('reported_at', '>=', since)
    .orderBy('worker')
    .execute();
}

/** Deletes reports older than `before`: their daemons ended without removing them. */
export async function deleteLaneStatesBefore(db: Db, before: number): Promise<void> {
  await tables<LaneTables>(db)
    .deleteFrom('lane_states')
    .where('worker', 'in', (eb) =>
      eb
        .selectFrom('lane_states')
        .select('worker')
        .where('reported_at', '<', before)
        // Skips a row that its daemon replaces at this moment.
        .$if(engineOf(db) === 'postgres', (q) => q.forUpdate().skipLocked()),
    )
    .execute();
}

export async function deleteLaneStatesOf(db: Db, worker: string): Promise<void> {
  await tables<LaneTables>(db).deleteFrom('lane_states').where('worker', '=', worker).execute();
}
