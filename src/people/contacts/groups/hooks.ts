// Hook by which contact groups read campaigns, because campaigns import contact groups.
import type { Db } from '../../../platform/store/db.ts';

declare module '../../../core/app.ts' {
  interface Hooks {
    /** Returns the ids, among `ids`, of campaigns of the organization. */
    readonly findKnownCampaigns: (
      db: Db,
      organizationId: string,
      ids: readonly string[],
    ) => Promise<string[]>;
  }
}
