// Classifies a refusal (an SMTP reply or the text of a bounce): the `errorCode` of a delivery,
// whether the address is dead, and whether the server wants a slower pace. The rules are in the
// tables rules-*.ts; this file matches them.
import type { ErrorCode, RemoteReply } from '../outcome.ts';
import { type Cause, type CauseWords, causes } from './causes.ts';
import type { ReplyRule } from './rule.ts';
import { accountRules } from './rules-account.ts';
import { conductRules, relayRules } from './rules-conduct.ts';
import { formRules } from './rules-form.ts';
import { mailboxRules } from './rules-mailbox.ts';
import { paceRules } from './rules-pace.ts';
import { proofRules } from './rules-proof.ts';
import { reputationRules } from './rules-reputation.ts';

export interface ReplyClass {
  errorCode: ErrorCode;
  /**
   * True if the address will never accept mail: `errorCode` is `invalid-recipient` or
   * `invalid-domain`, and the refusal is permanent and about the recipient. Only such a refusal may
   * block an address.
   */
  isHard: boolean;
  /** True if the server wants fewer or slower mails, which slows the lane down. */
  isRateLimited: boolean;
}

/** All rules in the order of matching. */
export const replyRules: readonly ReplyRule[] = [
  ...formRules,
  ...proofRules,
  ...accountRules,
  ...paceRules,
  ...reputationRules,
  ...relayRules,
  ...mailboxRules,
  ...conductRules,
];

/**
 * Matches a 5yz reply to RCPT that only limits the number of recipients. Such a recipient is
 * deferred, not bounced (RFC 5321 4.5.3.1.10).
 */
export const tooManyRecipients = /too many (?:recipients|rcpt)/i;

const maxCharacters = 4096;
const recipientVerbs: readonly string[] = ['RCPT', 'DATA', 'dot', 'DSN'];

/** Removes addresses before rules match, since `no-spam@…` is not a word of the server. */
function plainWords(text: string): string {
  return text
    .slice(0, maxCharacters)
    .replace(/<?[^\s<>()"',;:@]{1,64}@[^\s<>()"',;:@]{1,255}>?/g, '@')
    .replace(/[’‘`]/g, "'")
    .replace(/\s+/g, ' ');
}

function isPermanent({ code, enhancedCode, verb }: RemoteReply): boolean {
  if (enhancedCode !== null && !enhancedCode.startsWith('5')) return false;
  if (code !== null) return code >= 500 && code < 600;
  return enhancedCode !== null || verb === 'DSN';
}

function isAboutAddress(errorCode: ErrorCode): boolean {
  return errorCode === 'invalid-recipient' || errorCode === 'invalid-domain';
}

/**
 * Returns true for codes that refuse the sender or the message, never the recipient (RFC 3463 3.2,
 * 3.7, 3.8): X.1.7, X.1.8, X.6 and X.7. False for null.
 */
export function isOfSender(enhancedCode: string | null): boolean {
  return enhancedCode !== null && /^\d\.(?:1\.[78]$|[67]\.)/.test(enhancedCode);
}

function matches(rule: ReplyRule, reply: RemoteReply, detail: string, words: string): boolean {
  if (rule.codes && (reply.code === null || !rule.codes.includes(reply.code))) return false;
  if (rule.verbs && !rule.verbs.includes(reply.verb)) return false;
  if (rule.enhanced && !rule.enhanced.test(detail)) return false;
  if (rule.alsoWords && !rule.alsoWords.test(words)) return false;
  return !rule.words || rule.words.test(words);
}

/** Returns the first rule that matches a refusal, or null. */
export function findReplyRule(reply: RemoteReply): ReplyRule | null {
  const detail = reply.enhancedCode?.slice(2) ?? '';
  const words = plainWords(reply.text);
  // X.7 (policy) may still be about the recipient: servers use it for mailboxes too, so the words
  // decide. Such a refusal is never hard.
  const isOfRecipient = recipientVerbs.includes(reply.verb) && !/^(?:1\.[78]$|6\.)/.test(detail);
  const isCandidate = (rule: ReplyRule) => isOfRecipient || !isAboutAddress(rule.errorCode);
  return (
    replyRules.find((rule) => isCandidate(rule) && matches(rule, reply, detail, words)) ?? null
  );
}

/**
 * Classifies a 4yz or 5yz reply, or the diagnostic of a bounce (`verb` is `DSN` or the answered
 * command, `code` may be null). Without a matching rule the result is `unknown` and not hard. Never
 * hard for a temporary refusal, for an answer to connect, EHLO, AUTH or MAIL, or for a code about
 * the sender or the message. Linear; reads 4,096 characters.
 */
export function classifyReply(reply: RemoteReply): ReplyClass {
  const rule = findReplyRule(reply);
  const errorCode = rule?.errorCode ?? 'unknown';
  return {
    errorCode,
    isHard: isAboutAddress(errorCode) && isPermanent(reply) && !isOfSender(reply.enhancedCode),
    isRateLimited: rule?.isRateLimit === true,
  };
}

/** Cause of a refusal, and the remedy before facts of the mail are filled in. */
export interface KnownCause extends CauseWords {
  cause: Cause;
}

/** Tells whether the server makes every new sender wait, like a greylist. */
export function isGreylisting(reply: RemoteReply): boolean {
  return findReplyRule(reply)?.isWait === true && !tooManyRecipients.test(reply.text);
}

/**
 * Returns the cause that the words of a refusal name; null if they name none, or belong to a
 * different `errorCode`.
 */
export function findCause(reply: RemoteReply, errorCode: string): KnownCause | null {
  const rule = findReplyRule(reply);
  if (!rule?.cause || rule.errorCode !== errorCode) return null;
  return { cause: rule.cause, ...causes[rule.cause] };
}
