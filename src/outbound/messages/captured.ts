// Words for mail that stayed on this machine. The API has the status `delivered`; the console,
// explanations and commands show `captured` to people.
import type { Attempt, Delivery, Message } from './schema.ts';

type Fate = Pick<Delivery, 'status' | 'metadata'>;

/**
 * Returns the configuration key that kept the mail on this machine; undefined if it was sent, or
 * may still be.
 */
export function captorOf({ metadata }: Pick<Fate, 'metadata'>): string | undefined {
  return metadata?.captured.by;
}

/** Returns the metadata of a delivery with these attempts, oldest first. */
export function metadataOf(attempts: readonly Attempt[]): Fate['metadata'] {
  const by = attempts.at(-1)?.capturedBy;
  return by === undefined ? null : { captured: { by } };
}

/** Returns the status to show: `captured` instead of `delivered` if the mail stayed here. */
export function shownStatus(delivery: Fate): string {
  return delivery.status === 'delivered' && captorOf(delivery) ? 'captured' : delivery.status;
}

/** Returns the status of a message to show; `partly captured` if some of the mail left. */
export function shownStatusOfAll(status: Message['status'], deliveries: readonly Fate[]): string {
  const captured = deliveries.filter((one) => shownStatus(one) === 'captured').length;
  if (status !== 'delivered' || captured === 0) return status;
  return captured === deliveries.length ? 'captured' : 'partly captured';
}
