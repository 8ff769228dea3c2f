// One recipient of a bounce, and how its words become an errorCode: the one place that
// calls a bounce hard. Finds the SMTP reply in the words: which command was answered, reply code,
// enhanced code, text. Systems wrap it each in their own way; what it means is
// src/smtp/replies/classify-reply.ts.
import type { ErrorCode, RemoteReply } from '../../../smtp/outcome.ts';
import { classifyReply, isOfSender } from '../../../smtp/replies/classify-reply.ts';
import { cleanLine } from '../header-fields.ts';

/** RFC 3464 2.3.3. Only `failed` is final; `delayed` changes nothing. */
export type BounceAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';

export interface BouncedRecipient {
  /** Whom the system could not reach, after its own aliases; null where it does not say. */
  email: string | null;
  /** Whom we wrote to (Original-Recipient), null where it does not say. */
  originalEmail: string | null;
  action: BounceAction;
  /** The address is dead and may be blocked: failed, for good, `invalid-recipient` or `-domain`. */
  isHard: boolean;
  /** Null for `delivered`, `relayed` and `expanded`. */
  errorCode: ErrorCode | null;
  /** Reply code of the remote server, null where none is told. */
  code: number | null;
  /** `x.y.z` (RFC 3463). */
  enhancedCode: string | null;
  /** The words of the remote server, at most 1,000 characters; empty where there are none. */
  text: string;
  remoteMta: string | null;
  /** Milliseconds since 1970. */
  lastAttemptAt: number | null;
}

interface RecipientFacts {
  email: string | null;
  originalEmail?: string | null;
  action: BounceAction;
  reply: RemoteReply;
  /** Status of the report, which may say less or more than the reply it came from. */
  status?: string | null;
  /** False where a part may be cut or a word may be guessed: such a bounce is never hard. */
  isCertain: boolean;
  remoteMta?: string | null;
  lastAttemptAt?: number | null;
}

const isGeneric = (enhancedCode: string | null) =>
  enhancedCode === null || enhancedCode.endsWith('.0.0');

/** While a system still tries, a code of RFC 3463 X.4.7 only tells that it could not yet. */
function errorCodeOf(errorCode: ErrorCode, action: BounceAction): ErrorCode {
  return action === 'delayed' && errorCode === 'expired' ? 'connection' : errorCode;
}

/** Classifies what is told of one recipient. */
export function toBouncedRecipient(facts: RecipientFacts): BouncedRecipient {
  const { email, action, reply, status = null, isCertain } = facts;
  const enhancedCode = isGeneric(reply.enhancedCode)
    ? (status ?? reply.enhancedCode)
    : reply.enhancedCode;
  const isBad = action === 'failed' || action === 'delayed';
  const { errorCode, isHard } = classifyReply({ ...reply, enhancedCode });
  // A system that gives up on a temporary refusal reports 4.x.x, whatever it quotes.
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
/** What a transcript goes on with after a reply. */
const afterReply = /\n[^\n]{0,40}(?:-->|>>>|---|giving up on)/i;
const maxTextCharacters = 1000;

/** Which command the words say was answered; the first that fits. */
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

/** A reply code that a text follows; not a port, an address, a number within a word. */
const code = /(?:^|[\s;:,"'(#>])([45]\d\d)(?:(?:[ -]+#?([45]\.\d{1,3}\.\d{1,3})\b)|(?=[ -]|$))/;
const enhanced = /(?:^|[\s#(;:[])([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/;

/** Where a system tells what the next one answered; before it come its own codes and words. */
const quotation =
  /(?:said|respond(?:s|ed)(?: with)?|repl(?:ied|ies)(?: with)?|answered|reported|returned):? {0,3}["'(]?(?=[45]\d\d[ -])/gi;
/** Then what was answered may be of our address, which another server was asked for. */
const ofSender = /sender|\bfrom\b|call-?out|verif|return.?path/i;

/** The words of the last server where several are told one within the other. */
function lastServer(words: string): string {
  const last = [...words.matchAll(quotation)].at(-1);
  if (!last || ofSender.test(words.slice(0, last.index))) return words;
  return words.slice(last.index + last[0].length);
}

/** Repeated in front of each line of one reply: `550-5.1.1 first 550 5.1.1 second`. */
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
 * Reads a Diagnostic-Code without its type, or a paragraph of a notice. `verb` is `DSN` where the
 * words name no command; code and enhanced code are null where there are none. `text` is what
 * follows the code, at most 1,000 characters; all of it where there is no code.
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
