// Presents the DNS records of tracking hosts among a domain's records (`purpose: tracking`). The
// code of domains calls it as a hook (src/service/service.ts), because it must not import this
// folder.
import type { FindTrackingRecords, TrackingRecord } from '../../../identity/domains/hooks.ts';
import { findHostsOfDomains, type ShownHost } from './queries.ts';
import { recordsOf } from './target.ts';

/**
 * Returns the status of the CNAME record: `missing` if the last check did not find the record,
 * `pending` until a check has found it.
 */
function statusOf({ missing_since, status }: ShownHost): TrackingRecord['status'] {
  if (missing_since !== null) return 'missing';
  return status === 'pending' || status === 'verifying' ? 'pending' : 'valid';
}

/**
 * Presents the DNS records of enabled hosts by domain id: the record for links, and the record for
 * challenges if it is required.
 */
export const findTrackingRecords: FindTrackingRecords = async ({ config }, db, domainIds) => {
  const hosts = await findHostsOfDomains(db, domainIds);
  return new Map(
    hosts.map((host) => {
      const status = statusOf(host);
      const error = status === 'missing' ? host.reason_message : null;
      const { tracking, dcvDelegation } = recordsOf(config, host);
      const records: TrackingRecord[] = [{ ...tracking, status, error }];
      // An active certificate proves that the delegation works.
      const answered = host.status === 'active' ? 'valid' : 'pending';
      if (dcvDelegation.required) records.push({ ...dcvDelegation, status: answered, error: null });
      return [host.domain_id, records];
    }),
  );
};
