// A rule of the classification, and helpers that turn a table of words into rules. The tables are
// in rules-*.ts. classify-reply.ts tries all rules in order; the first match wins.
import type { ErrorCode } from '../outcome.ts';
import type { Cause } from './causes.ts';

export interface ReplyRule {
  errorCode: ErrorCode;
  /** Set if the words name the cause, which has a remedy. */
  cause?: Cause;
  /**
   * Provider or software that sends these words; `any` for several. For readers only: replies pass
   * through gateways, so the host does not matter.
   */
  source: string;
  /**
   * Matched against the text, with addresses removed, white space collapsed, and at most 4,096
   * characters.
   */
  words?: RegExp;
  /** Must match the text besides `words`. */
  alsoWords?: RegExp;
  /** Matched against `subject.detail` of the enhanced code (`1.1` of `5.1.1`). */
  enhanced?: RegExp;
  /** If set, the rule only applies to these reply codes. */
  codes?: readonly number[];
  /** If set, the rule only applies to answers to these commands. */
  verbs?: readonly string[];
  /** Set if the server asks for fewer or slower mails, so that the rate to the server decreases. */
  isRateLimit?: true;
  /** Set if the server makes every new sender or recipient wait, regardless of reputation. */
  isWait?: true;
  /** A real reply (names changed), preceded by `VERB: ` if the command matters. */
  example: string;
}

export type WordRow = readonly [source: string, words: RegExp, example: string];

/** Builds rules that differ only in their words. */
export function wordRules(errorCode: ErrorCode, rows: readonly WordRow[]): ReplyRule[] {
  return rows.map(([source, words, example]) => ({ errorCode, source, words, example }));
}

/** Builds rules like `wordRules`, for words that name a cause. */
export function causeRules(
  cause: Cause,
  errorCode: ErrorCode,
  rows: readonly WordRow[],
): ReplyRule[] {
  return wordRules(errorCode, rows).map((rule) => ({ ...rule, cause }));
}

/** Builds rules like `wordRules`, for words that ask for a lower rate. */
export function rateRules(errorCode: ErrorCode, rows: readonly WordRow[]): ReplyRule[] {
  return wordRules(errorCode, rows).map((rule) => ({ ...rule, isRateLimit: true }));
}
