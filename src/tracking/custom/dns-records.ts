// What the records of a domain show of its tracking host (`purpose: tracking`), for the room of domains,
// which stands before this one.
import type { FindTrackingRecords, TrackingRecord } from '../../app.ts';
import { findHostsOfDomains, type ShownHost } from './queries.ts';
import { recordsOf } from './target.ts';

/** Until it was found, a host is `pending` or `verifying` (turn.ts). */
function statusOf({ missing_since, status }: ShownHost): TrackingRecord['status'] {
  if (missing_since !== null) return 'missing';
  return status === 'pending' || status === 'verifying' ? 'pending' : 'valid';
}

/** Those of hosts that are enabled: the one that links lead by, and the one of challenges where it is needed. */
export const findTrackingRecords: FindTrackingRecords = async ({ config }, db, domainIds) => {
  const hosts = await findHostsOfDomains(db, domainIds);
  return new Map(
    hosts.map((host) => {
      const status = statusOf(host);
      const error = status === 'missing' ? host.reason_message : null;
      const { tracking, dcvDelegation } = recordsOf(config, host);
      const records: TrackingRecord[] = [{ ...tracking, status, error }];
      // That it is there shows in the certificate.
      const answered = host.status === 'active' ? 'valid' : 'pending';
      if (dcvDelegation.required) records.push({ ...dcvDelegation, status: answered, error: null });
      return [host.domain_id, records];
    }),
  );
};
