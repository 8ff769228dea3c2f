// Parses SMTP replies (RFC 5321 4.2) strictly and within bounds, because a server may be hostile.
// Also reads the capabilities in the reply to EHLO (RFC 5321 4.1.1.1), as far as we use them.
// channel.ts matches replies to commands.
import type { RemoteReply } from '../outcome.ts';

/** A complete reply; `lines` have the texts after the code, each cut to 2,000 characters. */
export interface SmtpReply {
  code: number;
  lines: string[];
}

const maxLines = 100;
const maxReplyBytes = 64 * 1024;
const maxLineLength = 2_000;
const maxTextLength = 1_000;

const codePattern = /^[2-5][0-9]{2}(?:[ -]|$)/;
const enhancedPattern = /^([245]\.[0-9]{1,3}\.[0-9]{1,3})(?: |$)/;
/** Characters that could confuse a log, a terminal or a header with the text. */
const unprintable = /[\p{C}\p{Z}]+/gu;
const plainAscii = /^[\x20-\x7e]*$/;

/** Splits incoming bytes into replies. Unusable after a `problem`. */
export class ReplyParser {
  #partialLine = '';
  #replyBytes = 0;
  #code = 0;
  #lines: string[] = [];
  #problem: string | null = null;

  /** Reason why the bytes after the last reply are invalid. No later byte can be trusted. */
  get problem(): string | null {
    return this.#problem;
  }

  /** True if the bytes so far end with a complete reply. */
  get isBetweenReplies(): boolean {
    return this.#replyBytes === 0 && this.#problem === null;
  }

  /**
   * Adds the next bytes, and returns the replies that they complete. Sets `problem` for NUL, a line
   * without a code, a code that changes within a reply, and a reply of more than 100 lines or 64
   * KB.
   */
  push(chunk: Buffer): SmtpReply[] {
    // Each byte becomes a character, so that lengths match the sent bytes. Texts are decoded when a
    // line is kept.
    const text = chunk.toString('latin1');
    const replies: SmtpReply[] = [];
    let start = 0;
    let end = text.indexOf('\n');
    while (end !== -1 && !this.#problem) {
      const line = this.#partialLine + text.slice(start, end);
      this.#partialLine = '';
      this.#count(end + 1 - start);
      const reply = this.#takeLine(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (reply) replies.push(reply);
      start = end + 1;
      end = text.indexOf('\n', start);
    }
    if (start < text.length) {
      this.#count(text.length - start);
      const rest = text.slice(start);
      if (rest.includes('\0')) this.#problem ??= 'NUL in a reply';
      this.#partialLine += rest;
    }
    return replies;
  }

  #count(bytes: number): void {
    this.#replyBytes += bytes;
    if (this.#replyBytes > maxReplyBytes) this.#problem ??= 'a reply of more than 64 KB';
  }

  #findProblem(line: string, code: number): string | null {
    if (line.includes('\0')) return 'NUL in a reply';
    if (!codePattern.test(line)) {
      return `a line without a reply code: ${printable(line.slice(0, 80))}`;
    }
    if (this.#lines.length > 0 && code !== this.#code) {
      return `a reply that begins with ${this.#code} and goes on with ${code}`;
    }
    return this.#lines.length === maxLines ? 'a reply of more than 100 lines' : null;
  }

  #takeLine(line: string): SmtpReply | null {
    const code = Number(line.slice(0, 3));
    this.#problem ??= this.#findProblem(line, code);
    if (this.#problem) return null;
    this.#code = code;
    this.#lines.push(decode(line.slice(4, 4 + maxLineLength)));
    if (line[3] === '-') return null;
    const reply = { code, lines: this.#lines };
    this.#lines = [];
    this.#replyBytes = 0;
    return reply;
  }
}

/** Decodes UTF-8, which servers may use in replies (RFC 6531 3.7.4.2). */
function decode(latin1: string): string {
  return plainAscii.test(latin1) ? latin1 : Buffer.from(latin1, 'latin1').toString('utf8');
}

/** Replaces every run of control, format and separator characters by a single space. */
export function printable(text: string): string {
  return plainAscii.test(text) ? text : text.replace(unprintable, ' ').trim();
}

/** Converts a reply for an outcome; `verb` is the command that was answered. */
export function toRemoteReply(reply: SmtpReply, verb: string): RemoteReply {
  const enhancedCode = enhancedPattern.exec(reply.lines[0] ?? '')?.[1] ?? null;
  const texts = enhancedCode
    ? reply.lines.map((line) =>
        line.startsWith(enhancedCode) ? line.slice(enhancedCode.length + 1) : line,
      )
    : reply.lines;
  const text = printable(texts.length === 1 ? (texts[0] ?? '') : texts.join(' '));
  return { code: reply.code, enhancedCode, text: text.slice(0, maxTextLength), verb };
}

export interface Capabilities {
  pipelining: boolean;
  /** Largest message in octets (RFC 1870); null without SIZE; 0 for SIZE without a limit. */
  size: number | null;
  eightBitMime: boolean;
  smtpUtf8: boolean;
  startTls: boolean;
  /** SASL mechanisms in upper case. */
  auth: readonly string[];
  chunking: boolean;
  dsn: boolean;
  requireTls: boolean;
}

/** Capabilities of a server that knows only HELO. */
export const noCapabilities: Capabilities = {
  pipelining: false,
  size: null,
  eightBitMime: false,
  smtpUtf8: false,
  startTls: false,
  auth: [],
  chunking: false,
  dsn: false,
  requireTls: false,
};

function parseSize(value: string | undefined): number {
  return value !== undefined && /^[0-9]{1,15}$/.test(value) ? Number(value) : 0;
}

/** Reads the reply to EHLO; ignores unknown keywords and malformed values. */
export function parseCapabilities(ehlo: SmtpReply): Capabilities {
  const offered = new Map<string, string[]>();
  for (const line of ehlo.lines.slice(1)) {
    // Servers from before RFC 2554 write `AUTH=PLAIN LOGIN`.
    const [keyword = '', ...values] = line
      .toUpperCase()
      .replace(/^AUTH=/, 'AUTH ')
      .split(/\s+/);
    offered.set(keyword, [...(offered.get(keyword) ?? []), ...values]);
  }
  return {
    pipelining: offered.has('PIPELINING'),
    size: offered.has('SIZE') ? parseSize(offered.get('SIZE')?.[0]) : null,
    eightBitMime: offered.has('8BITMIME'),
    smtpUtf8: offered.has('SMTPUTF8'),
    startTls: offered.has('STARTTLS'),
    auth: offered.get('AUTH') ?? [],
    chunking: offered.has('CHUNKING'),
    dsn: offered.has('DSN'),
    requireTls: offered.has('REQUIRETLS'),
  };
}
