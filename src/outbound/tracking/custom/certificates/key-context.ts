// Binds an encrypted certificate key to a host, so that it cannot be copied to a different host's
// row.
import type { TrackingHostRow } from '../queries.ts';

export function keyContext({ id }: Pick<TrackingHostRow, 'id'>): string {
  return `trackingHost:${id}`;
}
