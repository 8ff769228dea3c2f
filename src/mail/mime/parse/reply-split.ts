// Splits a text into the sender's own words and quotations (specification 2.2): `>` lines with the
// attribution above them, and the text below the header block of a quoted or forwarded mail. Signatures stay
// with the new text, because recognizing them fails too often. Also converts the HTML of a mail without a
// text.
//
// The scan is written here and linear; foreign-attribution.ts asks a library for the rest.
import { compile } from 'html-to-text';
import { findAttribution, findBareAttribution, hasColon } from './attribution.ts';
import { findForeignAttribution } from './foreign-attribution.ts';
import { parseLimits } from './parsed-mail.ts';

/** Labels of header blocks of Outlook, Gmail forwards and Thunderbird, in many languages. */
const fromLabels =
  'from|von|de|van|da|fra|från|od|expéditeur|lähettäjä|kimden|feladó|от|от кого|发件人|寄件者|差出人|보낸 사람';
const otherLabels = [
  'sent|date|gesendet|datum|envoyé|enviado|enviada|enviado el|enviado em|enviada em|verzonden|inviato|data|fecha|sendt|skickat|dato|wysłano|lähetetty|gönderme tarihi|gönderildi|elküldve|отправлено|дата|发送时间|日期|寄件日期|送信日時|日付|보낸 날짜|날짜',
  'to|an|à|a|para|aan|til|till|do|destinataire|vastaanottaja|kime|címzett|кому|收件人|收件者|宛先|받는 사람',
  'subject|betreff|objet|asunto|assunto|onderwerp|oggetto|emne|ämne|temat|aihe|konu|tárgy|тема|主题|主旨|件名|제목',
];
/** Builds the expression for a label; text made from HTML has bold marks around it: `*From:*`. */
const label = (words: string) =>
  new RegExp(`^[*_ \\t\\u00a0]{0,4}(?:${words})[ \\t\\u00a0]{0,2}\\*?[ \\t]{0,2}[:：]`, 'iu');
const fromLine = label(fromLabels);
const otherLines = otherLabels.map(label);
const [dateLine] = otherLines;

const maxBlockLines = 10;
const neededLabels = 2;
const rule = /^[ \t]{0,4}(?:[-_=*]{3,80}|[-_=]{2,40}[^\n]{1,60}?[-_=]{2,40})[ \t]*$/;
const announcement =
  /^(?:begin forwarded message|début du message (?:transféré|réexpédié)|anfang der weitergeleiteten (?:nachricht|e-mail)|inicio del mensaje reenviado|inizio messaggio inoltrato|doorgestuurd bericht)\s*:?\s*$/i;

/**
 * Returns true if line `at` is `From: …` with at least two more labels in the lines directly below, or a date
 * directly followed by `From: …` and one more label.
 */
export function startsHeaderBlock(lines: string[], at: number): boolean {
  const line = lines[at] ?? '';
  if (!hasColon(line)) return false;
  if (dateLine?.test(line) === true && fromLine.test(lines[at + 1] ?? '')) {
    return startsHeaderBlock(lines, at + 1) || hasLabels(lines, at + 1, neededLabels - 1);
  }
  return fromLine.test(line) && hasLabels(lines, at, neededLabels);
}

function hasLabels(lines: string[], at: number, needed: number): boolean {
  const below = lines.slice(at + 1, at + maxBlockLines);
  const found = otherLines.filter((expression) => below.some((line) => expression.test(line)));
  return found.length >= needed;
}

/**
 * Returns true for `-----Original Message-----`, `________` and `Begin forwarded message:`, which belong to
 * the quotation.
 */
function isForwardRule(line: string): boolean {
  return line.length <= 160 && (rule.test(line) || announcement.test(line.trim()));
}

const convert = compile({
  wordwrap: false,
  limits: { maxInputLength: parseLimits.splitCharacters, maxDepth: 100 },
  selectors: [
    { selector: 'img', format: 'skip' },
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'h1', options: { uppercase: false } },
    { selector: 'h2', options: { uppercase: false } },
    { selector: 'h3', options: { uppercase: false } },
    { selector: 'h4', options: { uppercase: false } },
    { selector: 'h5', options: { uppercase: false } },
    { selector: 'h6', options: { uppercase: false } },
  ],
});

/**
 * Converts an HTML part to text, with `> ` before lines of a blockquote. Reads only the first 256 KB, because
 * html-to-text is not linear: 256 KB of nested <div> take 0.5 s, 1 MB 14 s.
 */
export function htmlToText(html: string): string {
  return convert(html.slice(0, parseLimits.splitCharacters)).replaceAll('\u00a0', ' ');
}

interface ReplySplit {
  newContent: string;
  quotedContent: string | null;
  hasQuotedContent: boolean;
}

const quotedLine = /^[ \t]{0,3}[>＞]/;
/** A line with `| ` in front and no bar at the end, which would be a table. */
const barLine = /^[ \t]{0,3}\|(?:$|[^|\n]*[^|\s]\s*$|\s*$)/;
const blankLine = /^\s*$/;

const isBlank = (line: string | undefined) => line === undefined || blankLine.test(line);

/**
 * Marks the attribution directly above each quoted block. Lines with bars count as quoted only below an
 * attribution.
 */
function markAttributions(lines: string[], end: number, quoted: boolean[]): void {
  const isQuoted = (at: number) => quoted[at] === true;
  for (let at = 0; at < end; at += 1) {
    if (quoted[at] && !quoted[at - 1]) {
      const start = findAttribution(lines, at, isQuoted, 'marks');
      if (start !== null) quoted.fill(true, start, at);
    } else if (!quoted[at] && isBar(lines, at) && !isBar(lines, at - 1)) {
      const start = findAttribution(lines, at, isQuoted, 'bars');
      if (start === null) continue;
      let last = at;
      while (last + 1 < end && isBar(lines, last + 1)) last += 1;
      quoted.fill(true, start, last + 1);
    }
  }
}

const isBar = (lines: string[], at: number) => barLine.test(lines[at] ?? '');

/** Returns the line from which all text is quoted, because the header block of another mail starts there. */
function findQuotedTail(lines: string[]): number {
  for (let at = 0; at < lines.length; at += 1) {
    if (!startsHeaderBlock(lines, at)) continue;
    let start = at;
    while (start > 0 && (isBlank(lines[start - 1]) || isForwardRule(lines[start - 1] ?? ''))) {
      start -= 1;
    }
    return start;
  }
  return lines.length;
}

function pick(lines: string[], quoted: boolean[], wanted: boolean): string {
  return lines
    .filter((_, at) => quoted[at] === wanted)
    .join('\n')
    .replace(/^\s*\n/, '')
    .trimEnd();
}

/** Splits `text` (line ends of any kind). `newContent` is empty if all of it is quoted. */
export function splitReply(text: string): ReplySplit {
  const lines = text.split(/\r\n|\r|\n/);
  const tail = findQuotedTail(lines);
  const quoted = lines.map((line, at) => at >= tail || quotedLine.test(line));
  markAttributions(lines, tail, quoted);
  const bare = findBareAttribution(lines, tail, (at) => quoted[at] === true);
  if (bare !== null) quoted.fill(true, bare);
  if (!quoted.includes(true)) {
    const start = findForeignAttribution(lines, tail);
    if (start !== null) quoted.fill(true, start);
  }
  const quotedContent = pick(lines, quoted, true);
  return {
    newContent: pick(lines, quoted, false),
    quotedContent: quotedContent === '' ? null : quotedContent,
    hasQuotedContent: quotedContent !== '',
  };
}
