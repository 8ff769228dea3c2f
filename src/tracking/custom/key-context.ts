// What the keys of certificates are encrypted for: they cannot be moved to the row of another host.
import type { TrackingHostRow } from './queries.ts';

export function keyContext({ id }: Pick<TrackingHostRow, 'id'>): string {
  return `trackingHost:${id}`;
}
