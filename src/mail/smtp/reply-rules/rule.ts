// A rule of the classification, and helpers that turn a table of words into rules. The tables are
// rules-*.ts. classify-reply.ts tries them from the top; the first match wins.
import type { ErrorCode } from '../outcome.ts';
import type { Cause } from './causes.ts';

export interface ReplyRule {
  errorCode: ErrorCode;
  /** Set if the words name the cause, which has a remedy. */
  cause?: Cause;
  /**
   * Provider or software that sends these words; `any` if several do. Documentation only: texts
   * pass through gateways, so the words decide, not the host that sent them.
   */
  source: string;
  /**
   * Matched against the text: addresses removed, white space collapsed to one space, at most 4,096
   * characters.
   */
  words?: RegExp;
  /** Matched against the text too. */
  alsoWords?: RegExp;
  /** Matched against `subject.detail` of the enhanced code (`1.1` of `5.1.1`). */
  enhanced?: RegExp;
  /** Restricts the rule to these reply codes. */
  codes?: readonly number[];
  /** Restricts the rule to answers to these commands. */
  verbs?: readonly string[];
  /**
   * The server asks for fewer or slower mails, so the pace to the hosts of the server decreases.
   */
  isRateLimit?: true;
  /** The server makes every new sender or recipient wait, regardless of reputation. */
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

/** Builds rules like `wordRules`, for words that ask for a slower pace. */
export function rateRules(errorCode: ErrorCode, rows: readonly WordRow[]): ReplyRule[] {
  return wordRules(errorCode, rows).map((rule) => ({ ...rule, isRateLimit: true }));
}
