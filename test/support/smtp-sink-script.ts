// Scripted replies of the SMTP sink, in place of its standard replies.
import type { Verb } from '../../src/mail/smtp/session/timeouts.ts';

export type SinkVerb = Verb | 'NOOP' | 'BDAT';

/**
 * A reply line ("451 4.7.1 try later"), the lines of one, or an action:
 * - drop: close without a word; reset: the same by RST; hang: never say anything again;
 * - dripMsPerByte: `text` one byte at a time; raw: these bytes as they are;
 * - flood: a multi-line reply of this many bytes without a last line.
 * A command counts as accepted when the reply, however sent, begins with 2 or 3.
 */
export type SinkReply =
  | string
  | readonly string[]
  | { drop: true }
  | { reset: true }
  | { hang: true }
  | { dripMsPerByte: number; text: string }
  | { raw: Buffer | string }
  | { flood: number };

export interface SinkRule {
  verb: SinkVerb;
  /**
   * Restricts the rule to commands with a matching argument (`TO:<a@b.test>`); for `dot` and the
   * last BDAT, to a matching message. A string matches a part of the text.
   */
  match?: RegExp | string;
  /** Number of commands to which the rule applies. */
  times?: number;
}

export interface SinkScript {
  /**
   * Adds a rule after earlier rules; the first rule that applies gives the reply. Returns a
   * function that removes the rule.
   */
  on(rule: SinkRule, reply: SinkReply): () => void;
  /** Returns the scripted reply to a command, and uses up one of the rule's `times`. */
  find(verb: SinkVerb, argument: () => string): SinkReply | undefined;
}

export function createSinkScript(): SinkScript {
  const rules: { rule: SinkRule; left: number; reply: SinkReply }[] = [];
  return {
    on(rule, reply) {
      const entry = { rule, left: rule.times ?? Number.POSITIVE_INFINITY, reply };
      rules.push(entry);
      return () => {
        entry.left = 0;
      };
    },
    find(verb, argument) {
      if (rules.length === 0) return undefined;
      const found = rules.find(
        ({ rule, left }) => left > 0 && rule.verb === verb && matches(rule.match, argument),
      );
      if (!found) return undefined;
      found.left -= 1;
      return found.reply;
    },
  };
}

function matches(wanted: RegExp | string | undefined, argument: () => string): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === 'string' ? argument().includes(wanted) : argument().search(wanted) >= 0;
}
