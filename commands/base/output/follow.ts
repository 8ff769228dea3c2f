// Follows a message until sending it has ended (`messages send --wait`). Every commit to the store,
// including the daemon's, causes a new read. Describes each step of each recipient in a line.
import { timeInWords } from '../../../src/outbound/explain/time-words.ts';
import type { Delivery, Message } from '../../../src/outbound/messages/schema.ts';
import type { Session } from '../asking.ts';
import { readUntil } from '../keep-alive.ts';
import { plainText } from './format.ts';

export interface FollowOptions {
  /** Longest wait in milliseconds; undefined for no limit. */
  timeoutMs: number | undefined;
  /** Called with the message after each read. */
  onRead(message: Message): void;
}

/** Statuses that end sending. Later outcomes (a late bounce, an open) can take weeks. */
export const settledStatuses: readonly string[] = [
  'sent',
  'delivered',
  'read',
  'failed',
  'bounced',
  'complained',
];

/** Reads the message until it is settled or the time is over. Returns the last state. */
export function followMessage(
  session: Session,
  read: () => Promise<Message>,
  { timeoutMs, onRead }: FollowOptions,
): Promise<Message> {
  const wait = {
    timeoutMs: timeoutMs ?? Number.POSITIVE_INFINITY,
    isEnough: ({ status }: Message) => settledStatuses.includes(status),
  };
  return readUntil(session, wait, async () => {
    const message = await read();
    onRead(message);
    return message;
  });
}

/** Returns the server's reply to the last attempt; without a reply, the error, or an empty text. */
function saidWords({ attempts, errorMessage }: Delivery): string {
  const last = attempts.at(-1);
  if (!last) return errorMessage ?? '';
  const words = [last.code, last.enhancedCode, last.reply].filter((part) => part !== null);
  return last.host === null ? (errorMessage ?? '') : `${last.host} said ${words.join(' ')}`;
}

/**
 * Describes a delivery in a single line: the status, the reply of the remote server, and the next
 * step.
 */
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
  const { waitReason = null, dueAt = null, hold = null } = scheduling ?? {};
  if (hold) return `held by the operator: ${hold.reason ?? hold.id}; lift it with ${hold.release}`;
  if (waitReason === null || dueAt === null) return status;
  return `waits: ${waitReason}, until ${timeInWords(Date.parse(dueAt), now)}`;
}

/**
 * Returns a function that returns the new lines of a message: `{address}  {state}`. It omits lines
 * that it has returned before.
 */
export function recipientLines(): (message: Message, now: number) => string[] {
  const given = new Map<string, string>();
  return ({ recipients, deliveries }, now) =>
    recipients.flatMap(({ id, email }) => {
      const delivery = deliveries.find(({ recipientId }) => recipientId === id);
      if (!delivery) return [];
      // The key excludes the relative time: "in 4 min" would change each minute.
      const key = `${delivery.status} ${delivery.attempts.length} ${delivery.nextRetryAt}`;
      const step = `${key} ${delivery.scheduling?.waitReason} ${delivery.scheduling?.hold?.id}`;
      if (given.get(id) === step) return [];
      given.set(id, step);
      return [
        plainText(`${email}  ${standingOf(delivery, now)}`.replaceAll(/(?<!\s)\s*\n\s*/g, ' ')),
      ];
    });
}
