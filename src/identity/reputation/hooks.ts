// Hook of the analytics: looks up names of campaigns, templates and senders, because the areas of
// these resources import this area.
import type { Db } from '../../platform/store/db.ts';
import type { Breakdown } from './queries.ts';

declare module '../../core/app.ts' {
  interface Hooks {
    /** Returns the names of the existing resources among these ids of an organization, by id. */
    readonly findNames: (
      db: Db,
      organizationId: string,
      kind: Exclude<Breakdown, 'domain'>,
      ids: readonly string[],
    ) => Promise<Map<string, string>>;
  }
}
