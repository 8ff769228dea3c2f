// Reads bounces in prose: qmail, Exim, old Exchange, Domino, webmail systems. Separates the words
// of the server from the returned copy. Splits the notice into a paragraph for each address.
// notice-words.ts has the phrases.
import { parseAddress } from '../../../platform/net/address.ts';
import { findHeader, type ParsedMail } from '../../mime/parsed-mail.ts';
import { classifyReply } from '../../smtp/reply-rules/classify-reply.ts';
import { startsHeaderBlock } from '../reply/header-block.ts';
import { type BouncedRecipient, readDiagnostic, toBouncedRecipient } from './bounced-recipient.ts';
import { copyStart, delayOpening, gaveUp, goesOn, recipientLabel } from './notice-words.ts';
import { withoutCutAddress } from './report-fields.ts';
import { readTranscript, type SessionTranscript } from './session-transcript.ts';

export interface Notice {
  /** Lines of the notice before the returned copy. */
  lines: string[];
  /** Returned copy; empty if absent. */
  quoted: string;
}

interface Paragraph {
  email: string;
  lines: string[];
  /** True if the first line begins with the address; false if a label precedes the address. */
  isOpened: boolean;
}

const maxCharacters = 64 * 1024;
const maxLines = 1000;
const maxLineCharacters = 1000;
const maxRecipients = 100;
const maxParagraphCharacters = 4096;

const email = `[^\\s<>()"',;:@\\[\\]]{1,64}@[^\\s<>()"',;:@\\[\\]]{1,255}`;
/** A line that begins with an address: `<joe@…>:`, `  joe@…`, `* joe@… (reason)`. */
const leading = new RegExp(`^[\\s*•>-]{0,16}["'(\\[]?<?(?:mailto:|smtp:|rfc822;)?(${email})`, 'i');
/** A line that has the failed recipient after a label. */
const labelled = new RegExp(
  `^[\\s*•-]{0,16}(?:${recipientLabel.source}) ?[:：<"'\\[(\\s]{1,8}(?:smtp:|mailto:)?["'<]?(${email})`,
  'iu',
);
const anywhere = new RegExp(email, 'gi');

function readEmail(text: string): string | null {
  return parseAddress(text.replace(/(?<![.…])[.…]+$/, ''))?.email ?? null;
}

/**
 * Returns the address at the end of a match; null if its angle bracket is not closed, as in
 * `<joe@mail.exam…`.
 */
function emailOf(match: RegExpExecArray | null): string | null {
  const found = match?.at(-1);
  if (!match || found === undefined) return null;
  const end = match.index + match[0].length;
  const isOpen = match.input[end - found.length - 1] === '<' && match.input[end] !== '>';
  return isOpen ? null : readEmail(found);
}

/** Returns the text of a mail; for a mail with only HTML, the text that the reply split made. */
function textOf(mail: ParsedMail): string {
  if (mail.text !== null && mail.text.trim() !== '') return mail.text;
  return [mail.newContent ?? '', mail.quotedContent ?? ''].join('\n');
}

/** Parsing faults that may cut the text of a mail anywhere. */
const cuts: ReadonlySet<string> = new Set([
  'unclosed-multipart',
  'text-truncated',
  'too-many-parts',
  'part-header-too-large',
]);

/** Returns true if the text may end within a line, perhaps within an address. */
function mayBeCut(mail: ParsedMail, text: string): boolean {
  if (text.endsWith('\n')) return false;
  // In a multipart, the line end before a delimiter belongs to the delimiter. A text without a
  // final line end is then cut only if the mail has a fault of `cuts`.
  const isPart = /^\s*multipart\//i.test(findHeader(mail, 'content-type') ?? '');
  return isPart ? mail.parsingErrors.some(({ code }) => cuts.has(code)) : mail.text === text;
}

/** Splits a mail into notice and copy. Reads at most 64 KB and 1,000 lines. */
export function readNotice(mail: ParsedMail): Notice {
  const whole = textOf(mail);
  const kept = whole.slice(0, maxCharacters);
  const isCut = kept.length < whole.length || mayBeCut(mail, whole);
  const text = (isCut ? withoutCutAddress(kept) : kept).replaceAll('\r', '');
  const lines = text
    .split('\n')
    .slice(0, maxLines)
    .map((line) =>
      line.length > maxLineCharacters ? withoutCutAddress(line.slice(0, maxLineCharacters)) : line,
    );
  const start = lines.findIndex(
    (line, at) => (copyStart.test(line) && at > 0) || startsHeaderBlock(lines, at),
  );
  if (start < 0) return { lines, quoted: '' };
  const isHeader = /^[\w-]{1,40}:/.test(lines[start] ?? '');
  return {
    lines: lines.slice(0, start),
    quoted: lines.slice(isHeader ? start : start + 1).join('\n'),
  };
}

/**
 * Returns the text above the first line with an address, where systems say whether they gave up.
 */
export function readPreamble({ lines }: Notice): string {
  const end = lines.findIndex((line) => leading.test(line));
  return lines
    .slice(0, end < 0 ? lines.length : end)
    .join(' ')
    .replace(/\s+/g, ' ')
    .slice(0, maxParagraphCharacters);
}

/** Returns the addresses of a line with several addresses and no words; else an empty list. */
function readList(line: string): string[] {
  const found = line.match(anywhere) ?? [];
  if (found.length < 2 || /[^\s<>,;*•()]/.test(line.replace(anywhere, ''))) return [];
  return found.map(readEmail).filter((one) => one !== null);
}

/** Returns a paragraph for each address that begins or labels a line, with the following lines. */
function readParagraphs(lines: string[], isOther: (address: string) => boolean): Paragraph[] {
  const paragraphs = new Map<string, Paragraph>();
  let current = null as Paragraph | null;
  for (const line of lines) {
    const opened = leading.exec(line);
    const named = emailOf(opened ?? labelled.exec(line));
    // A label with the present address (`To: joe@…`) does not begin a new paragraph.
    const isAgain = named === current?.email && opened === null;
    if (named !== null && !isOther(named) && !isAgain) {
      if (paragraphs.size === maxRecipients) break;
      const known: Paragraph | undefined = paragraphs.get(named);
      current = known?.isOpened ? known : { email: named, lines: [], isOpened: opened !== null };
      paragraphs.set(named, current);
    }
    const others = readList(line).filter((one) => one !== named && !isOther(one));
    for (const one of others.slice(0, maxRecipients - paragraphs.size)) {
      current = { email: one, lines: [], isOpened: true };
      paragraphs.set(one, current);
    }
    if (others.length === 0) current?.lines.push(line);
  }
  return shareWords([...paragraphs.values()]);
}

/** Gives the words after a block of consecutive addresses to all these addresses. */
function shareWords(paragraphs: Paragraph[]): Paragraph[] {
  let shared: string[] = [];
  for (const paragraph of paragraphs.toReversed()) {
    const said = paragraph.lines.join(' ').replace(anywhere, '');
    if (paragraph.isOpened && !/[\p{L}\p{N}]/u.test(said)) paragraph.lines.push(...shared);
    else shared = paragraph.lines.map((line) => line.replace(leading, ''));
  }
  return paragraphs;
}

/**
 * Returns the first address within the prose, for notices without a line that begins with an
 * address.
 */
function findMentioned(lines: string[], isOther: (address: string) => boolean): string | null {
  for (const found of lines.join('\n').matchAll(anywhere)) {
    const named = emailOf(found);
    if (named !== null && !isOther(named)) return named;
  }
  return null;
}

/**
 * Returns the paragraph with the reason: the first with a reply code, else with an enhanced code,
 * else with words of a known reason. Returns all text if no paragraph has a reason.
 */
function readWords(lines: string[], ownEmail: string | null): string {
  const text = lines.join('\n').slice(0, maxParagraphCharacters);
  const opening = ownEmail === null ? null : leading.exec(text);
  const whole = text
    .slice(opening?.[0].length ?? 0)
    .replace(/^[>"')\]]*[:;.]?/, '')
    .trim();
  const parts = whole.split(/\n[ \t]*\n/);
  const replies = parts.map((part) => readDiagnostic(part));
  const telling = [
    replies.findIndex(({ code }) => code !== null),
    replies.findIndex(({ enhancedCode }) => enhancedCode !== null),
    replies.findIndex((reply) => classifyReply(reply).errorCode !== 'unknown'),
  ].find((at) => at >= 0);
  return telling === undefined ? whole : (parts[telling] ?? whole);
}

export interface NoticeSigns {
  subject: string;
  /** Addresses that are not the failed recipient: ours, and the addresses of the system. */
  others: ReadonlySet<string>;
  /** Addresses in X-Failed-Recipients. */
  failed: readonly string[];
  /** False if the sender may be a person: no recipient is then hard. */
  isCertain: boolean;
}

const roleAddress = /^(?:postmaster|mailer-daemon|abuse|support|helpdesk|noreply|no-reply)@/i;

/**
 * Returns true for a delay. Words that promise attempts outweigh words of giving up, which outweigh
 * words of delay.
 */
function isWaiting(text: string): boolean {
  return goesOn.test(text) || (!gaveUp.test(text) && delayOpening.test(text));
}

/** Returns the recipients that a notice names, each with the words about the recipient. */
function readRecipientWords(
  { lines }: Notice,
  transcript: SessionTranscript | null,
  isOther: (address: string) => boolean,
): { email: string; words: string }[] {
  const paragraphs = readParagraphs(lines, isOther);
  const named = paragraphs.map(({ email: one, lines: own }) => ({
    email: one,
    words: transcript?.wordsOf(one) || readWords(own, one),
  }));
  const known = new Set(paragraphs.map((one) => one.email));
  const added = (transcript?.recipients ?? []).filter((one) => !known.has(one) && !isOther(one));
  return [
    ...named,
    ...added.map((one) => ({ email: one, words: transcript?.wordsOf(one) ?? '' })),
  ].slice(0, maxRecipients);
}

/**
 * Returns the recipients of a mail known to be a notice. If the notice names no recipient, returns
 * a recipient with the address null.
 */
export function readNoticeRecipients(notice: Notice, signs: NoticeSigns): BouncedRecipient[] {
  const isOther = (address: string) =>
    signs.others.has(address.toLowerCase()) || roleAddress.test(address);
  const isDelayed = isWaiting(`${signs.subject} ${readPreamble(notice)}`);
  const transcript = readTranscript(notice.lines);
  const found = readRecipientWords(notice, transcript, isOther);
  const named = new Set(found.map((one) => one.email));
  for (const address of signs.failed) {
    if (!named.has(address)) found.push({ email: address, words: '' });
  }
  const build = (address: string | null, words: string) =>
    toBouncedRecipient({
      email: address,
      action: isDelayed ? 'delayed' : 'failed',
      reply: readDiagnostic(words),
      isCertain: signs.isCertain,
    });
  if (found.length > 1) return found.map(({ email: address, words }) => build(address, words));
  const [only] = found;
  const address = only?.email ?? findMentioned(notice.lines, isOther);
  const own = build(address, only?.words ?? readWords([], address));
  if (own.errorCode !== 'unknown' && own.text !== '') return [own];
  return [build(address, readWords(notice.lines, address))];
}
