// Hooks of groups of contacts.
import type { Db } from '../../../platform/store/db.ts';

declare module '../../../core/app.ts' {
  interface Hooks {
    /** Returns the campaigns of the organization among these ids. */
    readonly findKnownCampaigns: (
      db: Db,
      organizationId: string,
      ids: readonly string[],
    ) => Promise<string[]>;
  }
}
