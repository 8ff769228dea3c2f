// Hook by which scheduled mail of a member is checked like scheduled mail of a key.
import type { Caller } from '../../core/api/route.ts';
import type { Db } from '../../platform/store/db.ts';

declare module '../../core/app.ts' {
  interface Hooks {
    /** Returns the callers of active members, by the id of the member. */
    readonly standingMembers: (db: Db, ids: readonly string[]) => Promise<Map<string, Caller>>;
  }
}
