// The sentences of `svc messages explain`, as data: the meaning of each status, `waitReason` and
// `errorCode`, the next step, and the command that helps. `{name}` stands for a fact of the
// delivery. explain.ts puts them together.

import type { ErrorCode } from '../../mail/smtp/outcome.ts';
import type { RunHoldReason } from '../../run-ledger/schema.ts';
import type { MessageStatus, WaitReason } from '../deliveries/status.ts';

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
  'run',
  'runDetail',
  'waitReason',
  'means',
  'refused',
] as const;
export type Facts = Readonly<Record<(typeof facts)[number], string>>;

/** A command and its purpose. */
export interface Help {
  purpose: string;
  command: string;
}

/** Sentences on the last event if nothing beyond the status is known. */
export const statusWords: Readonly<Record<MessageStatus, string>> = {
  pending: 'It was accepted and has not been attempted yet.',
  scheduled: 'It was accepted to be sent later.',
  queued: 'Its scheduled time came; it has not been attempted yet.',
  processing: 'An attempt was made, and the delivery has not ended yet.',
  sent: '{host} accepted it.',
  delivered: '{host} accepted it: it is delivered.',
  read: '{host} accepted it, and the recipient opened it.',
  failed: 'The delivery was given up.',
  bounced: '{host} refused it permanently.',
  complained: '{host} accepted it, and the recipient reported it as spam.',
};

/** Sentences on the last event if more is known than the status. */
export const outcomeWords = {
  captured: 'It counts as delivered, but nothing left this machine: delivery.mode is capture.',
  notAllowed:
    'It counts as delivered, but nothing left this machine: delivery.allow does not name {email}.',
  capturedByRoute:
    'It counts as delivered, but nothing left this machine: {captor} captures mail to {domain}.',
  deferred: 'Attempt {attempts} was put off by {host} at {verb}: {means}.',
  unreached: 'Attempt {attempts} reached no server: {means}.',
  greylisted:
    'Attempt {attempts} was put off by {host}: it lets mail of new senders wait (greylisting), and ' +
    'accepts it at a later attempt.',
  absent:
    'Attempt {attempts} found no server: {means}. DNS is asked again; its answer counts once it has ' +
    'stood for an hour.',
  interrupted: 'Attempt {attempts} was interrupted and will be repeated.',
  bounced: '{host} refused it permanently at {verb}: {means}.',
  unknownToDns: 'DNS decides it without a server: {means}.',
  returnedForOther:
    'A server accepted it, but it came back for {refused}, an address behind {email}: {means}.',
  returned: 'A server accepted it, but it came back as undeliverable: {means}.',
  givenUp: 'It was given up after {attemptsMade}: {means}.',
  notSent: 'It was not sent: {means}.',
} as const;

export interface WaitWords {
  /** Reason why the delivery waits now. */
  because: string;
  next: string;
  help: Help;
}

export const waitWords: Readonly<Record<WaitReason, WaitWords>> = {
  rate: {
    because: 'The lane to {domain} is full: it carries as many deliveries as it may.',
    next: 'It is sent as soon as there is room, at the latest {due}.',
    help: { purpose: 'To watch the lanes', command: 'svc queue top' },
  },
  'daily-quota': {
    because: 'Its organization has sent the daily limit of its plan.',
    next: 'It is sent when the quota has room again, {due}, or at once with a higher plan.',
    help: { purpose: 'To see the limit that binds', command: 'svc plan show' },
  },
  'domain-health': {
    because: 'Mail from {senderDomain} is held back: too much of it bounced or was reported.',
    next: 'It is sent once the domain is reviewed and resumed; the next check is {due}.',
    help: {
      purpose: 'To resume the domain',
      command: 'svc domains resume {senderDomain}',
    },
  },
  'tenant-health': {
    because: 'Sending is paused for its organization.',
    next: 'It is sent once the pause is lifted; the next check is {due}.',
    help: { purpose: 'To lift the pause', command: 'svc orgs resume {organization}' },
  },
  'provider-unavailable': {
    because: 'The servers of {domain} asked for less mail or did not answer: their lane is closed.',
    next: 'It is sent when the lane opens again, at the latest {due}.',
    help: { purpose: 'To see when the lane opens', command: 'svc queue top' },
  },
  retry: {
    because: 'It waits for its next attempt.',
    next: 'Attempt {nextAttempt} follows {due}; it is given up {expires}.',
    help: { purpose: 'To try it now', command: 'svc queue retry {delivery}' },
  },
  'campaign-paused': {
    because: 'Its campaign run is stopped.',
    next: 'It is sent once the run continues; the next check is {due}.',
    help: { purpose: 'To see the run', command: 'svc campaigns show {run}' },
  },
};

const resumedByHand = 'It is sent once the run is resumed; the next check is {due}.';
const resumeRun: Help = { purpose: 'To resume the run', command: 'svc campaigns resume {run}' };
/** A held run continues only with a note about the review. */
const resumeHeldRun: Help = { ...resumeRun, command: `${resumeRun.command} --note reviewed` };

/** Words for mail of a stopped run, by the reason of the stop, or else the status of the run. */
export const runWords: Readonly<Record<'paused' | RunHoldReason, WaitWords>> = {
  paused: {
    because: 'Its campaign run {run} is paused.',
    next: resumedByHand,
    help: resumeRun,
  },
  restored: {
    because:
      'Its campaign run {run} is paused: the store was restored from a backup, and its mail may ' +
      'have been sent already.',
    next: resumedByHand,
    help: resumeRun,
  },
  'workspace-paused': {
    because: 'Its campaign run {run} is held: sending is paused for its organization.',
    next: 'It is sent once the pause is lifted; the next check is {due}.',
    help: { purpose: 'To lift the pause', command: 'svc orgs resume {organization}' },
  },
  key: {
    because:
      'Its campaign run {run} is held: the key that made it is revoked or may not send this mail.',
    next: resumedByHand,
    help: resumeHeldRun,
  },
  sender: {
    because: 'Its campaign run {run} is held: its sender may not send now.',
    next: 'It is sent once the sender may; the next check is {due}.',
    help: { purpose: 'To see the senders', command: 'svc senders list' },
  },
  'domain-held': {
    because:
      'Its campaign run {run} is held: too much mail from {senderDomain} bounced or was reported.',
    next: 'It is sent once the domain is reviewed and resumed; the next check is {due}.',
    help: { purpose: 'To resume the domain', command: 'svc domains resume {senderDomain}' },
  },
  'warming-held': {
    because: 'Its campaign run {run} is held: the warming plan of {senderDomain} is held.',
    next: 'It is sent once the plan continues; the next check is {due}.',
    help: { purpose: 'To see the plan', command: 'svc warming show {senderDomain}' },
  },
  'run-health': {
    because: 'Its campaign run {run} is held: too much of its mail failed ({runDetail}).',
    next: resumedByHand,
    help: resumeHeldRun,
  },
  provider: {
    because:
      'Its campaign run {run} is held: a provider put off too much of its mail ({runDetail}).',
    next: resumedByHand,
    help: resumeHeldRun,
  },
};

/** Words for states of the queue that have no `waitReason`. */
export const stateWords = {
  claimed: {
    next: 'An attempt is under way since {due}.',
    help: { purpose: 'To see how it ends', command: 'svc messages explain {message}' },
  },
  ready: {
    next:
      'It is sent when its turn comes; {ahead} in the queue. If that takes long, check ' +
      'that a daemon runs.',
    help: { purpose: 'To watch the queue', command: 'svc queue top' },
  },
  held: {
    because: 'An operator holds it (waitReason: {waitReason}).',
    next: 'It is on hold ({hold}) and is not attempted until that hold is released.',
    help: { purpose: 'To release it', command: 'svc queue release {holdId}' },
  },
  scheduled: {
    next: 'It is sent at its time, {due}.',
    help: { purpose: 'To cancel it', command: 'svc messages cancel {message}' },
  },
  paced: {
    because: 'Its time has come, but its organization already sends at the rate of its plan.',
    next: 'It is sent as soon as the rate has room; the next check is {due}.',
    help: { purpose: 'To see the plan', command: 'svc plan show' },
  },
  shared: {
    because: 'Its organization already uses its share, and its attempts end slowly.',
    next: 'It is sent as soon as some of them end; the next check is {due}.',
    help: { purpose: 'To see these deliveries', command: 'svc queue top' },
  },
  warming: {
    because: 'The warming plan of {senderDomain} defers it: its window has no room left.',
    next: 'It is sent when a window of the plan has room, at the latest {due}.',
    help: {
      purpose: 'To see the plan',
      command: 'svc warming show {senderDomain}',
    },
  },
  waiting: {
    next: 'The next check is {due}.',
    help: { purpose: 'To try it now', command: 'svc queue retry {delivery}' },
  },
  unconfirmed: {
    next: 'It counts as delivered {due}, unless a bounce comes before.',
    help: { purpose: 'To see its timeline', command: 'svc messages events {message}' },
  },
} as const satisfies Record<string, { because?: string; next: string; help: Help }>;

export interface ErrorWords {
  /** Meaning of the code; it follows a colon: "mx.example.com refused it for good: …". */
  means: string;
  /** Advice for a delivery that ended with this error. */
  advice: string;
  help: Help;
}

const seeDialogue: Help = { purpose: 'To read the dialogue', command: 'svc queue show {delivery}' };
const checkDomain: Help = {
  purpose: 'To see the records for SPF, DKIM and DMARC',
  command: 'svc domains dns {senderDomain}',
};
const seeBlocks: Help = {
  purpose: 'To see whether it is blocked now',
  command: 'svc blocks list --address {email}',
};

/** Words for a server without TLS, if a rule of ours requires TLS. */
export const noTlsWords: ErrorWords = {
  means:
    'it offers no TLS, and our own rule requires it (requireTls of a relay, a route or a provider, ' +
    'MTA-STS or DANE)',
  advice: 'Have TLS enabled on the server, or remove the rule that requires it.',
  help: seeDialogue,
};

/** Words for our own refusal to connect to a private address. */
export const privateAddressWords: ErrorWords = {
  means: 'its server has a private address, to which the service itself delivers no mail',
  advice:
    'Set delivery.direct.allowPrivateAddresses to true if mail may go to your own network, restart ' +
    'the daemon, and send it again.',
  help: { purpose: 'To see the key', command: 'svc config show --origin' },
};

export const errorWords: Readonly<Record<ErrorCode, ErrorWords>> = {
  'invalid-recipient': {
    means: 'there is no such mailbox',
    advice: 'Correct the address; mail to addresses that do not exist harms your reputation.',
    help: seeBlocks,
  },
  'invalid-domain': {
    means: '{domain} does not exist or accepts no mail',
    advice: 'Correct the domain of the address.',
    help: seeBlocks,
  },
  'mailbox-full': {
    means: 'the mailbox is full',
    advice: 'Only the recipient can make room. Send it again later.',
    help: { purpose: 'To see the message', command: 'svc messages show {message}' },
  },
  blocked: {
    means: 'our address or domain is on a block list',
    advice: 'The reply usually names the list: ask for removal there, then send it again.',
    help: checkDomain,
  },
  spam: {
    means: 'the message looks like spam',
    advice: 'Look at the content and at the authentication of {senderDomain}.',
    help: checkDomain,
  },
  policy: {
    means: 'a policy of the server forbids it',
    advice: 'The reply names the policy.',
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
    means: 'the dialogue broke the rules of SMTP',
    advice: 'The dialogue shows the command.',
    help: seeDialogue,
  },
  suppressed: {
    means: '{email} is blocked',
    advice: 'Nothing is sent to it until the block is lifted; then send it again.',
    help: seeBlocks,
  },
  connection: {
    means: 'no server of {domain} could be used',
    advice: 'Check the spelling of the domain, and that this machine may connect out.',
    help: seeDialogue,
  },
  expired: {
    means: 'it expired',
    advice: 'Send it again if it still matters.',
    help: { purpose: 'To see its timeline', command: 'svc messages events {message}' },
  },
  cancelled: {
    means: 'it was removed from the queue',
    advice: 'If that was a mistake, send it again.',
    help: { purpose: 'To see its timeline', command: 'svc messages events {message}' },
  },
  unknown: {
    means: 'the reason is not known',
    advice: 'The reply is all that is known.',
    help: seeDialogue,
  },
};

/** Advice for a refusal that names a different address than the recipient. */
export const aboutOther =
  '{email} is not blocked: a member of the list, or the target of a forward, is gone. The owner of {email} can ' +
  'correct that.';

/** Advice to respect the wish of the recipient. Replaces the advice for `suppressed`. */
export const decidedByRecipient =
  'The recipient wants no more of this mail, and only the recipient can change that.';
