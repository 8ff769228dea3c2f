// Attribution lines, in which a mail program names the author of a quotation: `On 4 Mar 2025, Alice
// <a@b> wrote:` in many languages, wrapped over lines, between asterisks, with `<mailto:…>`, or
// without a date. Pure and linear: reads at most four lines of 400 characters at a time.

import { plainLine } from './header-block.ts';

const maxLines = 4;
const maxCharacters = 400;
const maxBlankLines = 2;
/** Longest line that counts as unwrapped, so that the next line does not continue it. */
const wrappedLineCharacters = 30;

const blankLine = /^\s*$/;
const isBlank = (line: string | undefined) => line === undefined || blankLine.test(line);

/**
 * Verbs before the colon (`wrote`, `a écrit`, `のメール`) or before a name (`schrieb Alice`, `Quoting
 * Alice`).
 */
const verbs = [
  'wrote|writes|said|schrieb|schreibt|(?:folgendes )?geschrieben|(?:volgende )?geschreven|écrit|ecrit',
  'escribió|escribio|scritto|escreveu|skrev|kirjoitti|pisze|napisał(?:\\(a\\)|a)?|napsal\\(?a?\\)?',
  'пишет|писал(?:\\(а\\)|а)?|написал(?:\\(а\\)|а)?|пише|написав|написала|написа|yazdı|şunu yazdı|írta',
  'έγραψε|napísal\\(?a?\\)?|a scris|đã viết|viết|napisao|napisala|kirjutas|rakstīja|rašė|va escriure',
  'menulis|skrifaði|idatzi du|كتب|كتبت|כתב|כתבה|כתב/ה|نوشت|ने लिखा|เขียนว่า|เขียน',
];
const japaneseVerbs =
  '(?:さん)?(?:は|が)?(?:書きました|wrote)|(?:さん)?の(?:メール|メッセージ)|写道|寫道|(?:님이|님의)? ?(?:작성|메시지)';
const anyVerb = `(?:(?<!\\p{L})(?:${verbs.join('|')})|${japaneseVerbs})`;
const verbAtEnd = new RegExp(`${anyVerb},?\\s{0,3}[:：]$`, 'iu');
/** A verb before the date: `Alice wrote on 04.03.2025 10:12:`. */
const verbBeforeDate = new RegExp(`${anyVerb}(?!\\p{L})[^\\n]{1,40}?\\d[^\\n]{0,60}[:：]$`, 'iu');
/** An attribution with the quoted text in the same line, as Yahoo's app writes it. */
const verbWithin = new RegExp(`^[^\\n]{10,300}?${anyVerb}\\s{0,3}[:：](?=\\s{1,8}\\S)`, 'iu');
const verbBeforeName =
  /(?<!\p{L})(?:schrieb|schreef|skrev|quoting|zitat von|citando a?|citazione|quoted? from|en réponse à)\s[^\n]{1,200}[:：]$/iu;
const colonAtEnd = /[:：]$/;
/** An attribution in brackets: `[Alice, 04.03.2025 10:12]` */
const bracketed = /^\[[^\n[\]]{3,200}\]$/;
const numbers = /\d{1,4}\D{1,12}\d{1,4}/;
const dateAndTime = /\d{1,4}[^\n]{1,60}\d{1,2}(?:[:.]|\s?h\s?)\d{2}/;
const addressAtEnd = /[<([][^\s<>@]{1,64}@[^\s<>@]{1,255}[>)\]]\s{0,3}[:：]$/;
/**
 * End of a line with author and date that wraps before the verb; at most `longestEnd` characters.
 */
const addressAndTime =
  /\d{1,2}(?:[:.]|\s?h\s?)\d{2}[^\n]{1,200}[<([][^\s<>@]{1,64}@[^\s<>@]{1,255}[>)\]],?$/;
const longestEnd = 600;
/**
 * Returns true if a line has a colon. Checked first, because every attribution has a colon and most
 * lines have none.
 */
const hasColon = (line: string) => line.includes(':') || line.includes('：');
/** Beginning of a dated attribution. */
const opening =
  /^\(?(?:(?:on|am|le|el|il|in data|em|às|no dia|op|den|pe|w dniu|dnia|dne|vào) \P{N}{0,24}\d|\d{1,4}[年./-])/iu;

/**
 * Removes emphasis and rules around the text, and the links that Outlook adds after an address. The
 * rule at the end of `---- On Tue, Alice wrote ----` replaces the colon.
 */
function bare(text: string): string {
  let words = plainLine(text);
  // Most lines have none of these characters: `includes` costs a tenth of the expressions.
  if (words.includes('<')) words = words.replace(/<mailto:[^<>\s]{1,320}>/gi, '');
  if (words.includes('--')) words = words.replace(/^-{2,20}\s/, '').replace(/\s{1,3}-{3,20}$/, ':');
  if (!mayBeMarked(words)) return words;
  return words.replace(/^[\s*_]{1,4}|[\s*_]{1,4}$/g, '').replace(/[*_]{1,2}(?=[:：]$)/, '');
}

const mayBeMarked = (words: string) =>
  words.includes('*') || words.includes('_') || words.length !== words.trim().length;

const hasVerb = (text: string) => verbAtEnd.test(text) || verbBeforeName.test(text);

/**
 * Returns true for a text that may introduce lines with `>`: it ends in a colon and has a date, a
 * time, an address or a verb, or it is a date with time in brackets.
 */
function introducesMarks(text: string): boolean {
  if (bracketed.test(text)) return dateAndTime.test(text);
  return colonAtEnd.test(text) && (text.includes('@') || numbers.test(text) || hasVerb(text));
}

/**
 * Returns true for a text that may introduce a quotation without `>`: it has date and time, and a
 * verb or a final address.
 */
function introducesAll(text: string): boolean {
  if (!colonAtEnd.test(text)) return false;
  if (hasVerb(text)) return dateAndTime.test(text) && (opening.test(text) || text.includes('@'));
  return addressAtEnd.test(text) && dateAndTime.test(text) && opening.test(text);
}

/**
 * Returns true for a text that may introduce lines with bars. It needs a verb, because bars have
 * further uses.
 */
const introducesBars = (text: string) =>
  colonAtEnd.test(text) && (hasVerb(text) || verbBeforeDate.test(text));

const tests = { marks: introducesMarks, all: introducesAll, bars: introducesBars };

/** Returns true if the line may continue in the next line. */
function isWrapped(line: string): boolean {
  return line.length > wrappedLineCharacters && !endsSentence(line);
}

const endsSentence = (line: string) => /[.!?。:：]\s*$/.test(line);

/**
 * Returns the first line of the attribution that ends with line `end`, or null. Begins at a dated
 * opening above; without an opening, takes the fewest lines that form an attribution.
 */
function findStart(
  lines: readonly string[],
  end: number,
  isQuoted: (at: number) => boolean,
  follows: keyof typeof tests,
): number | null {
  let text = '';
  let fewest: number | null = null;
  for (let at = end; at > end - maxLines && at >= 0; at -= 1) {
    const line = lines[at] ?? '';
    if (isBlank(line) || isQuoted(at)) break;
    const isAfresh = at < end && fewest !== null && !isWrapped(line);
    text = `${line.trim()} ${text}`.trim();
    if (text.length > maxCharacters || (isAfresh && endsSentence(line))) break;
    const words = bare(text);
    if (!tests[follows](words)) continue;
    if (opening.test(words)) return at;
    if (isAfresh) break;
    fewest ??= at;
  }
  return fewest === null ? null : withWrappedName(lines, fewest, end);
}

/**
 * Includes the line above if the attribution found so far is only a wrapped address or name:
 * `Sender Alice on 4 March <`.
 */
function withWrappedName(lines: readonly string[], start: number, end: number): number {
  const above = lines[start - 1] ?? '';
  if (isBlank(above) || start < end - 1) return start;
  const text = lines.slice(start, end + 1).join(' ');
  const isCut = /[<,]\s*$/.test(above);
  const isUndated = !/\d/.test(text.replace(/(?<!\S)\S+@\S+/g, ''));
  const isRest =
    isUndated && (!hasVerb(bare(text)) || addressAndTime.test(above.slice(-longestEnd)));
  return (isCut || isRest) && isWrapped(above) && /\d/.test(above) ? start - 1 : start;
}

/**
 * Returns the first line of the attribution above the quoted block that starts at `first`, or null.
 */
export function findAttribution(
  lines: readonly string[],
  first: number,
  isQuoted: (at: number) => boolean,
  mark: keyof typeof tests,
): number | null {
  let end = first - 1;
  while (end >= 0 && first - end <= maxBlankLines + 1 && isBlank(lines[end])) end -= 1;
  return end < 0 || isQuoted(end) ? null : findStart(lines, end, isQuoted, mark);
}

/**
 * Returns true if the line begins with a dated attribution that has an address, and continues with
 * quoted text.
 */
function holdsAttribution(line: string): boolean {
  if (!line.includes('@')) return false;
  const words = bare(line.slice(0, maxCharacters).trim());
  if (!opening.test(words) || !words.includes('@')) return false;
  const found = verbWithin.exec(words)?.[0];
  return found !== undefined && introducesAll(found);
}

/**
 * Returns the first line of the first attribution before `limit` that no line with `>` follows, or
 * null. All text below the attribution is quoted.
 */
export function findBareAttribution(
  lines: readonly string[],
  limit: number,
  isQuoted: (at: number) => boolean,
): number | null {
  for (let end = 0; end < limit; end += 1) {
    const line = lines[end] ?? '';
    if (!hasColon(line) || isQuoted(end)) continue;
    if (holdsAttribution(line)) return end;
    if (line.length > maxCharacters) continue;
    if (!colonAtEnd.test(bare(line))) continue;
    const start = findStart(lines, end, isQuoted, 'all');
    if (start === null) continue;
    let next = end + 1;
    while (next < lines.length && isBlank(lines[next])) next += 1;
    if (!isQuoted(next)) return start;
  }
  return null;
}
