// Finds the links of an HTML mail and the place of the pixel, as offsets to cut at. Only addresses
// are ever replaced. All remaining bytes stay as they are (MSO conditionals are comments). Pure.

import { RewritingStream } from 'parse5-html-rewriting-stream';
import { sliceTurns } from '../../platform/runtime/fairness/loop-turns.ts';

/** Most characters of HTML that are parsed; the rest stays as it is. Gmail shows 102 KB. */
export const mostCharacters = 1_000_000;
/**
 * Most `<svg` and `<math` tags that are parsed. The parser takes quadratic time for nested
 * elements: 200,000 took 3.5 s.
 */
const mostForeign = 1_000;
/** Most tracked links of a mail. */
export const mostLinks = 1_000;
/** Longest address that every browser supports, and that fits a header of ours. */
const longestUrl = 4_096;
/** Characters that are parsed, in about 3 ms, before the parser may yield to the event loop. */
const sliceCharacters = 32_768;

/** Offsets at which the HTML of a content is cut. */
export interface Cuts {
  /** Start and end of the first address, of the second address and so on. */
  links: readonly number[];
  /** Offset of the pixel; null if the HTML has no place for a pixel. */
  pixelAt: number | null;
}

export interface FoundLinks {
  cuts: Cuts;
  /** Targets of the links, in the order of the cuts. */
  urls: readonly string[];
  /** Number of links in the text that was read. Links after the first 1,000 are not tracked. */
  found: number;
  /**
   * Whether only the beginning of the HTML was parsed. Then the HTML gets no pixel, as the end is
   * unknown.
   */
  isCut: boolean;
}

type Location = { startOffset: number; endOffset: number };
type Tag = {
  tagName: string;
  attrs: { name: string; value: string }[];
  sourceCodeLocation?: (Location & { attrs?: { href?: Location } }) | null;
};

/**
 * Matches long text between two tags. Such text takes two thirds of the parsing time, so it is
 * removed before. Inside of an attribute or a comment, removing it does not change the state of the
 * tokenizer either (HTML 13.2.5): it follows `>`, ends at `<` and has no quote. An address that
 * contains such text is not tracked.
 */
const plainText = /(?<=>)[^<>"']{16,}(?=<)/g;

class Shortened {
  readonly text: string;
  /** Pairs: offset of a gap in `text`, and the characters removed up to the end of the gap. */
  readonly #gaps: number[] = [];

  constructor(html: string) {
    let left = 0;
    this.text = html.replace(plainText, (run, at: number) => {
      this.#gaps.push(at - left, left + run.length);
      left += run.length;
      return '';
    });
  }

  /** Maps an offset to the original text. At a gap, `after` selects the place behind the gap. */
  offset(at: number, after: boolean): number {
    let low = 0;
    let high = this.#gaps.length / 2;
    while (low < high) {
      const middle = (low + high) >> 1;
      const gap = this.#gaps[middle * 2] ?? 0;
      if (gap < at || (after && gap === at)) low = middle + 1;
      else high = middle;
    }
    return at + (low === 0 ? 0 : (this.#gaps[low * 2 - 1] ?? 0));
  }
}

/** Collects the findings while a mail is parsed. */
class Reading {
  readonly links: number[] = [];
  readonly urls: string[] = [];
  found = 0;
  hasPixel = false;
  pixelAt: number | null = null;
  /**
   * Whether the appended `<img>` was parsed as a tag; false if the HTML ends within a comment or
   * tag.
   */
  isOpenAtEnd = false;
  readonly #html: string;
  readonly #short: Shortened;
  readonly #isOurs: IsOurs;

  constructor(html: string, short: Shortened, isOurs: IsOurs) {
    this.#html = html;
    this.#short = short;
    this.#isOurs = isOurs;
  }

  startTag({ tagName, attrs, sourceCodeLocation }: Tag): void {
    if (sourceCodeLocation?.startOffset === this.#short.text.length) this.isOpenAtEnd = true;
    else if (tagName === 'img') this.hasPixel ||= this.#isPixel(attrs);
    else if (tagName === 'a' || tagName === 'area') {
      this.#link(attrs, sourceCodeLocation?.attrs?.href);
    }
  }

  endTag({ tagName, sourceCodeLocation: at }: Pick<Tag, 'tagName' | 'sourceCodeLocation'>): void {
    if (!at || (tagName !== 'body' && tagName !== 'html')) return;
    // Places the pixel before `</body>`, or before `</html>` if `</body>` is missing.
    if (tagName === 'html' && this.pixelAt !== null) return;
    this.pixelAt = this.#short.offset(at.startOffset, true);
  }

  #isPixel(attrs: Tag['attrs']): boolean {
    const source = attrs.find(({ name }) => name === 'src');
    return source !== undefined && this.#isOurs(source.value) === 'pixel';
  }

  #link(attrs: Tag['attrs'], at: Location | undefined): void {
    const href = attrs.find(({ name }) => name === 'href');
    if (!href || !at || attrs.some(({ name }) => name === 'data-no-track')) return;
    const url = webAddress(href.value);
    if (url === null || isUnsubscribeAddress(url) || this.#isOurs(url) !== null) return;
    const start = this.#short.offset(at.startOffset, true);
    const end = this.#short.offset(at.endOffset, false);
    if (end - start !== at.endOffset - at.startOffset) return;
    const [, before = '', quote = ''] =
      /^(href[\t\n\f\r ]*=[\t\n\f\r ]*(["']?))/i.exec(this.#html.slice(start, end)) ?? [];
    if (before === '') return;
    this.found++;
    if (this.found > mostLinks) return;
    this.links.push(start + before.length, end - quote.length);
    this.urls.push(url);
  }
}

/** Common parts of words in unsubscribe addresses. */
const unsubscribeWords = /unsubscri|abmelde|desinscri|d%C3%A9sinscri/i;
/** "opt-out" as a word, but not in "adopt-outdoor". An escaped character ends a word too. */
const optOutWord = /(?:(?<![a-z])|(?<=%[0-9a-f]{2}))opt[-_]?out(?![a-z])/i;
const optOutHump = /[a-z]Opt[-_]?Out(?![a-z])/;

function isUnsubscribeAddress(url: string): boolean {
  return unsubscribeWords.test(url) || optOutWord.test(url) || optOutHump.test(url);
}

/**
 * Returns a web address in the form that a browser requests. Null for an address that is not of the
 * web, or longer than `longestUrl`.
 */
function webAddress(value: string): string | null {
  if (value.length > longestUrl || !/^\s*https?:\/\//i.test(value)) return null;
  const url = URL.canParse(value) ? new URL(value).href : '';
  return url.length > 0 && url.length <= longestUrl ? url : null;
}

/**
 * Recognizes addresses of this service, which are never tracked again. Null for a foreign address.
 */
export type IsOurs = (url: string) => 'pixel' | 'link' | null;

/** Returns the offset at which parsing ends: at `mostCharacters`, or after `mostForeign` tags. */
function endOfReading(html: string): number {
  const end = Math.min(html.length, mostCharacters);
  const foreign = /<(?:svg|math)/gi;
  for (let count = 0; count < mostForeign; count += 1) {
    const found = foreign.exec(html);
    if (!found || found.index >= end) return end;
  }
  return foreign.lastIndex;
}

/**
 * Finds links and the place of the pixel. Yields to the event loop. Takes linear time for any HTML.
 */
export async function findLinks(html: string, isOurs: IsOurs): Promise<FoundLinks> {
  const end = endOfReading(html);
  const isCut = end < html.length;
  const short = new Shortened(isCut ? html.slice(0, end) : html);
  const reading = new Reading(html, short, isOurs);
  const parser = new RewritingStream();
  // Adds listeners that do nothing: the parser would serialize events without a listener.
  for (const event of ['text', 'comment', 'doctype'] as const) parser.on(event, () => {});
  parser.on('startTag', (tag) => reading.startTag(tag as Tag));
  parser.on('endTag', (tag) => reading.endTag(tag as Tag));
  const ended = Promise.withResolvers<void>();
  parser.once('error', ended.reject);
  parser.once('finish', ended.resolve);
  for (let at = 0; at < short.text.length; at += sliceCharacters) {
    await sliceTurns();
    parser.write(short.text.slice(at, at + sliceCharacters));
  }
  if (!isCut) {
    parser.end('<img>');
    await ended.promise;
  }
  const { links, urls, found, hasPixel, isOpenAtEnd, pixelAt } = reading;
  const place = pixelAt ?? (isOpenAtEnd ? html.length : null);
  return { cuts: { links, pixelAt: hasPixel || isCut ? null : place }, urls, found, isCut };
}

/**
 * Hot. Fills in the addresses of `linkUrl` (links count from 1) and the pixel at `pixelUrl`. A null
 * `linkUrl` keeps the addresses, a null `pixelUrl` adds no pixel.
 */
export function fillLinks(
  html: string,
  { links, pixelAt }: Cuts,
  linkUrl: ((link: number) => string) | null,
  pixelUrl: string | null,
): string {
  let filled = '';
  let at = 0;
  const upTo = (end: number) => {
    if (pixelUrl !== null && pixelAt !== null && at <= pixelAt && pixelAt <= end && !isPlaced) {
      filled += html.slice(at, pixelAt) + pixelTag(pixelUrl);
      at = pixelAt;
      isPlaced = true;
    }
    filled += html.slice(at, end);
  };
  let isPlaced = false;
  if (linkUrl !== null) {
    for (let index = 0; index < links.length; index += 2) {
      upTo(links[index] ?? 0);
      filled += linkUrl(index / 2 + 1);
      at = links[index + 1] ?? 0;
    }
  }
  upTo(html.length);
  return filled;
}

function pixelTag(url: string): string {
  return `<img src="${url}" width="1" height="1" alt="" style="border:0">`;
}
