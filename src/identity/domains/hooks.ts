// Hooks of domains: tracking hosts, and claims on the name of a domain.
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';

/** A DNS record that a domain's owner publishes for the tracking host, as of the last check. */
export interface TrackingRecord {
  name: string;
  value: string;
  status: 'pending' | 'valid' | 'missing';
  /** Problem with the record, in words. */
  error: string | null;
}

/** Returns the DNS records of the tracking hosts of these domains, by domain id. */
export type FindTrackingRecords = (
  app: App,
  db: Db,
  domainIds: readonly string[],
) => Promise<ReadonlyMap<string, readonly TrackingRecord[]>>;

/** A name that an organization has verified. */
interface OwnedName {
  domain: string;
  organizationId: string;
  /** Ids of the registrations of the name by all further organizations, former owners or not. */
  formerIds: readonly string[];
}

/**
 * Deletes the claims of former organizations on a name, in separate transactions. A second call
 * changes nothing.
 */
export type ReleaseName = (app: App, name: OwnedName) => Promise<void>;

declare module '../../core/app.ts' {
  interface Hooks {
    readonly findTrackingRecords: FindTrackingRecords;
    readonly nameReleases: readonly ReleaseName[];
  }
}
