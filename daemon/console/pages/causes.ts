// Causes for which mail does not arrive, in the words of a person: as the label of a figure, and
// within a sentence. A test compares the table with the error codes of deliveries.
import type { ErrorCode } from '../../../src/mail/smtp/outcome.ts';
import type { BlockReason } from '../../../src/people/blocks/schema.ts';

interface CauseWords {
  label: string;
  /** Follows "It did not arrive: ". `{domain}` is the domain of the recipient. */
  means: string;
  /** Next step for a person once no further attempt follows. */
  advice: string;
}

const causes: Readonly<Record<ErrorCode, CauseWords>> = {
  'invalid-recipient': {
    label: 'No such mailbox',
    means: 'there is no such mailbox at {domain}',
    advice: 'Correct the address. Until then nothing more is sent to it.',
  },
  'invalid-domain': {
    label: 'Domain takes no mail',
    means: 'the domain {domain} does not exist or takes no mail',
    advice: 'Correct the part behind the @.',
  },
  'mailbox-full': {
    label: 'Mailbox is full',
    means: 'the mailbox at {domain} is full',
    advice: 'Only the recipient can make room. Send it again later.',
  },
  blocked: {
    label: 'We are on a block list',
    means: '{domain} takes no mail from us: we are on a block list',
    advice: 'The words of the server name the list. Ask for removal there, then send it again.',
  },
  spam: {
    label: 'Taken for spam',
    means: '{domain} took it for spam',
    advice: 'Look at the content, and at the DNS records of your domain.',
  },
  policy: {
    label: 'Forbidden by a rule',
    means: 'a rule forbids it',
    advice: 'The words of the server name the rule.',
  },
  'message-too-large': {
    label: 'Too large',
    means: 'it is too large for {domain}',
    advice: 'Send it with smaller files, or with links to them.',
  },
  'auth-failed': {
    label: 'Not proven to be ours',
    means: '{domain} could not check that it is from us',
    advice: 'Look at the DNS records of your domain.',
  },
  protocol: {
    label: 'Servers misunderstood',
    means: 'the two servers did not understand each other',
    advice: 'The words of the server show where.',
  },
  suppressed: {
    label: 'Blocked by us',
    means: 'the address is blocked',
    advice: 'Nothing is sent to it until the block is lifted. Then send it again.',
  },
  connection: {
    label: 'Server not reached',
    means: 'no server of {domain} could be reached',
    advice: 'Check how the part behind the @ is spelt, then send it again.',
  },
  expired: {
    label: 'Given up in time',
    means: 'it could not be handed over in time',
    advice: 'Send it again if it still matters.',
  },
  cancelled: {
    label: 'Cancelled',
    means: 'it was cancelled',
    advice: 'If that was a mistake, send it again.',
  },
  unknown: {
    label: 'Reason not known',
    means: 'the server gave no reason that is known here',
    advice: 'The words of the server are all that is known.',
  },
};

const known = (code: string | null): CauseWords =>
  (code !== null && Object.hasOwn(causes, code) && causes[code as ErrorCode]) || causes.unknown;

export const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1);

/** Returns the label of an error code, such as for a column of figures. */
export const causeLabel = (code: string | null) => known(code).label;

/** Returns a cause for the middle of a sentence. */
export const causeOf = (code: string | null, address: string) =>
  known(code).means.replace('{domain}', domainOf(address));

/** Codes whose temporary refusals mean no more than "later". */
const vague: ReadonlySet<string | null> = new Set(['policy', 'unknown', null]);

/** Returns the reason of a deferral, for the middle of a sentence. */
export const delayOf = (code: string | null, address: string) =>
  vague.has(code) ? `${domainOf(address)} asks to try again later` : causeOf(code, address);

/** Returns the next step of a person after mail that ended with this code. */
export const adviceOf = (code: string | null) => known(code).advice;

/** Reasons of a block as labels, and for the middle of a sentence. */
const blocked: Readonly<Record<BlockReason, readonly [label: string, because: string]>> = {
  bounce: ['Mail bounced', 'mail to it bounced'],
  complaint: ['Reported as spam', 'mail to it was reported as spam'],
  unsubscribe: ['Left the mail', 'the person left'],
  manual: ['Blocked by hand', 'somebody blocked it by hand'],
};

const isReason = (reason: unknown): reason is BlockReason =>
  typeof reason === 'string' && Object.hasOwn(blocked, reason);

export const blockLabel = (reason: string) => (isReason(reason) ? blocked[reason][0] : reason);

/** Returns the reason of a block for the middle of a sentence; null for an unknown reason. */
export const blockBecause = (reason: unknown) => (isReason(reason) ? blocked[reason][1] : null);

/**
 * Tells whether the recipient asked for the block, so that only the recipient may have it lifted.
 */
export const isRecipientsWish = (reason: unknown) =>
  reason === 'complaint' || reason === 'unsubscribe';
