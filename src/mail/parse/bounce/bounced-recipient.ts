// Builds a recipient of a bounce; only this file declares a bounce hard. Finds the SMTP reply in
// the words of any system: answered command, reply code, enhanced code and text.
// src/mail/smtp/reply-rules/classify-reply.ts classifies it.

import { cleanLine } from '../../mime/headers/header-fields.ts';
import type { ErrorCode, RemoteReply } from '../../smtp/outcome.ts';
import { classifyReply, isOfSender } from '../../smtp/reply-rules/classify-reply.ts';

/** Actions of RFC 3464 2.3.3. Only `failed` is final; `delayed` changes nothing. */
export type BounceAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';

export interface BouncedRecipient {
  /**
   * Failed address, after aliases on the remote system; null if not stated. A bare local part if
   * the system names a local mailbox.
   */
  email: string | null;
  /** Address to which we sent (Original-Recipient); null if not stated. */
  originalEmail: string | null;
  action: BounceAction;
  /**
   * True if `email` is dead: permanently failed with `invalid-recipient` or `invalid-domain`. A
   * different address to which we sent is then not blocked (named-address.ts).
   */
  isHard: boolean;
  /** Reason of the failure; null for `delivered`, `relayed` and `expanded`. */
  errorCode: ErrorCode | null;
  /** Reply code of the remote server; null if not stated. */
  code: number | null;
  /** Enhanced status code `x.y.z` (RFC 3463). */
  enhancedCode: string | null;
  /** Text of the remote server, at most 1,000 characters; empty if not stated. */
  text: string;
  remoteMta: string | null;
  /** Time of the last attempt, ms since 1970. */
  lastAttemptAt: number | null;
}

interface RecipientFacts {
  email: string | null;
  originalEmail?: string | null;
  action: BounceAction;
  reply: RemoteReply;
  /** Status of the report, which may be more or less specific than the reply behind it. */
  status?: string | null;
  /** False if a part may be cut or the words may be misread: such a bounce is never hard. */
  isCertain: boolean;
  remoteMta?: string | null;
  lastAttemptAt?: number | null;
}

const isGeneric = (enhancedCode: string | null) =>
  enhancedCode === null || enhancedCode.endsWith('.0.0');

/**
 * Turns `expired` into `connection` while a system still tries. X.4.7 (RFC 3463) then only means
 * that delivery has not succeeded yet.
 */
function errorCodeOf(errorCode: ErrorCode, action: BounceAction): ErrorCode {
  return action === 'delayed' && errorCode === 'expired' ? 'connection' : errorCode;
}

/** Builds the recipient: classifies the reply, and decides whether the bounce is hard. */
export function toBouncedRecipient(facts: RecipientFacts): BouncedRecipient {
  const { email, action, reply, status = null, isCertain } = facts;
  const enhancedCode = isGeneric(reply.enhancedCode)
    ? (status ?? reply.enhancedCode)
    : reply.enhancedCode;
  const isBad = action === 'failed' || action === 'delayed';
  const { errorCode, isHard } = classifyReply({ ...reply, enhancedCode });
  // A system that gives up after a temporary refusal reports 4.x.x, regardless of the reply that it
  // quotes.
  const isPermanent = status === null || status.startsWith('5');
  return {
    email,
    originalEmail: facts.originalEmail ?? null,
    action,
    isHard: isHard && isPermanent && !isOfSender(status) && isCertain && action === 'failed',
    errorCode: isBad ? errorCodeOf(errorCode, action) : null,
    code: reply.code,
    enhancedCode,
    text: reply.text,
    remoteMta: facts.remoteMta ?? null,
    lastAttemptAt: facts.lastAttemptAt ?? null,
  };
}

const maxCharacters = 4096;
/** End of a reply in a transcript: the text that follows is the next step. */
const afterReply = /\n[^\n]{0,40}(?:-->|>>>|---|giving up on)/i;
const maxTextCharacters = 1000;

/** Expressions for the command that the server answered; the first match wins. */
const verbs: readonly (readonly [RegExp, string])[] = [
  [
    /(?:in reply to|after|response to|to) (?:the )?(?:pipelined )?"?end of data|\[END_OF_MESSAGE\]/i,
    'dot',
  ],
  [
    /(?:in reply to|after|response to|>>>) (?:the )?(?:pipelined )?"?(?:sending )?rcpt\b|\[RCPT_TO\]|\(RCPT TO\)/i,
    'RCPT',
  ],
  [
    /(?:in reply to|after|response to|>>>) (?:the )?(?:pipelined )?"?(?:sending )?mail from|\[MAIL_FROM\]/i,
    'MAIL',
  ],
  [/(?:in reply to|after|response to|>>>) (?:the )?(?:pipelined )?"?(?:sending )?data\b/i, 'DATA'],
  [/(?:in reply to|after|response to|>>>) (?:the )?"?(?:ehlo|helo)\b/i, 'EHLO'],
  [
    /initial (?:connection|protocol|server) ?(?:greeting)?|refused to talk to me|\[CONNECT(?:ION)?\]/i,
    'connect',
  ],
];

/** A reply code before text, but not a port, an address or a number within a word. */
const code = /(?:^|[\s;:,"'(#>])([45]\d\d)(?:(?:[ -]+#?([45]\.\d{1,3}\.\d{1,3})\b)|(?=[ -]|$))/;
const enhanced = /(?:^|[\s#(;:[])([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/;

/**
 * Words that introduce the answer of a further server. Codes and words before them are by the
 * reporting system.
 */
const quotation =
  /(?:said|respond(?:s|ed)(?: with)?|repl(?:ied|ies)(?: with)?|answered|reported|returned):? {0,3}["'(]?(?=[45]\d\d[ -])/gi;
/**
 * Words of a sender callout: a server checked our return path, so the quoted answer is about the
 * sender, not about the recipient.
 */
const ofSender = /sender|\bfrom\b|call-?out|verif|return.?path/i;

/**
 * Returns the words of the last server if servers quote each other, unless the quoted answer is
 * about the sender; otherwise all words.
 */
export function lastServer(words: string): string {
  const last = [...words.matchAll(quotation)].at(-1);
  if (!last || ofSender.test(words.slice(0, last.index))) return words;
  return words.slice(last.index + last[0].length);
}

/** Removes the code repeated in each line of a reply: `550-5.1.1 first 550 5.1.1 second`. */
function withoutRepeats(text: string, replyCode: string): string {
  return text.replace(
    new RegExp(`(^|\\s)${replyCode}[ -](?:[45]\\.\\d{1,3}\\.\\d{1,3}\\s)?`, 'g'),
    '$1',
  );
}

function readText(words: string): string {
  const text = cleanLine(words).replace(/ {2,}/g, ' ');
  return text.slice(0, maxTextCharacters).toWellFormed();
}

/**
 * Reads a Diagnostic-Code without the type, or a paragraph of a notice. `verb` is `DSN` if the
 * words name no command; a missing code is null. `text` is the text after the code, or the whole
 * text without a code, at most 1,000 characters.
 */
export function readDiagnostic(words: string): RemoteReply {
  const whole = words.slice(0, maxCharacters);
  const verb = verbs.find(([pattern]) => pattern.test(whole))?.[1] ?? 'DSN';
  const source = lastServer(whole);
  const found = code.exec(source);
  const rest = found ? source.slice(found.index + found[0].length) : '';
  const after = rest.slice(0, afterReply.exec(rest)?.index);
  const enhancedCode = found?.[2] ?? (enhanced.exec(after) ?? enhanced.exec(source))?.[1] ?? null;
  if (!found) return { code: null, enhancedCode, text: readText(source), verb };
  const said = readText(withoutRepeats(after.replace(/^[\s:-]+/, ' '), found[1] ?? ''));
  const text = /\p{L}{3}/u.test(said) ? said : readText(source);
  return { code: Number(found[1]), enhancedCode, text, verb };
}
