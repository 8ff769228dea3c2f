// The lines in which a mail program says whose words follow: `On 4 Mar 2025, Alice <a@b> wrote:` in its
// languages, wrapped over lines, between asterisks, with `<mailto:…>` inside, undated. Pure and linear:
// at most four lines of 400 characters are looked at together.

const maxLines = 4;
const maxCharacters = 400;
const maxBlankLines = 2;
/** A line this short was not wrapped: what is below it begins anew. */
const wrappedLineCharacters = 30;

const blankLine = /^\s*$/;
const isBlank = (line: string | undefined) => line === undefined || blankLine.test(line);

/** `wrote`, `a écrit`, `のメール` before the colon, `schrieb Alice` or `Quoting Alice` before a name. */
const verbs = [
  'wrote|writes|said|schrieb|schreibt|(?:folgendes )?geschrieben|(?:volgende )?geschreven|écrit|ecrit',
  'escribió|escribio|scritto|escreveu|skrev|kirjoitti|pisze|napisał(?:\\(a\\)|a)?|napsal\\(?a?\\)?',
  'пишет|писал(?:\\(а\\)|а)?|написал(?:\\(а\\)|а)?|yazdı|şunu yazdı|írta|έγραψε',
];
const japaneseVerbs =
  '(?:さん)?(?:は|が)?(?:書きました|wrote)|(?:さん)?の(?:メール|メッセージ)|写道|寫道|(?:님이|님의)? ?(?:작성|메시지)';
const verbAtEnd = new RegExp(
  `(?:(?<!\\p{L})(?:${verbs.join('|')})|${japaneseVerbs})\\s{0,3}[:：]$`,
  'iu',
);
const verbBeforeName =
  /(?<!\p{L})(?:schrieb|schreef|skrev|quoting|zitat von|citando a?|citazione|quoted? from|en réponse à)\s[^\n]{1,200}[:：]$/iu;
const colonAtEnd = /[:：]$/;
const numbers = /\d{1,4}\D{1,12}\d{1,4}/;
const dateAndTime = /\d{1,4}[^\n]{1,60}\d{1,2}(?:[:.]|\s?h\s?)\d{2}/;
const addressAtEnd = /[<([][^\s<>@]{1,64}@[^\s<>@]{1,255}[>)\]]\s{0,3}[:：]$/;
/** Without one no line introduces anything: asked first, as few lines have one. */
export const hasColon = (line: string) => line.includes(':') || line.includes('：');
/** How a dated one begins. */
const opening =
  /^\(?(?:(?:on|am|le|el|il|in data|em|às|no dia|op|den|pe|w dniu|dnia|dne|vào) \P{N}{0,24}\d|\d{1,4}[年./-])/iu;

/** Without marks of emphasis around it and the links that Outlook writes behind an address. */
function bare(text: string): string {
  return text
    .replace(/<mailto:[^<>\s]{1,320}>/gi, '')
    .replace(/^[\s*_]{1,4}|[\s*_]{1,4}$/g, '')
    .replace(/[*_]{1,2}(?=[:：]$)/, '');
}

const hasVerb = (text: string) => verbAtEnd.test(text) || verbBeforeName.test(text);

/** In front of marked lines: it ends in a colon and names a moment, an address, or somebody who wrote. */
function introducesMarks(text: string): boolean {
  return colonAtEnd.test(text) && (text.includes('@') || numbers.test(text) || hasVerb(text));
}

/** In front of lines without marks it names a moment, and a verb or an address at its end. */
function introducesAll(text: string): boolean {
  if (!colonAtEnd.test(text)) return false;
  if (hasVerb(text)) return dateAndTime.test(text) && (opening.test(text) || text.includes('@'));
  return addressAtEnd.test(text) && dateAndTime.test(text) && opening.test(text);
}

/** Bars are drawn for other things too. */
const introducesBars = (text: string) => colonAtEnd.test(text) && hasVerb(text);

const tests = { marks: introducesMarks, all: introducesAll, bars: introducesBars };

/** Whether line `at` may be the wrapped beginning of what is below it. */
function isWrapped(line: string): boolean {
  return line.length > wrappedLineCharacters && !/[.!?。:：]\s*$/.test(line);
}

/**
 * The first line of the attribution that ends with line `end`, or null. Of the lines above it those
 * belong to it that a dated opening reaches over; without one, the fewest that make one.
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
    if (isBlank(line) || isQuoted(at) || (at < end && fewest !== null && !isWrapped(line))) break;
    text = `${line.trim()} ${text}`.trim();
    if (text.length > maxCharacters) break;
    const words = bare(text);
    if (!tests[follows](words)) continue;
    if (opening.test(words)) return at;
    fewest ??= at;
  }
  return fewest === null ? null : withWrappedName(lines, fewest, end);
}

/** An address or a name alone may be the wrapped end: `Sender Alice on 4 March <` is the line above. */
function withWrappedName(lines: readonly string[], start: number, end: number): number {
  const above = lines[start - 1] ?? '';
  if (isBlank(above) || start < end - 1) return start;
  const text = lines.slice(start, end + 1).join(' ');
  const isCut = /[<,]\s*$/.test(above);
  const isUndated = !/\d/.test(text.replace(/<?\S+@\S+/g, '')) && !hasVerb(bare(text));
  return (isCut || isUndated) && isWrapped(above) && /\d/.test(above) ? start - 1 : start;
}

/** The first line of the attribution above the marked block that starts at `first`, or null. */
export function findAttribution(
  lines: readonly string[],
  first: number,
  isQuoted: (at: number) => boolean,
  mark: 'marks' | 'bars',
): number | null {
  let end = first - 1;
  while (end >= 0 && first - end <= maxBlankLines + 1 && isBlank(lines[end])) end -= 1;
  return end < 0 || isQuoted(end) ? null : findStart(lines, end, isQuoted, mark);
}

/**
 * The first line of the first attribution before `limit` that no marked line follows: all below it is
 * quoted. Null where there is none.
 */
export function findBareAttribution(
  lines: readonly string[],
  limit: number,
  isQuoted: (at: number) => boolean,
): number | null {
  for (let end = 0; end < limit; end += 1) {
    const line = lines[end] ?? '';
    if (line.length > maxCharacters || !hasColon(line) || isQuoted(end)) continue;
    if (!colonAtEnd.test(bare(line))) continue;
    const start = findStart(lines, end, isQuoted, 'all');
    if (start === null) continue;
    let next = end + 1;
    while (next < lines.length && isBlank(lines[next])) next += 1;
    if (!isQuoted(next)) return start;
  }
  return null;
}
