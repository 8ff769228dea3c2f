// Splits a text into what its sender wrote and what it quotes (specification 2.2):
// `>` lines with the attribution above them, and everything below the header block that mail programs
// put above a mail they quote or forward whole. Signatures stay where they are: they are new, and
// telling them apart goes wrong too often. Also makes that text of a mail that has only HTML.
//
// The scan is ours and linear; what a library is asked besides stands in foreign-attribution.ts.
import { compile } from 'html-to-text';
import { findAttribution, findBareAttribution, hasColon } from './attribution.ts';
import { findForeignAttribution } from './foreign-attribution.ts';
import { parseLimits } from './parsed-mail.ts';

/** Of the header blocks of Outlook, Gmail forwards and Thunderbird, in many languages. */
const fromLabels =
  'from|von|de|van|da|fra|från|od|expéditeur|lähettäjä|kimden|feladó|от|от кого|发件人|寄件者|差出人|보낸 사람';
const otherLabels = [
  'sent|date|gesendet|datum|envoyé|enviado|enviada|enviado el|enviado em|enviada em|verzonden|inviato|data|fecha|sendt|skickat|dato|wysłano|lähetetty|gönderme tarihi|gönderildi|elküldve|отправлено|дата|发送时间|日期|寄件日期|送信日時|日付|보낸 날짜|날짜',
  'to|an|à|a|para|aan|til|till|do|destinataire|vastaanottaja|kime|címzett|кому|收件人|收件者|宛先|받는 사람',
  'subject|betreff|objet|asunto|assunto|onderwerp|oggetto|emne|ämne|temat|aihe|konu|tárgy|тема|主题|主旨|件名|제목',
];
/** Bold marks of text made from HTML around the label: `*From:*`. */
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
 * Whether line `at` is `From: …` with at least two more labels in the lines right below it, or a date
 * with `From: …` right below it and one more label.
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

/** `-----Original Message-----`, `________`, `Begin forwarded message:`: part of what is quoted. */
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
 * The text of an HTML part, `> ` before the lines of a blockquote. Only its first 256 KB count, because
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
/** `| ` in front, and none at the end: that is a table. */
const barLine = /^[ \t]{0,3}\|(?:$|[^|\n]*[^|\s]\s*$|\s*$)/;
const blankLine = /^\s*$/;

const isBlank = (line: string | undefined) => line === undefined || blankLine.test(line);

/** Marks the attribution right above each quoted block; lines with bars are quoted below one alone. */
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

/** The line from which all is quoted because a header block of another mail starts there. */
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

/** Splits `text` (line ends of any kind). `newContent` is empty where all of it is quoted. */
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
