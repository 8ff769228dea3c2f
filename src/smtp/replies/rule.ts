// The shape of one rule of the classification and how a table of words becomes rules.
// The tables are rules-*.ts; classify-reply.ts reads them from the top, the first match wins.
import type { ErrorCode } from '../outcome.ts';

export interface ReplyRule {
  errorCode: ErrorCode;
  /**
   * Whose words they are; `any` where several systems share them. For those who keep the tables:
   * a text passes through gateways, so the words decide, not the host that spoke them.
   */
  source: string;
  /** Matched against the words: addresses taken out, white space one space, at most 4,096. */
  words?: RegExp;
  /** Matched against `subject.detail` of the enhanced code (`1.1` of `5.1.1`). */
  enhanced?: RegExp;
  /** Only for these reply codes. */
  codes?: readonly number[];
  /** Only as an answer to these commands. */
  verbs?: readonly string[];
  /** The server asks for fewer or slower mails: the pace to its hosts goes down. */
  isRateLimit?: true;
  /** A real line (names changed), `VERB: ` before it where the command matters. */
  example: string;
}

export type WordRow = readonly [source: string, words: RegExp, example: string];

/** Rules that differ in their words alone. */
export function wordRules(errorCode: ErrorCode, rows: readonly WordRow[]): ReplyRule[] {
  return rows.map(([source, words, example]) => ({ errorCode, source, words, example }));
}

/** The same, for words that ask for a slower pace. */
export function rateRules(errorCode: ErrorCode, rows: readonly WordRow[]): ReplyRule[] {
  return wordRules(errorCode, rows).map((rule) => ({ ...rule, isRateLimit: true }));
}
