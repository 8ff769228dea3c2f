// The transcript in notices of sendmail: commands to the remote server (`>>>`), answers of the
// remote server (`<<<`), and a summary line for each recipient. Pure; notice.ts bounds the lines.
import { parseAddress } from '../../../platform/net/address.ts';

const title = /transcript of (?:the )?session follows/i;
const address = '<?([^\\s<>()"\',;:@]{1,64}@[^\\s<>()"\',;:@]{1,255}?)>?';
const recipientCommand = new RegExp(`^\\s*>>> RCPT TO: ?${address}(?:\\s|$)`, 'i');
const command = /^\s*>>>/;
const answer = /^\s*<<<\s*\d{3}/;
const summary = new RegExp(
  `^\\s*[45]\\d\\d[ -](?:[45]\\.\\d{1,3}\\.\\d{1,3} )?${address}\\.\\.\\. `,
);

/** The lines of a transcript, grouped by recipient address. */
export class SessionTranscript {
  /** RCPT commands with their answers, by recipient. */
  readonly #answers = new Map<string, string[]>();
  readonly #summaries = new Map<string, string>();
  /** Commands that concern no single recipient (MAIL, DATA, the message), and their answers. */
  readonly #common: string[] = [];

  constructor(lines: readonly string[]) {
    let current: string[] = this.#common;
    for (const line of lines) {
      const named = emailIn(recipientCommand, line);
      if (named !== null) {
        current = this.#answers.get(named) ?? [line];
        this.#answers.set(named, current);
      } else if (command.test(line)) {
        this.#common.push(line);
        current = this.#common;
      } else if (answer.test(line)) {
        current.push(line);
      } else {
        const summed = emailIn(summary, line);
        if (summed !== null && !this.#summaries.has(summed)) this.#summaries.set(summed, line);
      }
    }
  }

  /** Recipients of the RCPT commands in their order, then recipients with a summary only. */
  get recipients(): string[] {
    return [...new Set([...this.#answers.keys(), ...this.#summaries.keys()])];
  }

  /**
   * Returns the words about a recipient: the answers of the server to RCPT, else to the commands
   * for all recipients, else the summary line; '' without words.
   */
  wordsOf(email: string): string {
    const own = this.#answers.get(email);
    if (own && own.length > 1) return [...own, ...this.#repeated(email, own)].join('\n');
    if (this.#common.some((line) => answer.test(line))) return this.#common.join('\n');
    return this.#summaries.get(email) ?? '';
  }

  /**
   * Returns the summary line in a list if it begins with the code of the last answer; else an empty
   * list.
   */
  #repeated(email: string, answers: readonly string[]): string[] {
    const code = /<<<\s*(\d{3})/.exec(answers.at(-1) ?? '')?.[1] ?? '';
    const own = this.#summaries.get(email);
    return own?.trimStart().startsWith(code) ? [own] : [];
  }
}

function emailIn(form: RegExp, line: string): string | null {
  const found = form.exec(line)?.[1];
  return found === undefined ? null : (parseAddress(found)?.email ?? null);
}

/** Returns the transcript in the lines of a notice, or null. */
export function readTranscript(lines: readonly string[]): SessionTranscript | null {
  const start = lines.findIndex((line) => title.test(line));
  return start < 0 ? null : new SessionTranscript(lines.slice(start + 1));
}
