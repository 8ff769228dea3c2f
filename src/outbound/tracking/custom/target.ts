// Targets of the DNS records of a tracking host: the public name of this service, and for
// challenges by DNS the zone that the service's name server serves.
import { isIP } from 'node:net';
import type { Config } from '../../../core/config/config.ts';
import type { TrackingHostRow } from './queries.ts';

/** Returns the host of a URL in lower case. Null without a URL, and for an IP address. */
function nameIn(url: string | null): string | null {
  if (url === null) return null;
  const { hostname } = new URL(url);
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0 ? hostname : null;
}

/**
 * Returns the name that tracking hosts point to. It must be a name, because a CNAME cannot point to
 * an address.
 */
export function trackingTarget({ tracking, http, delivery }: Config): string {
  return nameIn(tracking.publicUrl) ?? nameIn(http.publicUrl) ?? delivery.hostname.toLowerCase();
}

/**
 * Returns the zone to which challenges are delegated. The service answers for the zone at
 * `tracking.acme.dns`.
 */
export function challengeZone(config: Config): string {
  return `dcv.${trackingTarget(config)}`;
}

/** Returns the name in the challenge zone that answers for a host. */
export function challengeName(config: Config, { id }: Pick<TrackingHostRow, 'id'>): string {
  return `${id.slice(id.indexOf('_') + 1)}.${challengeZone(config)}`;
}

/** Returns the records that the owner of the domain publishes. */
export function recordsOf(config: Config, row: Pick<TrackingHostRow, 'id' | 'hostname'>) {
  const { enabled, challenge } = config.tracking.acme;
  return {
    tracking: {
      name: row.hostname,
      type: 'CNAME',
      value: trackingTarget(config),
      required: true,
    },
    dcvDelegation: {
      name: `_acme-challenge.${row.hostname}`,
      type: 'CNAME',
      value: challengeName(config, row),
      required: enabled && challenge === 'dns-01',
    },
  };
}
