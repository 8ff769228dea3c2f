// Binds an encrypted certificate key to its host, so that it cannot be moved to the row of another.
import type { TrackingHostRow } from '../queries.ts';

export function keyContext({ id }: Pick<TrackingHostRow, 'id'>): string {
  return `trackingHost:${id}`;
}
