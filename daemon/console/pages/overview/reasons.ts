// Why mail of a period did not arrive: the newest such messages, counted by cause.
import { messageRoutes } from '../../../../src/outbound/messages/routes.ts';
import type { Message } from '../../../../src/outbound/messages/schema.ts';
import type { Asked } from '../../page.ts';
import { causeLabel, domainOf } from '../causes.ts';

export interface Reason {
  code: string;
  label: string;
  count: number;
  /** Domains of the recipients, the most frequent first. */
  domains: readonly { domain: string; count: number }[];
}

export interface Reasons {
  /** The most frequent reason first. */
  items: readonly Reason[];
  /** Number of messages of the period that did not arrive. */
  total: number;
  /** Number of messages whose causes were counted: the newest of each status. */
  counted: number;
}

/** Most messages of each status whose causes are counted. */
const mostCounted = 50;
const undelivered = ['bounced', 'failed'] as const;

/** Returns the counts of values, the most frequent first. */
function ranked(values: readonly string[]): { domain: string; count: number }[] {
  return [...Map.groupBy(values, (value) => value)]
    .map(([domain, { length }]) => ({ domain, count: length }))
    .toSorted((a, b) => b.count - a.count || a.domain.localeCompare(b.domain));
}

/** Counts deliveries that ended without success, by cause. Leaves out cancelled mail. */
export function countReasons(
  messages: readonly Pick<Message, 'recipients' | 'deliveries'>[],
): Reason[] {
  const failed = messages.flatMap(({ recipients, deliveries }) => {
    const emails = new Map(recipients.map(({ id, email }) => [id, email]));
    return deliveries.flatMap(({ status, errorCode, recipientId }) =>
      (status === 'bounced' || status === 'failed') && errorCode !== 'cancelled'
        ? [{ code: errorCode ?? 'unknown', domain: domainOf(emails.get(recipientId ?? '') ?? '') }]
        : [],
    );
  });
  return [...Map.groupBy(failed, ({ code }) => code)]
    .map(([code, found]) => ({
      code,
      label: causeLabel(code),
      count: found.length,
      domains: ranked(found.map(({ domain }) => domain)),
    }))
    .toSorted((a, b) => b.count - a.count);
}

/** Asks for the newest undelivered messages from `startDate` on, and counts their causes. */
export async function reasonsSince(
  { ask }: Pick<Asked, 'ask'>,
  startDate: string,
): Promise<Reasons> {
  const pages = await Promise.all(
    undelivered.map((status) =>
      ask(messageRoutes.list, {
        query: { status, direction: 'outbound', startDate, limit: mostCounted },
      }),
    ),
  );
  const messages = pages.flatMap(({ items }) => items);
  return {
    items: countReasons(messages),
    total: pages.reduce((all, { pagination }) => all + pagination.total, 0),
    counted: messages.length,
  };
}
