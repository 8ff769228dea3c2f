// What a refusal means, be it an SMTP reply or the words of a bounce: the `errorCode` of a delivery,
// whether the address is dead, whether the server wants a slower pace. The knowledge is in the
// tables rules-*.ts; here is only how a rule matches.
import type { ErrorCode, RemoteReply } from '../outcome.ts';
import type { ReplyRule } from './rule.ts';
import { conductRules, relayRules } from './rules-conduct.ts';
import { mailboxRules } from './rules-mailbox.ts';
import { paceRules } from './rules-pace.ts';
import { reputationRules } from './rules-reputation.ts';

export interface ReplyClass {
  errorCode: ErrorCode;
  /**
   * The address will never take mail: `errorCode` is `invalid-recipient` or `invalid-domain`, said
   * for good and of the recipient. Nothing else may block an address.
   */
  isHard: boolean;
  /** The server wants fewer or slower mails: for the adaptive back-off of its lane. */
  isRateLimited: boolean;
}

/** In the order in which they are tried. */
export const replyRules: readonly ReplyRule[] = [
  ...paceRules,
  ...reputationRules,
  ...relayRules,
  ...mailboxRules,
  ...conductRules,
];

/**
 * A 5yz at RCPT that only says: not so many at once. It decides between bounced and deferred (RFC
 * 5321 4.5.3.1.10).
 */
export const tooManyRecipients = /too many (?:recipients|rcpt)/i;

const maxCharacters = 4096;
const recipientVerbs: readonly string[] = ['RCPT', 'DATA', 'dot', 'DSN'];

/** What the rules look at: an address in the text (`no-spam@…`) must not speak for the server. */
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
 * Codes that refuse the sender or what it sent, never the recipient (RFC 3463 3.2, 3.7, 3.8): X.1.7,
 * X.1.8, X.6 and X.7. False for null.
 */
export function isOfSender(enhancedCode: string | null): boolean {
  return enhancedCode !== null && /^\d\.(?:1\.[78]$|[67]\.)/.test(enhancedCode);
}

function matches(rule: ReplyRule, reply: RemoteReply, detail: string, words: string): boolean {
  if (rule.codes && (reply.code === null || !rule.codes.includes(reply.code))) return false;
  if (rule.verbs && !rule.verbs.includes(reply.verb)) return false;
  if (rule.enhanced && !rule.enhanced.test(detail)) return false;
  return !rule.words || rule.words.test(words);
}

/** The first rule that covers a refusal, or null where nothing known matches. */
export function findReplyRule(reply: RemoteReply): ReplyRule | null {
  const detail = reply.enhancedCode?.slice(2) ?? '';
  const words = plainWords(reply.text);
  // X.7 is said of mailboxes too, by their words; it is never hard.
  const isOfRecipient = recipientVerbs.includes(reply.verb) && !/^(?:1\.[78]$|6\.)/.test(detail);
  const isCandidate = (rule: ReplyRule) => isOfRecipient || !isAboutAddress(rule.errorCode);
  return (
    replyRules.find((rule) => isCandidate(rule) && matches(rule, reply, detail, words)) ?? null
  );
}

/**
 * Classifies a 4yz or 5yz reply, or the diagnostic of a bounce (`verb` `DSN`, or the command that
 * it says was answered; `code` null where it gives none). `unknown` and soft where nothing known
 * matches; never hard for a temporary refusal, nor for an answer to connect, EHLO, AUTH or MAIL, nor
 * with a code that is of the sender or of what it sent.
 * Linear in the text, of which 4,096 characters count.
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
