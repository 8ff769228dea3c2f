// Statuses that the console, explanations and commands show to people: mail that stayed on this
// machine is `captured` instead of `delivered`, and mail of a hold is `held`.
import type { Attempt, Delivery, Message } from './schema.ts';

type Fate = Pick<Delivery, 'status' | 'metadata'> & Partial<Pick<Delivery, 'scheduling'>>;

/**
 * Returns the configuration key that kept the mail on this machine; undefined if it was sent, or
 * may still be.
 */
export function captorOf({ metadata }: Pick<Fate, 'metadata'>): string | undefined {
  return metadata?.captured.by;
}

/**
 * Returns the metadata of a delivery: the configuration key that captured the last attempt, or
 * null. `attempts` are oldest first.
 */
export function metadataOf(attempts: readonly Attempt[]): Fate['metadata'] {
  const by = attempts.at(-1)?.capturedBy;
  return by === undefined ? null : { captured: { by } };
}

/**
 * Returns the status to show: `captured` instead of `delivered` if the mail stayed here, and `held`
 * while a hold keeps it.
 */
export function shownStatus(delivery: Fate): string {
  if (delivery.scheduling?.hold) return 'held';
  return delivery.status === 'delivered' && captorOf(delivery) ? 'captured' : delivery.status;
}

/** Returns `status` if all deliveries show it, `partly …` if only some do, else null. */
function wholeOrPart(deliveries: readonly Fate[], status: 'captured' | 'held'): string | null {
  const { length } = deliveries.filter((one) => shownStatus(one) === status);
  if (length === 0) return null;
  return length === deliveries.length ? status : `partly ${status}`;
}

/**
 * Returns the status of a message to show, such as `held`, or `partly captured` if some mail left.
 */
export function shownStatusOfAll(status: Message['status'], deliveries: readonly Fate[]): string {
  const captured = status === 'delivered' ? wholeOrPart(deliveries, 'captured') : null;
  return wholeOrPart(deliveries, 'held') ?? captured ?? status;
}
