// Parses a received mail into the email projection (specification 2.2). Pure: no clock, no store,
// no network; every doubt becomes a parsing error, and nothing is thrown. Parsing blocks the event
// loop, so the service runs it in a worker (parser.ts). src/inbox/receiving/authenticate.ts checks
// SPF, DKIM and DMARC.

import { hasMark } from '../mime/headers/subject.ts';
import { type ParsedMail, type ParseOptions, parseLimits, withFault } from '../mime/parsed-mail.ts';
import { readAttachmentBytes } from './attachment-bytes.ts';
import { isEmbeddedMessage } from './attachment-collector.ts';
import { readMimeBody, splitMail } from './body.ts';
import { indentMark } from './marks.ts';
import { parseHeaderOnly, projectHeader } from './read-header.ts';
import { makeMarkedText } from './reply/html-reply.ts';
import { type ReplyFacts, splitReply, wholeText } from './reply/reply-split.ts';
import { withShown } from './shown-parts.ts';
import type { ReadablePiece } from './text.ts';

/**
 * Most characters that are split without a call of `onBody` before; the worst such text takes 0.1
 * s.
 */
const mostSplitAtOnce = 32 * 1024;

function maySplitSlowly(pieces: readonly ReadablePiece[]): boolean {
  return pieces.reduce((sum, { content }) => sum + content.length, 0) > mostSplitAtOnce;
}

/** Returns the facts in the header that help to split the text. */
function factsOf({ inReplyTo, references, subject }: ParsedMail): ReplyFacts {
  const isAnswer = inReplyTo !== null || references.length > 0;
  return { isAnswer, hasSubjectMark: isAnswer || hasMark(subject) };
}

/**
 * Returns the text of a piece. In plain text, programs write `>` before indented words of a sender
 * too; the HTML shows which `>` is a quotation.
 */
function textOf({ kind, content, html }: ReadablePiece, { isAnswer }: ReplyFacts, most: number) {
  if (kind === 'html') return makeMarkedText(content, isAnswer, most);
  const mayBeIndented = !isAnswer && html !== undefined && /^>/m.test(content);
  if (mayBeIndented && /<blockquote/i.test(html)) {
    const made = makeMarkedText(html, isAnswer, most);
    if (made.text.includes(indentMark)) return made;
  }
  return { text: content, isTooDeep: false };
}

/**
 * Joins the pieces, up to the limits of the split. Only words count towards the limits, not markup.
 */
function joinPieces(pieces: readonly ReadablePiece[], facts: ReplyFacts) {
  const texts: string[] = [];
  let left: number = parseLimits.splitCharacters;
  let markupLeft: number = parseLimits.textCharacters;
  let isCut = false;
  for (const piece of pieces) {
    const content = piece.kind === 'html' ? piece.content.slice(0, markupLeft) : piece.content;
    if (piece.kind === 'html') markupLeft -= content.length;
    const { text, isTooDeep } = textOf({ ...piece, content }, facts, left);
    isCut ||= content.length < piece.content.length;
    isCut ||= isTooDeep || text.length > left;
    const taken = text.slice(0, left);
    left -= taken.length;
    texts.push(taken);
  }
  return { text: texts.join('\n').replaceAll('\0', '').toWellFormed(), isCut };
}

/** Splits the pieces, in reading order, into new and quoted content. */
function splitPieces(mail: ParsedMail, pieces: ReadablePiece[]): ParsedMail {
  const isHtml = pieces.every(({ kind }) => kind === 'html');
  const facts = { ...factsOf(mail), isHtml };
  const { text, isCut } = joinPieces(pieces, facts);
  const split = { ...mail, ...splitReply(text, facts) };
  if (!isCut) return split;
  return withFault(
    split,
    'split-truncated',
    `only ${parseLimits.splitCharacters} characters were split into new and quoted, or elements lie too deep to split`,
  );
}

/**
 * Sets `newContent` to the text of the first attached mail if the mail has no words, because such a
 * mail forwards the attached mail. Leaves reports unchanged, because programs write them.
 */
async function withAttachedText(raw: Buffer, mail: ParsedMail): Promise<ParsedMail> {
  const isSilent = [mail.newContent, mail.quotedContent].every((one) => !one?.trim());
  const attached = mail.attachments.find(({ contentType }) => isEmbeddedMessage(contentType));
  if (!isSilent || !attached || mail.reportType !== null) return mail;
  const bytes = await readAttachmentBytes(raw, attached.partNumber, parseLimits.mailBytes);
  if (bytes === null) return mail;
  const { pieces } = await readMimeBody(splitMail(bytes));
  const newContent = wholeText(joinPieces(pieces, factsOf(mail)).text);
  return newContent === '' ? mail : { ...mail, newContent };
}

/**
 * Parses a raw mail within `parseLimits`. Never throws on bad mail: `parsingErrors` lists the
 * missing parts. Before a reply split that may take long (its libraries are slow on hostile text),
 * calls `onBody` with the projection so far, for callers with a deadline.
 */
export async function parseMime(
  raw: Buffer,
  options: ParseOptions = {},
  onBody?: (mail: ParsedMail) => void,
): Promise<ParsedMail> {
  if (raw.length > parseLimits.mailBytes) {
    const message = `larger than ${parseLimits.mailBytes} bytes: only the header was read`;
    return parseHeaderOnly(raw, options, 'mail-too-large', message);
  }
  const parts = splitMail(raw);
  let mail = projectHeader(parts.block, options);
  try {
    const { text, html, reports, faults, pieces, ...body } = await readMimeBody(parts);
    const attachments = withShown(body.attachments, html);
    const parsingErrors = [...mail.parsingErrors, ...faults].slice(0, parseLimits.parsingErrors);
    mail = { ...mail, text, html, attachments, reports, parsingErrors };
    if (pieces.length === 0) return await withAttachedText(raw, mail);
    if (maySplitSlowly(pieces)) onBody?.(mail);
    return await withAttachedText(raw, splitPieces(mail, pieces));
  } catch {
    // A library failed, so only this part of the projection is missing.
    const kept = { ...mail, newContent: mail.text };
    return withFault(kept, 'parser-failed', 'a part of the mail could not be read');
  }
}
