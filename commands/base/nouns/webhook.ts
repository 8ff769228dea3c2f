// Shared parts of the commands on webhooks: events and headers as flags, the view of a delivery.
import { Flags } from '@oclif/core';
import type { WebhookDeliveryWithAttempts } from '../../../src/webhooks/schema.ts';
import { given } from '../input/body.ts';
import { UsageError } from '../output/failure.ts';

export const settingFlags = {
  event: Flags.string({
    description: 'Kinds of events, separated by commas, such as message.*; may be repeated',
    helpValue: 'KIND',
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
  }),
  header: Flags.string({
    description: 'Header field to add to each post; may be repeated',
    helpValue: 'NAME:VALUE',
    multiple: true,
    multipleNonGreedy: true,
  }),
};

function headerOf(text: string): [string, string] {
  const at = text.indexOf(':');
  if (at < 1) throw new UsageError(`--header: expected NAME:VALUE, not "${text}"`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

/** Builds the parts of the body that single flags cannot express. @throws UsageError */
export function settingsOf(flags: Record<string, unknown>): object {
  const headers = flags.header as string[] | undefined;
  return given({ headers: headers && Object.fromEntries(headers.map(headerOf)) });
}

const deliveryCard = [
  ...['id', 'eventType', 'status', 'attemptCount', 'nextAttemptAt', 'createdAt', 'eventId'],
  ...['lastAttemptAt', 'lastError'],
];
const attemptColumns = ['at', 'trigger', 'outcome', 'statusCode', 'errorClass', 'durationMs'];

/** Renders a delivery with the attempts. */
export async function deliveryText(delivery: WebhookDeliveryWithAttempts): Promise<string> {
  const { card, table } = await import('../output/format.ts');
  const shown = card(delivery, deliveryCard);
  if (delivery.attempts.length === 0) return `${shown}\n\nNo attempts yet.`;
  return `${shown}\n\n${table(delivery.attempts, attemptColumns)}`;
}
