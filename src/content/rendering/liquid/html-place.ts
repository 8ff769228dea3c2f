// Follows HTML as browsers tokenize it (HTML 13.2.5), as far as needed to escape a value: in text,
// in an attribute with or without quotes, in the address of a link. Pure.
import { decodeEntities, withoutIgnored } from './escape.ts';

type Kind =
  | 'text'
  /** Content of `<style>` and the like, where only the end tag counts. */
  | 'rawText'
  | 'comment'
  | 'declaration'
  /** After `<`, or after `</`. */
  | 'tagOpen'
  | 'tagName'
  | 'inTag'
  | 'attributeName'
  | 'afterName'
  /** After `=`. */
  | 'beforeValue'
  | 'value';

/** State of the tokenizer before the next character of the HTML. */
export interface HtmlPlace {
  readonly kind: Kind;
  /** Name of the tag, or of the element that contains raw text. */
  readonly element: string;
  readonly isEndTag: boolean;
  readonly attribute: string;
  readonly quote: '"' | "'" | '';
  /** Characters of an address so far, while the scheme may still change; else null. */
  readonly address: string | null;
}

/**
 * Part of an address in a text, as offsets, while the scheme is not settled. `before` holds the
 * characters of the address that precede the text.
 */
export interface AddressRange {
  start: number;
  end: number;
  before: string;
}

/** Addresses and the end of the body, as `follow` finds them. */
export interface Findings {
  addresses: AddressRange[];
  /** Offset of the last `</body>`, or of `</html>` without `</body>`; null if both are missing. */
  bodyEnd: number | null;
}

export const startPlace: HtmlPlace = {
  kind: 'text',
  element: '',
  isEndTag: false,
  attribute: '',
  quote: '',
  address: null,
};

/** Attributes with an address that a mail program may open or load. */
const addressAttributes = new Set(
  [
    'action',
    'background',
    'cite',
    'data',
    'dynsrc',
    'formaction',
    'href',
    'longdesc',
    'lowsrc',
  ].concat(['ping', 'poster', 'src', 'srcset', 'xlink:href']),
);
const rawElements = new Set([
  'iframe',
  'noembed',
  'noframes',
  'script',
  'style',
  'textarea',
  'title',
  'xmp',
]);
const mostNameCharacters = 40;
/** After any of these characters an address has a complete scheme, or none. */
const schemeEnd = /[:/?#]/;
const mostSchemeCharacters = 200;

/** Returns the characters of an address while the scheme may still change; else null. */
function openAddress(characters: string): string | null {
  const open = withoutIgnored(characters);
  const isSettled = schemeEnd.test(decodeEntities(open)) || open.length > mostSchemeCharacters;
  return isSettled ? null : open;
}

/** Returns the address so far if a value here continues or begins an address; else null. */
export function addressAt(place: HtmlPlace): string | null {
  if (place.kind === 'value') return place.address;
  const isAddress = place.kind === 'beforeValue' && addressAttributes.has(place.attribute);
  return isAddress ? '' : null;
}

const settledPlaces = new WeakMap<HtmlPlace, HtmlPlace>();

/**
 * Returns the place after more characters of an address. Returns the same object once the scheme is
 * settled.
 */
export function afterAddress(place: HtmlPlace, characters: string): HtmlPlace {
  const address = openAddress((place.address ?? '') + characters);
  if (address !== null) return { ...place, address };
  const settled = settledPlaces.get(place) ?? { ...place, address: null };
  settledPlaces.set(place, settled);
  return settled;
}

class Follower {
  readonly text: string;
  readonly findings: Findings | null;
  at = 0;
  kind: Kind;
  element: string;
  isEndTag: boolean;
  attribute: string;
  quote: HtmlPlace['quote'];
  address: string | null;
  #tagAt = 0;

  constructor(text: string, from: HtmlPlace, findings: Findings | null) {
    this.text = text;
    this.findings = findings;
    this.kind = from.kind;
    this.element = from.element;
    this.isEndTag = from.isEndTag;
    this.attribute = from.attribute;
    this.quote = from.quote;
    this.address = from.address;
  }

  run(): HtmlPlace {
    while (this.at < this.text.length) this.#step();
    const { kind, element, isEndTag, attribute, quote, address } = this;
    return { kind, element, isEndTag, attribute, quote, address };
  }

  #step(): void {
    switch (this.kind) {
      case 'text':
        this.#inText();
        break;
      case 'rawText':
        this.#inRawText();
        break;
      case 'comment':
        this.#skipTo('-->', 'text');
        break;
      case 'declaration':
        this.#skipTo('>', 'text');
        break;
      case 'tagOpen':
        this.#openTag();
        break;
      case 'tagName':
        this.#readName();
        break;
      case 'inTag':
        this.#inTag();
        break;
      case 'attributeName':
        this.#readAttributeName();
        break;
      case 'afterName':
        this.#afterName();
        break;
      case 'beforeValue':
        this.#beforeValue();
        break;
      default:
        this.#inValue();
    }
  }

  #skipTo(end: string, kind: Kind): void {
    const at = this.text.indexOf(end, this.at);
    if (at < 0) this.at = this.text.length;
    else {
      this.at = at + end.length;
      this.kind = kind;
    }
  }

  #inText(): void {
    const { text } = this;
    const open = text.indexOf('<', this.at);
    this.at = open < 0 ? text.length : open + 1;
    if (open < 0) return;
    this.#tagAt = open;
    if (text.startsWith('<!--', open)) {
      // The content of a conditional comment is HTML for Outlook.
      if (/^<!--\[if/i.test(text.slice(open, open + 7))) this.#skipTo(']>', 'text');
      else if (text.startsWith('>', open + 4)) this.at = open + 5;
      else if (text.startsWith('->', open + 4)) this.at = open + 6;
      else {
        this.at = open + 4;
        this.kind = 'comment';
      }
    } else if (text[open + 1] === '!' || text[open + 1] === '?') this.kind = 'declaration';
    else {
      this.kind = 'tagOpen';
      this.isEndTag = false;
    }
  }

  #inRawText(): void {
    const end = new RegExp(`</${this.element}(?=[\\s/>])`, 'gi');
    end.lastIndex = this.at;
    const found = end.exec(this.text);
    this.at = found ? end.lastIndex : this.text.length;
    if (!found) return;
    this.isEndTag = true;
    this.kind = 'inTag';
  }

  #openTag(): void {
    const character = this.text[this.at] ?? '';
    if (/[a-z]/i.test(character)) {
      this.kind = 'tagName';
      this.element = '';
    } else if (character === '/' && !this.isEndTag) {
      this.isEndTag = true;
      this.at += 1;
    } else this.kind = this.isEndTag && character !== '>' ? 'declaration' : 'text';
  }

  /** Reads a name up to `ends`. Returns at most 40 characters, in lower case. */
  #readUntil(ends: RegExp): string {
    ends.lastIndex = this.at;
    const found = ends.exec(this.text);
    const read = this.text.slice(this.at, found ? found.index : this.text.length);
    this.at += read.length;
    return read.slice(0, mostNameCharacters).toLowerCase();
  }

  #readName(): void {
    this.element = (this.element + this.#readUntil(/[\s/>]/g)).slice(0, mostNameCharacters);
    if (this.at < this.text.length) this.kind = 'inTag';
  }

  #inTag(): void {
    const character = this.text[this.at] ?? '';
    if (character === '>') this.#closeTag();
    else if (/[\s/]/.test(character)) this.at += 1;
    else {
      this.kind = 'attributeName';
      this.attribute = '';
      // A `=` at the beginning belongs to the name of the attribute.
      if (character === '=') this.at += 1;
    }
  }

  #closeTag(): void {
    this.at += 1;
    const { findings, element } = this;
    if (this.isEndTag && findings && (element === 'body' || element === 'html')) {
      if (element === 'body' || findings.bodyEnd === null) findings.bodyEnd = this.#tagAt;
    }
    const isRaw = !this.isEndTag && rawElements.has(element);
    this.kind = isRaw ? 'rawText' : 'text';
    if (!isRaw) this.element = '';
    this.isEndTag = false;
    this.attribute = '';
  }

  #readAttributeName(): void {
    this.attribute = (this.attribute + this.#readUntil(/[\s/>=]/g)).slice(0, mostNameCharacters);
    if (this.at >= this.text.length) return;
    if (this.text[this.at] === '=') {
      this.at += 1;
      this.kind = 'beforeValue';
    } else this.kind = 'afterName';
  }

  #afterName(): void {
    const character = this.text[this.at] ?? '';
    if (/\s/.test(character)) this.at += 1;
    else if (character === '=') {
      this.at += 1;
      this.kind = 'beforeValue';
    } else this.kind = 'inTag';
  }

  #beforeValue(): void {
    const character = this.text[this.at] ?? '';
    if (/\s/.test(character)) this.at += 1;
    else if (character === '>') this.kind = 'inTag';
    else {
      this.quote = character === '"' || character === "'" ? character : '';
      this.address = addressAttributes.has(this.attribute) ? '' : null;
      this.kind = 'value';
      if (this.quote !== '') this.at += 1;
    }
  }

  #inValue(): void {
    const { text, quote, at } = this;
    let end = text.indexOf(quote, at);
    if (quote === '') {
      const ends = /[\s>]/g;
      ends.lastIndex = at;
      end = ends.exec(text)?.index ?? -1;
    }
    const valueEnd = end < 0 ? text.length : end;
    if (this.address !== null) {
      this.findings?.addresses.push({ start: at, end: valueEnd, before: this.address });
      this.address = openAddress(this.address + text.slice(at, valueEnd));
    }
    this.at = valueEnd;
    if (end < 0) return;
    if (quote !== '') this.at += 1;
    this.kind = 'inTag';
    this.quote = '';
    this.address = null;
  }
}

/** Returns the place after a text, and adds to the findings. */
export function follow(text: string, from: HtmlPlace, findings: Findings | null = null): HtmlPlace {
  return text === '' ? from : new Follower(text, from, findings).run();
}

/** Returns the offset at which content is added to the end of an HTML document. */
export function endOfBody(html: string): number {
  const findings: Findings = { addresses: [], bodyEnd: null };
  follow(html, startPlace, findings);
  return findings.bodyEnd ?? html.length;
}
