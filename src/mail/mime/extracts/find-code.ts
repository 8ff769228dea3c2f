// Finds the one-time codes of a mail: numbers of 4 to 8 digits, by nearby words, position and size
// of letters. Years, telephone numbers, amounts and numbers of orders are never codes.
import { codeName, codeVerb, otherCode, otherNumber, phoneWords, unit } from './code-words.ts';
import { type Block, readHtmlBlocks } from './html-blocks.ts';

/** The readable parts of a mail. */
export interface MailText {
  subject: string | null;
  text: string | null;
  html: string | null;
}

/** A code, with the words around it. */
export interface FoundCode {
  value: string;
  context: string;
}

interface Candidate extends FoundCode {
  score: number;
}

/** A number in a block of text that may be a code. */
interface Found {
  code: string;
  /** The code as it is written in the mail. */
  run: string;
  /** Letters in front of the code, as in `G-482913`. */
  prefix: string;
  before: string;
  after: string;
  isGrouped: boolean;
  /** True for the first of several adjacent numbers with different lengths. */
  isFirst: boolean;
  isAlone: boolean;
}

const mostTextCharacters = 256 * 1024;
const mostSubjectCharacters = 998;
const mostCandidates = 2_000;
/** Most codes that are returned for a mail. */
const mostCodes = 10;
const wordsBefore = 120;
const wordsAfter = 60;
const blocksBefore = 3;
const longestLabel = 40;
/** Size in pixels from which letters stand out. */
const largeSize = 24;

/** A run of digits, perhaps in groups, not adjacent to a letter, digit, decimal or path. */
const number =
  /(?<![\p{Script=Latin}\p{Nd}_/@+]|\p{Nd}[.,:/-]|\p{L}-)(?:([A-Z]{1,3})-)?(\d{1,12}(?:[ \u00a0\u2009\u202f–-]\d{1,12}){0,11})(?![\p{Script=Latin}\p{Nd}_%°@]|[.,:/-][\p{Nd}]|-\p{L})/gu;
/** Words that bind a number to the name before it: `code is`, `PIN:`. */
const binding =
  /^["'”’\])}】」』)\s]*(?:[:：=]|is|lautet|ist|est|es|é|è|är|er|jest|to|は|是|为|為|는|은)[:：\s*_"'“„«‘[({【「『(]*$/iu;
const bindingEnd = /(?:[:：=]|(?<!\p{L})(?:is|lautet|ist|est|es|é|è|är|er|jest))\s*$/iu;
const opening = /^[\s:：=*_"'“„«‘[({【「『(\-–—>]*$/u;
const sentenceEnd = /[.!?。!?](?:\s|$)/;

/** Converts a digit to ASCII. The code point of a zero is 16n + 6 in Devanagari, else 16n. */
function asciiDigit(digit: string): string {
  const point = digit.charCodeAt(0);
  return String((point - (/[०-९]/.test(digit) ? 6 : 0)) % 16);
}

/** Replaces non-ASCII digits by ASCII digits, and links and addresses by spaces. */
function normalize(text: string): string {
  // NFKC is not used: it turns a number before a Chinese comma into a decimal.
  return text
    .replace(/[٠-٩۰-۹०-९０-９]/g, asciiDigit)
    .replace(/https?:\/\/\S{1,2000}|\bwww\.\S{1,500}|\S{1,64}@\S{1,255}/gi, ' ');
}

/** Joins the digits of a run; null if its groups cannot form a single code. */
function joinGroups(run: string): Pick<Found, 'code' | 'isGrouped' | 'isFirst'> | null {
  const groups = run.split(/[^\d]/);
  const [first = ''] = groups;
  const isEven = groups.every(({ length }) => length === first.length);
  const code = isEven ? groups.join('') : first;
  if (code.length < 4 || code.length > 8) return null;
  // `555-0123` is a telephone number: different numbers after a code follow only after a space.
  if (!isEven && run[first.length] !== ' ') return null;
  return { code, isGrouped: isEven && groups.length > 1, isFirst: !isEven };
}

const isYear = (text: string) => /^(?:19|20)\d\d$/.test(text);

/** Returns true for a year, a span of years, and a date without separators. */
function isDate(code: string): boolean {
  if (code.length === 4) return isYear(code);
  if (code.length !== 8) return false;
  const isSpan = isYear(code.slice(0, 4)) && isYear(code.slice(4));
  return isSpan || /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/.test(code);
}

function isPhone({ code, before, isGrouped }: Found): boolean {
  return (
    phoneWords.test(before) ||
    /\+\s?$|\(\+?\d{1,5}\)\s?$/.test(before) ||
    (isGrouped && code.startsWith('0800'))
  );
}

/** Returns the offset after the last name of a code, such as `PIN`; -1 without a name. */
function lastName(before: string): number {
  let end = -1;
  for (const found of before.matchAll(codeName)) {
    const start = Math.max(0, found.index - 12);
    if (!otherCode.test(before.slice(start, found.index + found[0].length))) {
      end = found.index + found[0].length;
    }
  }
  return end;
}

/** Returns true for a number that cannot be a code, whatever the neighbouring blocks say. */
function isOther(found: Found): boolean {
  const { code, before, after } = found;
  const gap = lastName(before) < 0 ? null : before.slice(lastName(before));
  const isBound = gap !== null && binding.test(gap);
  if (isDate(code)) return !isBound;
  if (found.isFirst && !isBound && !(gap !== null && opening.test(gap))) return true;
  if (unit.test(after) || /[$€£¥₩₹#]\s?$/.test(before)) return true;
  if (/(?:[•·…]|xx|\*{3})[\s-]?$/i.test(before)) return true;
  const nearby = gap ?? before;
  return isPhone({ ...found, before: nearby }) || otherNumber.test(nearby);
}

/** Scores the words around the number: 0 without words for a code, about 100 for the best. */
function scoreWords({ before, after }: Found, previous: readonly Block[], next: string): number {
  const end = lastName(before);
  if (end >= 0) {
    const gap = before.slice(end);
    const isNear = binding.test(gap) || opening.test(gap);
    const doubt = (sentenceEnd.test(gap) ? 10 : 0) + (/\d{4}/.test(gap) ? 25 : 0);
    const bonus = bindingEnd.test(gap) ? 25 : 0;
    return isNear ? 100 : 92 - Math.min(gap.length, wordsBefore) / 3 - doubt + bonus;
  }
  const behind = lastName(after.split(/\d{4}/)[0] ?? '');
  if (behind >= 0) return 85 - behind / 3;
  const above = previous.findIndex(({ text }) => lastName(text.slice(-2 * wordsBefore)) >= 0);
  if (above >= 0) return 78 - 8 * above;
  if (lastName(next.slice(0, wordsAfter)) >= 0) return 55;
  const near = `${previous[0]?.text.slice(-wordsAfter) ?? ''}\n${before.slice(-30)}\n${after.slice(0, 30)}`;
  return near.search(codeVerb) >= 0 ? 40 : 0;
}

/** Scores form and position of the number, without the words around it. */
function scoreForm({ code, prefix, isAlone, isGrouped }: Found, size: number): number {
  const isKnown = prefix === '' || /^(?:G|FB)$/.test(prefix);
  const length = code.length === 6 ? 6 : 2;
  const large = size >= largeSize ? 14 : size >= 19 ? 7 : 0;
  return length + large + (isAlone ? 20 : 0) + (isGrouped ? 2 : 0) - (isKnown ? 0 : 60);
}

function findNumbers(text: string): Found[] {
  return [...text.matchAll(number)].flatMap((match) => {
    const joined = joinGroups(match[2] ?? '');
    if (!joined) return [];
    const end = match.index + match[0].length;
    const outside = text.slice(0, match.index) + text.slice(end);
    return {
      ...joined,
      run: match[0],
      prefix: match[1] ?? '',
      before: text.slice(Math.max(0, match.index - wordsBefore), match.index),
      after: text.slice(end, end + wordsAfter),
      isAlone: !/[\p{L}\p{N}]/u.test(outside),
    };
  });
}

/** Joins the digits of a code that has a separate block for each digit. */
function joinDigits(blocks: readonly Block[]): Block[] {
  const joined: Block[] = [];
  let digits: Block[] = [];
  const flush = () => {
    if (digits.length < 4) joined.push(...digits);
    else joined.push({ text: digits.map(({ text }) => text).join(''), size: digits[0]?.size ?? 0 });
    digits = [];
  };
  for (const block of blocks) {
    if (!/^\d$/.test(block.text)) flush();
    if (/^\d$/.test(block.text)) digits.push(block);
    else joined.push(block);
  }
  flush();
  return joined;
}

/** Returns true for the number of a town or street, as in `10117 Berlin` or `CA 94107`. */
function isPlace({ code, before, after }: Found): boolean {
  return code.length < 6 && (/^,? ?\p{Lu}\p{Ll}/u.test(after) || /\b[A-Z]{2} $/.test(before));
}

/**
 * Returns the text above a number that is alone in a block, as a label; '' for a text that is long,
 * or asks for a code (`codeVerb`).
 */
function labelAbove(found: Found, above: Block | undefined): string {
  const label = found.isAlone ? (above?.text ?? '') : '';
  return label === '' || label.length > longestLabel || label.search(codeVerb) >= 0
    ? ''
    : `${label} `;
}

/**
 * Returns the possible codes in blocks. `isSubject`: the blocks are the subject, which raises the
 * score. `isAbout`: the subject names a code.
 */
function candidatesIn(
  given: readonly Block[],
  { isSubject, isAbout }: { isSubject: boolean; isAbout: boolean },
): Candidate[] {
  const blocks = joinDigits(given.map((one) => ({ ...one, text: normalize(one.text).trim() })));
  const all: Candidate[] = [];
  blocks.forEach((block, at) => {
    if (all.length >= mostCandidates || !/\d/.test(block.text)) return;
    const previous = blocks.slice(Math.max(0, at - blocksBefore), at).toReversed();
    for (const found of findNumbers(block.text)) {
      const before = labelAbove(found, previous[0]) + found.before;
      if (isOther({ ...found, before })) continue;
      const words = scoreWords(found, previous, blocks[at + 1]?.text ?? '');
      const isSeen = found.isAlone || isSubject || block.size >= largeSize;
      if (words === 0 && (isPlace(found) || !(isSeen || isAbout))) continue;
      const near = Math.max(words, isAbout && !isSubject ? 30 : 0);
      const score = near + scoreForm(found, block.size) + (isSubject ? 15 : 0);
      const context = `${before}${found.run}${found.after}`.replace(/\s+/g, ' ').trim();
      if (score > 0) all.push({ value: found.code, context, score });
    }
  });
  return all;
}

const plainBlocks = (text: string): Block[] =>
  text
    .slice(0, mostTextCharacters)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => ({ text: line, size: 0 }));

/**
 * Returns the codes of the mail, the likeliest first, each once, as digits without spaces and
 * prefix. Prefers a number beside a word such as "code" or "PIN", then a number in the subject,
 * alone in a line, or in the largest letters.
 */
export function findCodes({ subject: whole, text, html }: MailText): FoundCode[] {
  const subject = (whole ?? '').slice(0, mostSubjectCharacters);
  const isAbout = lastName(subject) >= 0;
  const bodies = [plainBlocks(text ?? ''), readHtmlBlocks(html ?? '')];
  const all = [
    ...candidatesIn(plainBlocks(subject), { isSubject: true, isAbout }),
    ...bodies.flatMap((blocks) => candidatesIn(blocks, { isSubject: false, isAbout })),
  ];
  const byValue = new Map<string, FoundCode>();
  // The sort is stable, so the first of equal codes stays.
  for (const { value, context } of all.sort((one, other) => other.score - one.score)) {
    if (byValue.size < mostCodes && !byValue.has(value)) byValue.set(value, { value, context });
  }
  return [...byValue.values()];
}

/** Returns the likeliest code of the mail, or null. */
export function findCode(mail: MailText): string | null {
  return findCodes(mail)[0]?.value ?? null;
}
