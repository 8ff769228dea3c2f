// Shows a message to people, with two more statuses and their reasons: mail that stayed on this
// machine is `captured` instead of `delivered`, and mail of a hold is `held`.
import {
  captorOf,
  shownStatus,
  shownStatusOfAll,
} from '../../../src/outbound/messages/captured.ts';
import type { Delivery, Message } from '../../../src/outbound/messages/schema.ts';
import type { CommonFlags } from '../command.ts';
import { print } from '../output/output.ts';

type Fate = Pick<Delivery, 'status' | 'metadata' | 'scheduling'>;

/** Returns the message with `captured` and `held` among the statuses. */
export function shownMessage(
  message: Message,
): Omit<Message, 'status' | 'recipients'> & { status: string; recipients: object[] } {
  const { deliveries, recipients } = message;
  const byRecipient = new Map(deliveries.map((one) => [one.recipientId, shownStatus(one)]));
  return {
    ...message,
    status: shownStatusOfAll(message.status, deliveries),
    recipients: recipients.map((one) => ({
      ...one,
      status: byRecipient.get(one.id) ?? one.status,
    })),
  };
}

/**
 * Returns an arrow with the sender of received mail; for sent mail with the first recipient, and
 * the number of further recipients.
 */
export function counterpartOf({ direction, from, recipients }: Message): string {
  if (direction === 'inbound') return `← ${from.email}`;
  const [first, ...others] = recipients;
  return `→ ${first?.email ?? ''}${others.length > 0 ? ` +${others.length}` : ''}`;
}

function wordsOnCaptured(deliveries: readonly Fate[]): string {
  const keys = new Set(deliveries.flatMap((one) => captorOf(one) ?? []));
  if (keys.size === 0) return '';
  return `captured: kept on this machine by ${[...keys].join(', ')}; nothing was sent.`;
}

/** Returns a line for each hold: the id, the reason and the command that lifts it. */
function wordsOnHolds(deliveries: readonly Fate[]): string[] {
  const lines = deliveries.flatMap(({ scheduling }) => {
    if (!scheduling?.hold) return [];
    const { id, reason, release } = scheduling.hold;
    return `held: by the operator (${id}), ${reason ?? 'without a reason'}. Release it: ${release}`;
  });
  return [...new Set(lines)];
}

/** Returns the explanations of `captured` and `held`; empty if no delivery has such a status. */
export function fateWords(deliveries: readonly Fate[]): string {
  const lines = [wordsOnCaptured(deliveries), ...wordsOnHolds(deliveries)];
  return lines.filter((line) => line !== '').join('\n');
}

/** Renders a card of `fields`, then the explanations of its statuses and a note. */
export async function messageText(
  message: Message,
  fields: readonly string[],
  note = '',
): Promise<string> {
  const { card } = await import('../output/format.ts');
  const parts = [card(shownMessage(message), fields), fateWords(message.deliveries), note];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Prints `messageText`; with `--json` the message unchanged. */
export function printMessage(
  flags: CommonFlags,
  message: Message,
  fields: readonly string[],
  note = '',
): Promise<void> {
  return print(flags, message, () => messageText(message, fields, note));
}
