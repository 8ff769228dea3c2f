// Advice about HTML mail. Advice never refuses a mail. Pure, and linear in the text.
import { type Token, Tokenizer } from 'parse5';
import type { TemplateWarning } from '../compiled.ts';

/** Size from which Gmail hides the rest of a mail. */
const clippedFrom = 102 * 1024;
/** Most warnings of a kind for a text. */
const mostOfKind = 10;

interface Advice {
  code: string;
  message: string;
}

/** Facts of a send that advice depends on. */
export interface LintFacts {
  senderDomain: string;
  /** True if the send names an unsubscribe group. */
  hasGroup: boolean;
  /** The unsubscribe link of the message; null or undefined without an unsubscribe group. */
  unsubscribeUrl?: string | null;
}

const short = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 100);

/** Returns advice about a start tag. */
export function adviceOnTag(tag: string, attributes: Readonly<Record<string, string>>): Advice[] {
  const { src = '', alt, rel = '' } = attributes;
  if (tag === 'script') return [{ code: 'script', message: 'mail programs remove <script>' }];
  if (tag === 'form') {
    return [{ code: 'form', message: 'most mail programs remove <form>: use a link' }];
  }
  if (tag === 'link' && /\bstylesheet\b/i.test(rel)) {
    return [{ code: 'remote-css', message: 'mail programs do not load remote CSS' }];
  }
  if (tag !== 'img') return [];
  const advice: Advice[] = [];
  if (alt === undefined) {
    const message = `the image ${short(src)} has no alt: say what it shows, or alt="" for decoration`;
    advice.push({ code: 'image-without-alt', message });
  }
  if (/^\s*http:/i.test(src)) {
    const message = `the image ${short(src)} is loaded over http: use https`;
    advice.push({ code: 'insecure-image', message });
  }
  return advice;
}

/** Returns a warning if Gmail would cut off the HTML; else an empty list. */
export function adviceOnSize(html: string): Advice[] {
  const bytes = Buffer.byteLength(html);
  if (bytes <= clippedFrom) return [];
  const message = `the HTML has ${Math.ceil(bytes / 1024)} KB: Gmail cuts it at 102 KB`;
  return [{ code: 'clipped-by-gmail', message }];
}

/** Returns a warning if the text part is missing or blank; else an empty list. */
export function adviceOnText(text: string | null): Advice[] {
  if (text !== null && text.trim() !== '') return [];
  return [{ code: 'text-missing', message: 'the text part is empty: write body.txt' }];
}

function isForeign(url: string, senderDomain: string): boolean {
  if (!/^\s*https?:/i.test(url) || !URL.canParse(url.trim())) return false;
  const host = new URL(url.trim()).hostname.replace(/\.$/, '');
  const own = senderDomain.toLowerCase();
  return host !== own && !host.endsWith(`.${own}`) && !own.endsWith(`.${host}`);
}

class Linter {
  readonly #facts: LintFacts;
  readonly #found: TemplateWarning[] = [];
  #hasUnsubscribe = false;

  constructor(facts: LintFacts) {
    this.#facts = facts;
  }

  read(html: string): TemplateWarning[] {
    const nothing = () => {};
    let style = -1;
    const tokenizer = new Tokenizer(
      { sourceCodeLocationInfo: true },
      {
        onStartTag: (token) => {
          this.#tag(token);
          if (token.tagName === 'style') style = token.location?.endOffset ?? -1;
        },
        onEndTag: (token) => {
          if (token.tagName !== 'style' || style < 0) return;
          const css = html.slice(style, token.location?.startOffset);
          if (/@import/i.test(css)) {
            this.#add('remote-css', 'mail programs do not load remote CSS: remove @import');
          }
          style = -1;
        },
        onComment: nothing,
        onDoctype: nothing,
        onCharacter: nothing,
        onWhitespaceCharacter: nothing,
        onNullCharacter: nothing,
        onEof: nothing,
      },
    );
    tokenizer.write(html, true);
    for (const { code, message } of adviceOnSize(html)) this.#add(code, message);
    if (this.#facts.hasGroup && !this.#hasUnsubscribe) {
      const message =
        'the HTML has no unsubscribe link: add {{ unsubscribe_url }} or {% brand_footer %}';
      this.#add('unsubscribe-link-missing', message);
    }
    return this.#found;
  }

  #tag({ tagName, attrs }: Token.TagToken): void {
    const attributes = Object.fromEntries(attrs.map(({ name, value }) => [name, value]));
    for (const { code, message } of adviceOnTag(tagName, attributes)) this.#add(code, message);
    const { href } = attributes;
    if (href === undefined || (tagName !== 'a' && tagName !== 'area')) return;
    if (isUnsubscribe(href, this.#facts.unsubscribeUrl)) this.#hasUnsubscribe = true;
    else if (isForeign(href, this.#facts.senderDomain)) {
      const message = `the link ${short(href)} leads to another domain than the sender's`;
      this.#add('foreign-link', message);
    }
  }

  #add(code: string, message: string): void {
    const same = this.#found.filter((one) => one.code === code);
    if (same.length >= mostOfKind || same.some((one) => one.message === message)) return;
    this.#found.push({ code, message, path: null, line: null });
  }
}

function isUnsubscribe(href: string, url: string | null | undefined): boolean {
  return (url && href.startsWith(url)) || /^https?:\/\/[^/?#]+\/u\//i.test(href);
}

/** Returns advice about the HTML of a mail as it would be sent. */
export function lintHtml(html: string, facts: LintFacts): TemplateWarning[] {
  return new Linter(facts).read(html);
}
