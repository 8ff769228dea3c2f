// Following a message until its work has ended (`messages send --wait`): woken by every commit to
// the store, the daemon's included. A line for each step of each recipient.
import type { App } from '../../src/core/app.ts';
import { timeInWords } from '../../src/outbound/explain/time-words.ts';
import type { Delivery, Message } from '../../src/outbound/messages/schema.ts';
import { plainText } from './format.ts';
import { readUntil } from './keep-alive.ts';

export interface FollowOptions {
  /** Longest wait in milliseconds; none: for ever. */
  timeoutMs: number | undefined;
  /** Called with the message as first read, and whenever it was read again. */
  onRead(message: Message): void;
}

/** Statuses at which sending is over; later outcomes (a late bounce, an opening) can take weeks. */
export const settledStatuses: readonly string[] = [
  'sent',
  'delivered',
  'read',
  'failed',
  'bounced',
  'complained',
];

/** Reads the message until it is settled or the time is over; returns it as last seen. */
export function followMessage(
  app: App,
  read: () => Promise<Message>,
  { timeoutMs, onRead }: FollowOptions,
): Promise<Message> {
  const wait = {
    timeoutMs: timeoutMs ?? Number.POSITIVE_INFINITY,
    isEnough: ({ status }: Message) => settledStatuses.includes(status),
  };
  return readUntil(app, wait, async () => {
    const message = await read();
    onRead(message);
    return message;
  });
}

/** Returns the reply of the last attempt and its server; empty without an answer. */
function saidWords({ attempts, errorMessage }: Delivery): string {
  const last = attempts.at(-1);
  if (!last) return errorMessage ?? '';
  const words = [last.code, last.enhancedCode, last.reply].filter((part) => part !== null);
  return last.host === null ? (errorMessage ?? '') : `${last.host} said ${words.join(' ')}`;
}

/** Describes a delivery in one line: its status, the words of the other server, and the next step. */
export function standingOf(delivery: Delivery, now: number): string {
  const { status, metadata, attempts, nextRetryAt, scheduling, attemptCount } = delivery;
  if (metadata) return `captured by ${metadata.captured.by}: nothing left this machine`;
  const said = saidWords(delivery);
  const withWords = (state: string) => (said === '' ? state : `${state}: ${said}`);
  if (settledStatuses.includes(status)) return withWords(status);
  if (attempts.at(-1)?.outcome === 'deferred' && nextRetryAt !== null) {
    const next = timeInWords(Date.parse(nextRetryAt), now);
    return `${withWords('deferred')}; attempt ${attemptCount + 1} follows ${next}`;
  }
  const { waitReason = null, dueAt = null } = scheduling ?? {};
  if (waitReason === null || dueAt === null) return status;
  return `waits: ${waitReason}, until ${timeInWords(Date.parse(dueAt), now)}`;
}

/** Gives the lines of a message that were not given before: `{address}  {how it stands}`. */
export function recipientLines(): (message: Message, now: number) => string[] {
  const given = new Map<string, string>();
  return ({ recipients, deliveries }, now) =>
    recipients.flatMap(({ id, email }) => {
      const delivery = deliveries.find(({ recipientId }) => recipientId === id);
      if (!delivery) return [];
      // "In 4 min" would be another line a minute later.
      const key = `${delivery.status} ${delivery.attempts.length} ${delivery.nextRetryAt}`;
      const step = `${key} ${delivery.scheduling?.waitReason}`;
      if (given.get(id) === step) return [];
      given.set(id, step);
      return [plainText(`${email}  ${standingOf(delivery, now)}`.replaceAll(/\s*\n\s*/g, ' '))];
    });
}
