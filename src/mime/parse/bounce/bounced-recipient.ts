// One recipient of a bounce, and how its words become an errorCode (contract 5): the one place that
// calls a bounce hard.

import type { ErrorCode, RemoteReply } from '../../../smtp/outcome.ts';
import { classifyReply } from '../../../smtp/replies/classify-reply.ts';

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

export interface RecipientFacts {
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
    isHard: isHard && isPermanent && isCertain && action === 'failed',
    errorCode: isBad ? errorCodeOf(errorCode, action) : null,
    code: reply.code,
    enhancedCode,
    text: reply.text,
    remoteMta: facts.remoteMta ?? null,
    lastAttemptAt: facts.lastAttemptAt ?? null,
  };
}
