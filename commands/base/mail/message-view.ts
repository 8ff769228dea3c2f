// Shows a message to people. Mail that stayed on this machine has the status `captured` instead of
// `delivered`, with the reason.
import {
  captorOf,
  shownStatus,
  shownStatusOfAll,
} from '../../../src/outbound/messages/captured.ts';
import type { Delivery, Message } from '../../../src/outbound/messages/schema.ts';
import type { CommonFlags } from '../command.ts';
import { print } from '../output/output.ts';

type Fate = Pick<Delivery, 'status' | 'metadata'>;

/** Returns the message with displayed statuses; `partly captured` if some copies were sent. */
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

/** Returns the remote party of the message, with an arrow for the direction. */
export function counterpartOf({ direction, from, recipients }: Message): string {
  if (direction === 'inbound') return `← ${from.email}`;
  const [first, ...others] = recipients;
  return `→ ${first?.email ?? ''}${others.length > 0 ? ` +${others.length}` : ''}`;
}

/** Returns the explanation of `captured` if a delivery has this status; else an empty text. */
export function capturedNote(deliveries: readonly Fate[]): string {
  const keys = new Set(deliveries.flatMap((one) => captorOf(one) ?? []));
  if (keys.size === 0) return '';
  return `captured: kept on this machine by ${[...keys].join(', ')}; nothing was sent.`;
}

/** Renders a card of `fields`, then the explanation of `captured` and a note. */
export async function messageText(
  message: Message,
  fields: readonly string[],
  note = '',
): Promise<string> {
  const { card } = await import('../output/format.ts');
  const parts = [card(shownMessage(message), fields), capturedNote(message.deliveries), note];
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
