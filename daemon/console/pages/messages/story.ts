// The story of a message: the steps of the timeline as sentences, repeated steps joined, and the
// planned steps at the end.
import type { RecipientExplanation } from '../../../../src/outbound/explain/schema.ts';
import { captorOf } from '../../../../src/outbound/messages/captured.ts';
import type { Delivery, Message, TimelineEvent } from '../../../../src/outbound/messages/schema.ts';
import { blockBecause, causeOf, delayOf, domainOf } from '../causes.ts';
import type { When } from './verdict.ts';

export interface Step {
  /** Class of the step: `next` for a planned step, empty for a step without trouble. */
  tone: '' | 'warn' | 'next';
  sentence: string;
  below: string;
  /** Reply of the remote server, or details; null without both. */
  said: string | null;
}

type Told = Pick<
  Message,
  'direction' | 'origin' | 'campaignRunId' | 'from' | 'createdAt' | 'resendOf' | 'recipients'
>;

interface Parts {
  message: Told;
  steps: readonly TimelineEvent[];
  recipients: readonly Pick<RecipientExplanation, 'email' | 'nextAt' | 'waitReason'>[];
  deliveries: readonly Pick<Delivery, 'metadata' | 'scheduling'>[];
}

const handedIn: Readonly<Record<string, string>> = {
  api: 'It was handed in by API.',
  command: 'It was handed in by a command.',
  smtp: 'It was handed in over SMTP.',
  sendmail: 'It was handed in by a program of this machine.',
  service: 'The service wrote it.',
};

function beginning({ origin, campaignRunId, resendOf }: Told): string {
  if (campaignRunId !== null) return 'A campaign made it.';
  if (resendOf !== null) return 'It was sent again, as a new message.';
  return handedIn[origin?.via ?? ''] ?? 'It was handed in.';
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);

/** Steps that say nothing to a person: they only move the message in the queue. */
const unsaid = new Set(['queued', 'processing']);

function sentenceOf({ message, deliveries }: Parts, step: TimelineEvent): string {
  const { eventType, metadata } = step;
  const email = text(metadata['recipient']) ?? message.recipients[0]?.email ?? '';
  const code = text(metadata['errorCode']);
  const host = domainOf(email);
  switch (eventType) {
    case 'accepted':
      return beginning(message);
    case 'scheduled':
      return `${beginning(message)} It leaves later.`;
    case 'deferred':
      return `It was put off: ${delayOf(code, email)}.`;
    case 'sent':
      return `${host} accepted it.`;
    case 'delivered':
      return deliveries.some(captorOf)
        ? 'It was captured: it did not leave this machine.'
        : `It arrived at ${host}.`;
    case 'opened':
      return 'It was opened.';
    case 'clicked':
      return 'A link was followed.';
    case 'bounced':
      return `${host} refused it: ${causeOf(code, email)}.`;
    case 'complained':
      return 'The recipient reported it as spam.';
    case 'unsubscribed':
      return 'The recipient left this kind of mail.';
    case 'cancelled':
      return 'It was cancelled.';
    case 'failed':
      return notSent(code, email, metadata['reason']);
    default:
      return `${eventType}.`;
  }
}

function notSent(code: string | null, email: string, reason: unknown): string {
  if (code !== 'suppressed') return `It was given up: ${causeOf(code, email)}.`;
  const because = blockBecause(reason);
  return `It was not sent: the address is blocked${because === null ? '' : `, because ${because}`}.`;
}

/** Returns the sentence about `count` repetitions of a step. */
function repeated(eventType: string, count: number): string {
  const times = count === 1 ? 'once more' : `${count} more times`;
  if (eventType === 'opened') return `It was opened ${times}.`;
  if (eventType === 'clicked') return `Links were followed ${times}.`;
  return count === 1 ? 'One more try, put off too.' : `${count} more tries, put off each time.`;
}

function saidIn({ metadata }: TimelineEvent): string | null {
  const code = metadata['code'];
  const words = [typeof code === 'number' ? String(code) : null, text(metadata['enhancedCode'])];
  const reply = [...words, text(metadata['reply'])].filter((one) => one !== null).join(' ');
  return reply === '' ? null : reply;
}

const toneOf = (eventType: string): Step['tone'] =>
  ['deferred', 'bounced', 'failed', 'complained'].includes(eventType) ? 'warn' : '';

const repeatable = new Set(['deferred', 'opened', 'clicked']);

/** Joins steps of one kind and recipient that follow each other. */
function groupsOf(steps: readonly TimelineEvent[]): TimelineEvent[][] {
  const groups: TimelineEvent[][] = [];
  for (const step of steps) {
    const last = groups.at(-1)?.[0];
    const isSame =
      last?.eventType === step.eventType &&
      last.metadata['recipient'] === step.metadata['recipient'] &&
      repeatable.has(step.eventType);
    if (isSame) groups.at(-1)?.push(step);
    else groups.push([step]);
  }
  return groups;
}

/** Leaves out steps of the queue, and `sent` where `delivered` follows at once. */
function worthSaying(steps: readonly TimelineEvent[]): TimelineEvent[] {
  const arrived = new Set(
    steps.flatMap(({ eventType, metadata, timestamp }) =>
      eventType === 'delivered' ? [`${String(metadata['recipient'])} ${timestamp}`] : [],
    ),
  );
  return steps.filter(({ eventType, metadata, timestamp }) => {
    const isTwice =
      eventType === 'sent' && arrived.has(`${String(metadata['recipient'])} ${timestamp}`);
    return !isTwice && !unsaid.has(eventType);
  });
}

function belowOf({ message }: Parts, step: TimelineEvent, when: When): string {
  const { eventType, metadata, timestamp } = step;
  const email = text(metadata['recipient']);
  const isOfMany = message.recipients.length > 1 && email !== null;
  const name = eventType === 'accepted' ? (message.origin?.keyName ?? null) : null;
  return [
    when(timestamp),
    isOfMany ? email : null,
    name === null ? null : `with “${name}”`,
    eventType === 'clicked' ? text(metadata['url']) : null,
  ]
    .filter((one) => one !== null)
    .join(', ');
}

function planned({ recipients, deliveries }: Parts, when: When): Step[] {
  const next = recipients.find(({ nextAt }) => nextAt !== null);
  if (!next?.nextAt) return [];
  const isTry = next.waitReason === 'retry';
  const step = (sentence: string, below: string): Step => ({
    tone: 'next',
    sentence,
    below,
    said: null,
  });
  const expiresAt = deliveries.find(({ scheduling }) => scheduling)?.scheduling?.expiresAt;
  const end = isTry && expiresAt ? [step('Given up, if it is still put off', when(expiresAt))] : [];
  return [step(isTry ? 'Next try' : 'Next step', when(next.nextAt)), ...end];
}

/** Returns the steps of a message as sentences, with the planned steps at the end. */
export function storyOf(parts: Parts, when: When): Step[] {
  const past = groupsOf(worthSaying(parts.steps)).flatMap((group): Step[] => {
    const [first, ...more] = group;
    if (!first) return [];
    const tone = toneOf(first.eventType);
    const one = {
      tone,
      sentence: sentenceOf(parts, first),
      below: belowOf(parts, first, when),
      said: saidIn(first),
    };
    const last = more.at(-1);
    if (!last) return [one];
    const lines = more.map(
      (step) => `${when(step.timestamp)}  ${saidIn(step) ?? text(step.metadata['url']) ?? ''}`,
    );
    const below = more.length === 1 ? when(last.timestamp) : `the last one ${when(last.timestamp)}`;
    return [
      one,
      { tone, sentence: repeated(first.eventType, more.length), below, said: lines.join('\n') },
    ];
  });
  return [...past, ...planned(parts, when)];
}
