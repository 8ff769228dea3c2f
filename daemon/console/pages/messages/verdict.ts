// The verdict on a message: whether it arrived, why it did not, and the next step.
import type {
  MessageExplanation,
  RecipientExplanation,
} from '../../../../src/outbound/explain/schema.ts';
import { captorOf } from '../../../../src/outbound/messages/captured.ts';
import type { Delivery, Message } from '../../../../src/outbound/messages/schema.ts';
import type { Tone } from '../../states.ts';
import { adviceOf, blockBecause, causeOf, delayOf, domainOf, isRecipientsWish } from '../causes.ts';

/** Formats an instant for the middle of a sentence. */
export type When = (at: string) => string;

export interface Verdict {
  tone: Tone;
  sentence: string;
  /** The next step, by the service or by a person; empty if no step follows. */
  next: string;
}

type Sent = Pick<Message, 'direction' | 'tracking' | 'from'>;
type Way = Pick<Delivery, 'metadata' | 'scheduling' | 'deliveredAt' | 'readAt' | 'errorDetails'>;

/** A recipient with the delivery to it. */
interface Fate {
  sent: Sent;
  one: RecipientExplanation;
  way: Way;
  when: When;
}

const wants = 'The recipient wants no more of this mail, and only the recipient can change that.';

/**
 * Reasons for which mail waits without a refusal. `{domain}` is the domain of the recipient,
 * `{sender}` the domain of the sender.
 */
const waits: Readonly<Record<string, string>> = {
  rate: 'many mails leave for {domain} just now',
  'daily-quota': 'the daily limit of the plan is used up',
  'domain-health': 'mail from {sender} is held back, as too much of it bounced or was reported',
  'tenant-health': 'sending is paused',
  'provider-unavailable': '{domain} asked for less mail, or did not answer',
  'campaign-paused': 'its campaign is stopped',
};

/** Returns the reason of a wait, for the middle of a sentence; undefined without a known reason. */
export function whyWaiting(
  reason: string | null,
  { domain, senderDomain }: { domain: string; senderDomain: string },
): string | undefined {
  const why = reason === null ? undefined : waits[reason];
  return why?.replace('{domain}', domain).replace('{sender}', senderDomain);
}

const goesOn: Readonly<Record<string, string>> = {
  'domain-health': 'It leaves once the domain may send again.',
  'tenant-health': 'It leaves once sending continues.',
  'campaign-paused': 'It leaves once the run continues.',
};

function waiting({ sent, one, way, when }: Fate): Verdict {
  const { email, waitReason, nextAt, attempts, errorCode } = one;
  const expiresAt = way.scheduling?.expiresAt ?? null;
  const last = attempts.at(-1);
  const next = nextAt === null ? '' : `The next try is ${when(nextAt)}.`;
  if (last?.outcome === 'deferred' && (waitReason === 'retry' || waitReason === null)) {
    const until = expiresAt === null ? '' : ` until ${when(expiresAt)}`;
    const sentence = `It did not arrive yet: ${delayOf(errorCode, email)}. It is tried again${until}.`;
    return { tone: 'warn', sentence, next };
  }
  if (way.scheduling?.hold) {
    return { tone: 'warn', sentence: 'It waits: it is on hold.', next: one.next ?? '' };
  }
  const domains = { domain: domainOf(email), senderDomain: domainOf(sent.from.email) };
  const because = whyWaiting(waitReason, domains);
  if (waitReason === null || because === undefined) {
    return { tone: 'info', sentence: 'It waits for its turn, and leaves soon.', next };
  }
  const leaves = nextAt === null ? '' : `It leaves by ${when(nextAt)}.`;
  return { tone: 'warn', sentence: `It waits: ${because}.`, next: goesOn[waitReason] ?? leaves };
}

function ended({ one, way, when }: Fate): Verdict {
  const { email, status, errorCode, remedy } = one;
  if (errorCode === 'suppressed') {
    const { reason, blockedSince } = (way.errorDetails ?? {}) as Record<string, unknown>;
    const since = typeof blockedSince === 'string' ? `, since ${when(blockedSince)}` : '';
    const because = blockBecause(reason);
    const sentence = `It was not sent: ${email} is blocked${since}${because === null ? '' : `, because ${because}`}.`;
    return {
      tone: 'bad',
      sentence,
      next: isRecipientsWish(reason) ? wants : adviceOf(errorCode),
    };
  }
  if (errorCode === 'cancelled') {
    return { tone: 'none', sentence: 'It was cancelled before it left.', next: '' };
  }
  const verb = status === 'failed' ? 'It was given up' : 'It did not arrive';
  const sentence = `${verb}: ${causeOf(errorCode, email)}.`;
  return { tone: 'bad', sentence, next: remedy ?? adviceOf(errorCode) };
}

function arrived({ sent, one, way, when }: Fate): Verdict {
  const { status, email } = one;
  const captor = captorOf(way);
  if (captor !== undefined) {
    const sentence = 'It stayed on this machine: here mail is captured, and does not leave.';
    return { tone: 'info', sentence, next: `The setting ${captor} decides it.` };
  }
  if (status === 'read') {
    const at = way.readAt === null ? '' : ` ${when(way.readAt)}`;
    return { tone: 'good', sentence: `It arrived, and was opened${at}.`, next: '' };
  }
  const at = way.deliveredAt === null ? '' : ` ${when(way.deliveredAt)}`;
  const next = sent.tracking.opens ? 'No open was counted yet.' : 'Opens are not counted.';
  return { tone: 'good', sentence: `It arrived at ${domainOf(email)}${at}.`, next };
}

/** Returns the verdict on the delivery to a recipient. */
function verdictOn(fate: Fate): Verdict {
  const { one, when } = fate;
  switch (one.status) {
    case 'scheduled': {
      const at = one.nextAt === null ? 'later' : when(one.nextAt);
      return {
        tone: 'none',
        sentence: `It leaves ${at}.`,
        next: 'It can be cancelled until then.',
      };
    }
    case 'sent': {
      const until =
        one.nextAt === null
          ? ''
          : `It counts as arrived ${when(one.nextAt)}, unless it comes back.`;
      return { tone: 'good', sentence: `${domainOf(one.email)} accepted it.`, next: until };
    }
    case 'delivered':
    case 'read':
      return arrived(fate);
    case 'complained':
      return { tone: 'bad', sentence: 'It arrived, and was reported as spam.', next: wants };
    case 'bounced':
    case 'failed':
      return ended(fate);
    default:
      return waiting(fate);
  }
}

const outcomes = [
  [['delivered', 'read'], 'arrived'],
  [['sent'], 'left'],
  [['complained'], 'reported as spam'],
  [['bounced'], 'bounced'],
  [['failed'], 'not sent'],
] as const;

/** Returns the verdict on several recipients: the number of each outcome; `next` has the worst. */
function verdictOnAll(fates: readonly Fate[]): Verdict {
  const counted = outcomes.flatMap(([statuses, word]) => {
    const { length } = fates.filter(({ one }) =>
      (statuses as readonly string[]).includes(one.status),
    );
    return length === 0 ? [] : [{ length, word }];
  });
  const ends = counted.reduce((all, { length }) => all + length, 0);
  const waiting = fates.length - ends;
  const words = counted.map(({ length, word }) => `${length} ${word}`);
  if (waiting > 0) words.push(`${waiting} waiting`);
  const verdicts = fates.map((fate) => ({ ...verdictOn(fate), email: fate.one.email }));
  const worst = ['bad', 'warn'].flatMap(
    (tone) => verdicts.find((one) => one.tone === tone) ?? [],
  )[0];
  return {
    tone: worst?.tone ?? verdicts[0]?.tone ?? 'none',
    sentence: `It has ${fates.length} recipients: ${words.join(', ')}.`,
    next: worst ? `To ${worst.email}: ${worst.sentence}` : '',
  };
}

/** Says in a sentence whether a message arrived; if not, the cause and the next step. */
export function verdictOf(
  sent: Sent,
  { recipients }: Pick<MessageExplanation, 'recipients'>,
  deliveries: readonly (Way & Pick<Delivery, 'id'>)[],
  when: When,
): Verdict {
  if (sent.direction === 'inbound') {
    return { tone: 'none', sentence: `It came from ${sent.from.email}.`, next: '' };
  }
  const ways = new Map(deliveries.map((one) => [one.id, one]));
  const fates = recipients.flatMap((one) => {
    const way = ways.get(one.deliveryId);
    return way ? [{ sent, one, way, when }] : [];
  });
  const [first] = fates;
  if (!first) return { tone: 'none', sentence: 'Nobody gets it.', next: '' };
  return fates.length === 1 ? verdictOn(first) : verdictOnAll(fates);
}
