// The sentences of `svc messages explain`, as data: the meaning of each status, `waitReason` and `errorCode`,
// the next step, and the command that helps. `{name}` stands for a fact of the delivery. explain.ts puts them
// together.
import type { MessageStatus, WaitReason } from '../deliveries/status.ts';
import type { ErrorCode } from '../smtp/outcome.ts';

/** Facts of the delivery that sentences may use. */
export const facts = [
  'host',
  'verb',
  'domain',
  'email',
  'senderDomain',
  'organization',
  'message',
  'delivery',
  'attempts',
  'attemptsMade',
  'nextAttempt',
  'due',
  'expires',
  'ahead',
  'hold',
  'holdId',
  'captor',
  'waitReason',
  'means',
] as const;
export type Facts = Readonly<Record<(typeof facts)[number], string>>;

/** A command and its purpose. */
export interface Help {
  purpose: string;
  command: string;
}

/** Sentences on the last event, if only the status is known. */
export const statusWords: Readonly<Record<MessageStatus, string>> = {
  pending: 'It was accepted and has not been attempted yet.',
  scheduled: 'It was accepted to be sent later.',
  queued: 'Its scheduled time came; it has not been attempted yet.',
  processing: 'It was attempted and is not through yet.',
  sent: '{host} took it over.',
  delivered: '{host} took it: it is delivered.',
  read: '{host} took it, and the recipient opened it.',
  failed: 'It was given up.',
  bounced: '{host} refused it for good.',
  complained: '{host} took it, and the recipient reported it as spam.',
};

/** Sentences on the last event, if more is known. */
export const outcomeWords = {
  captured: 'It counts as delivered, but nothing left this machine: delivery.mode is capture.',
  notAllowed:
    'It counts as delivered, but nothing left this machine: delivery.allow does not name {email}.',
  capturedByRoute:
    'It counts as delivered, but nothing left this machine: {captor} captures mail to {domain}.',
  deferred: 'Attempt {attempts} was put off by {host} at {verb}: {means}.',
  unreached: 'Attempt {attempts} reached no server: {means}.',
  interrupted: 'Attempt {attempts} was interrupted; it is made again.',
  bounced: '{host} refused it for good at {verb}: {means}.',
  unknownToDns: 'The DNS settles it, no server was asked: {means}.',
  returned: 'It was taken over, but came back as undeliverable: {means}.',
  givenUp: 'It was given up after {attemptsMade}: {means}.',
  notSent: 'It was not sent: {means}.',
} as const;

export interface WaitWords {
  /** Reason why it waits now. */
  because: string;
  next: string;
  help: Help;
}

export const waitWords: Readonly<Record<WaitReason, WaitWords>> = {
  rate: {
    because: 'The lane to {domain} is full: as many as it may carry are on their way.',
    next: 'It goes as soon as there is room, at the latest {due}.',
    help: { purpose: 'To watch the lanes', command: 'svc queue top' },
  },
  'daily-quota': {
    because: 'Its organization has sent as many as its plan allows in a day.',
    next: 'It goes on when the quota has room again, {due}, or at once with a higher plan.',
    help: { purpose: 'To see what binds', command: 'svc plan show --org {organization}' },
  },
  'domain-health': {
    because: 'Mail from {senderDomain} is held back: too much of it bounced or was reported.',
    next: 'It goes on when the domain was reviewed and resumed; that is looked at again {due}.',
    help: {
      purpose: 'To resume the domain',
      command: 'svc domains resume {senderDomain} --org {organization}',
    },
  },
  'tenant-health': {
    because: 'Sending is paused for its organization.',
    next: 'It goes on when the pause is lifted; that is looked at again {due}.',
    help: { purpose: 'To lift the pause', command: 'svc orgs resume {organization}' },
  },
  'provider-unavailable': {
    because: 'The servers of {domain} asked for less mail or did not answer: their lane is closed.',
    next: 'It goes when the lane opens again, at the latest {due}.',
    help: { purpose: 'To see how long the lane is closed', command: 'svc queue top' },
  },
  retry: {
    because: 'It waits for its next attempt.',
    next: 'Attempt {nextAttempt} follows {due}; it is given up {expires}.',
    help: { purpose: 'To try it now', command: 'svc queue retry {delivery}' },
  },
  'campaign-paused': {
    because: 'Its campaign run is paused.',
    next: 'It goes on when the run is resumed; that is looked at again {due}.',
    help: { purpose: 'To take it out of the queue', command: 'svc queue drop {delivery}' },
  },
};

/** States of the queue without a reason of their own. */
export const stateWords = {
  claimed: {
    next: 'An attempt is under way since {due}.',
    help: { purpose: 'To see how it ends', command: 'svc messages explain {message}' },
  },
  ready: {
    next: 'It goes when its turn comes; {ahead} in the queue. If that takes long: does a daemon run?',
    help: { purpose: 'To see what goes on', command: 'svc queue top' },
  },
  held: {
    because: 'An operator holds it back (waitReason: {waitReason}).',
    next: 'It is on hold ({hold}) and is not attempted until that is released.',
    help: { purpose: 'To let it go', command: 'svc queue release {holdId}' },
  },
  scheduled: {
    next: 'It goes at its time, {due}.',
    help: { purpose: 'To take it back', command: 'svc messages cancel {message}' },
  },
  paced: {
    because: 'Its time came; its organization is sending as fast as its plan allows.',
    next: 'It goes as soon as the rate has room for it; that is looked at {due}.',
    help: { purpose: 'To see the plan', command: 'svc plan show --org {organization}' },
  },
  shared: {
    because:
      'Its organization has as many on their way as leaves room for others: they are slow to end.',
    next: 'It goes as soon as some of them ended; that is looked at again {due}.',
    help: { purpose: 'To see what they wait for', command: 'svc queue top' },
  },
  waiting: {
    next: 'It is looked at again {due}.',
    help: { purpose: 'To try it now', command: 'svc queue retry {delivery}' },
  },
  unconfirmed: {
    next: 'It counts as delivered {due}, unless a bounce comes before.',
    help: { purpose: 'To see its timeline', command: 'svc messages events {message}' },
  },
} as const satisfies Record<string, { because?: string; next: string; help: Help }>;

export interface ErrorWords {
  /** Follows a colon: "mx.example.com refused it for good: …". */
  means: string;
  /** Advice for a delivery that ended with this error. */
  advice: string;
  help: Help;
}

const seeDialogue: Help = { purpose: 'To read the dialogue', command: 'svc queue show {delivery}' };
const checkDomain: Help = {
  purpose: 'To check SPF, DKIM and DMARC',
  command: 'svc domains verify {senderDomain}',
};

export const errorWords: Readonly<Record<ErrorCode, ErrorWords>> = {
  'invalid-recipient': {
    means: 'there is no such mailbox',
    advice: 'Correct the address; mail to addresses that do not exist harms your reputation.',
    help: { purpose: 'To see whether it is blocked now', command: 'svc blocks show {email}' },
  },
  'invalid-domain': {
    means: '{domain} does not exist or takes no mail',
    advice: 'Correct the domain of the address.',
    help: { purpose: 'To see whether it is blocked now', command: 'svc blocks show {email}' },
  },
  'mailbox-full': {
    means: 'the mailbox is full',
    advice: 'Only the recipient can make room. Send it again later.',
    help: { purpose: 'To send again', command: 'svc messages send --to {email}' },
  },
  blocked: {
    means: 'our address or domain stands on a block list',
    advice: 'Its words name the list as a rule: ask for the removal there, then send it again.',
    help: checkDomain,
  },
  spam: {
    means: 'the message looks like spam',
    advice: 'Look at the content and at the authentication of {senderDomain}.',
    help: checkDomain,
  },
  policy: {
    means: 'a rule forbids it',
    advice: 'The words tell which rule.',
    help: seeDialogue,
  },
  'message-too-large': {
    means: 'the message is too large',
    advice: 'Send it with smaller attachments, or with links to them.',
    help: { purpose: 'To see its parts', command: 'svc messages show {message} --email' },
  },
  'auth-failed': {
    means: 'our mail or our login could not be authenticated',
    advice: 'Check the DNS records of {senderDomain}; with a relay, its user name and password.',
    help: checkDomain,
  },
  protocol: {
    means: 'the dialogue did not keep to SMTP',
    advice: 'The dialogue shows at which command.',
    help: seeDialogue,
  },
  suppressed: {
    means: '{email} is blocked',
    advice: 'Nothing is sent to it until the block is lifted; then send it again.',
    help: { purpose: 'To lift the block', command: 'svc blocks delete {email}' },
  },
  connection: {
    means: 'no server of {domain} could be used',
    advice: 'Check the domain for a spelling mistake, and whether this machine may connect out.',
    help: seeDialogue,
  },
  expired: {
    means: 'its time was over',
    advice: 'Send it again if it still matters.',
    help: { purpose: 'To see its timeline', command: 'svc messages events {message}' },
  },
  cancelled: {
    means: 'it was taken out of the queue',
    advice: 'Send it again if that was a mistake.',
    help: { purpose: 'To see its timeline', command: 'svc messages events {message}' },
  },
  unknown: {
    means: 'the reason is not known',
    advice: 'Its own words are all there is.',
    help: seeDialogue,
  },
};
