// Reads address lists of received mail: RFC 5322 3.4 with the obsolete syntax of 4.4, and forms
// outside of all RFCs: an unclosed quote or parenthesis, a comma or colon in a bare name, an
// address without brackets. Pure, linear and bounded. src/platform/net/address.ts has the strict
// grammar of sent mail.
import { parseAddress } from '../../../platform/net/address.ts';
import { type HeaderAddress, parseLimits } from '../parsed-mail.ts';
import { type AddressToken, addressTokens } from './address-tokens.ts';
import { decodeWords } from './header-values.ts';

export interface AddressList {
  addresses: HeaderAddress[];
  /** Number of entries without a usable address. */
  invalid: number;
  /** True if the list has more than 500 entries, of which the first 500 are read. */
  truncated: boolean;
}

const maxNameCharacters = 320;
/**
 * Looser than the grammar of sent mail: received mail contains one-label domains and address
 * literals.
 */
const looseAddress = /^(?:[^\s@<>()",;:\\]{1,64}|"[^"\r\n]{1,62}")@[^\s@<>()",;\\'`{}|*]{1,255}$/;
const domainLiteral = /@\[[^\][\s@<>()",;\\]{1,255}\]$/;
/** A local part alone. Programs write it for a user of their own machine. */
const localPartAlone = /^[\w!#$%&'*+/=?^`{|}~.-]{1,64}$/;
/** White space that obsolete syntax allows around dots and at signs (RFC 5322 4.4). */
const blanksAround = / ?([.@]) ?/g;
/**
 * Returns an address in normal form, or null. `text` has no comments and no white space around it.
 */
function readBare(text: string): string | null {
  const word = text.replace(/^mailto:/i, '').replace(/\.$/, '');
  if (word.length > 320 || word.includes('=?')) return null;
  const strict = parseAddress(word);
  if (strict) return strict.email;
  if (!looseAddress.test(word)) return null;
  if (/[[\]]/.test(word) && !domainLiteral.test(word)) return null;
  const at = word.lastIndexOf('@');
  return word.slice(0, at + 1) + word.slice(at + 1).toLowerCase();
}

/**
 * Joins the words of a local part in which some are quoted: `"joe".doe` is `joe.doe` (RFC 5322
 * 4.4).
 */
function unquoteWords(local: string): string {
  let joined = '';
  let isQuoted = false;
  for (let at = 0; at < local.length; at += 1) {
    const character = local.charAt(at);
    if (character === '"') isQuoted = !isQuoted;
    else if (character === '\\' && isQuoted) {
      at += 1;
      joined += local.charAt(at);
    } else joined += character;
  }
  return !isQuoted && /^[^\s@<>()",;:\\]+$/.test(joined) ? joined : local;
}

/** Reads a whole address in obsolete or present syntax; null if further words follow. */
function readWhole(text: string, bareDomain: string | null): string | null {
  // White space is collapsed first: patterns over runs of blanks would take quadratic time.
  const trimmed = text.replace(/\s+/g, ' ').trim();
  if (trimmed === '' || trimmed.length > 2_000) return null;
  const bare =
    bareDomain !== null && localPartAlone.test(trimmed) ? `${trimmed}@${bareDomain}` : trimmed;
  const known = readBare(bare);
  if (known !== null) return known;
  const at = trimmed.lastIndexOf('@');
  if (at < 0) return null;
  // Blanks inside a quoted string are kept.
  const local = trimmed.slice(0, at).trim();
  const isQuoted = /^"(?:[^"\\]|\\.)*"$/s.test(local);
  const joined = isQuoted ? local : local.replace(blanksAround, '$1').trim();
  const domain = trimmed
    .slice(at + 1)
    .replace(/ ?([.[\]]) ?/g, '$1')
    .trim();
  const words = isQuoted ? joined : unquoteWords(joined);
  return readBare(`${words}@${domain}`) ?? readUnwrapped(trimmed);
}

/** Reads an address within quotes, brackets or braces, which are removed. */
function readUnwrapped(text: string): string | null {
  const inner = /^[\s'"`[({|*]{1,10}([^\s'"`[\](){}|*]{1,320}?)[\s'"`\])}|*.]{1,10}$/.exec(
    text,
  )?.[1];
  return inner === undefined ? null : readBare(inner);
}

function readName(text: string): string | null {
  const name = decodeWords(text.replace(/\s+/g, ' ')).trim();
  return name === '' ? null : name.slice(0, maxNameCharacters).toWellFormed();
}

/** Returns the first address among words, with the remaining words; null without an address. */
function findAmongWords(text: string): { email: string; rest: string } | null {
  if (!text.includes('@')) return null;
  const words = text.split(/\s+/);
  for (const [index, word] of words.entries()) {
    if (!word.includes('@')) continue;
    const email = readBare(word) ?? readUnwrapped(` ${word} `);
    if (email === null) continue;
    // A colon ends a label, or the name of a group that has no semicolon. Either is dropped.
    const before = words.slice(0, index).join(' ');
    const name = /:\s*$/.test(before) ? '' : before;
    return { email, rest: [name, ...words.slice(index + 1)].join(' ') };
  }
  return null;
}

const kindsOfName = new Set<AddressToken['kind']>(['text', 'quoted', 'mark']);

/** An entry of an address list, as tokens. */
class Entry {
  readonly tokens: AddressToken[] = [];

  get isBlank(): boolean {
    return this.tokens.every(
      ({ kind, text }) => kind === 'comment' || (kind !== 'angle' && text.trim() === ''),
    );
  }

  /** Tells whether the entry has only words: it may be the first part of a name with a comma. */
  get isWords(): boolean {
    return this.tokens.every(
      ({ kind, text }) => kind === 'comment' || (kind !== 'angle' && !text.includes('@')),
    );
  }

  get hasAngle(): boolean {
    return this.tokens.some(({ kind }) => kind === 'angle');
  }

  #textOf(kinds: ReadonlySet<AddressToken['kind']>): string {
    return this.tokens.map(({ kind, text }) => (kinds.has(kind) ? text : '')).join('');
  }

  get #comment(): string {
    return this.tokens.findLast(({ kind }) => kind === 'comment')?.text ?? '';
  }

  /** Reads the address of the entry; null without an address. */
  read(bareDomain: string | null): HeaderAddress | null {
    return this.#readAngle(bareDomain) ?? this.#readPlain(bareDomain) ?? this.#readHidden();
  }

  #readAngle(bareDomain: string | null): HeaderAddress | null {
    for (const { kind, text } of this.tokens) {
      if (kind !== 'angle') continue;
      const email = readAngle(text, bareDomain);
      if (email === null) continue;
      return { email, name: readName(this.#textOf(kindsOfName)) ?? readName(this.#comment) };
    }
    return null;
  }

  /** Reads an address without angle brackets, whole or among words. */
  #readPlain(bareDomain: string | null): HeaderAddress | null {
    const source = this.tokens
      .map(({ kind, text }) => {
        if (kind === 'quoted') return `"${text.replace(/["\\]/g, '\\$&')}"`;
        return kind === 'text' || kind === 'mark' ? text : '';
      })
      .join('');
    const whole = readWhole(source, bareDomain);
    if (whole !== null) return { email: whole, name: readName(this.#comment) };
    const found = findAmongWords(this.#textOf(new Set(['text', 'mark'])));
    if (found === null) return null;
    const quoted = this.#textOf(new Set(['quoted']));
    return {
      email: found.email,
      name: readName(`${quoted} ${found.rest}`) ?? readName(this.#comment),
    };
  }

  /** Reads an address that occurs only within quotes or a comment. */
  #readHidden(): HeaderAddress | null {
    for (const wanted of ['quoted', 'comment'] as const) {
      for (const { kind, text } of this.tokens) {
        if (kind !== wanted || !text.includes('@')) continue;
        const parts = /^([^<>]*)<([^<>]{1,320})>\s*$/.exec(text);
        const email = readWhole(parts?.[2] ?? text, null);
        if (email === null) continue;
        return { email, name: readName(parts?.[1] ?? (wanted === 'comment' ? this.#words : '')) };
      }
    }
    return null;
  }

  get #words(): string {
    return this.#textOf(kindsOfName);
  }
}

/**
 * Reads the text between angle brackets. Comments and an obsolete route are dropped (RFC 5322 4.4).
 */
function readAngle(inner: string, bareDomain: string | null): string | null {
  let text = '';
  for (const token of addressTokens(inner)) {
    if (token.kind === 'angle') return null;
    if (token.kind === 'comment') continue;
    text += token.kind === 'quoted' ? `"${token.text.replace(/["\\]/g, '\\$&')}"` : token.text;
  }
  const isRoute = /^[\s,]*@/.test(text);
  return readWhole(isRoute ? text.slice(text.indexOf(':') + 1) : text, bareDomain);
}

/** Collects the addresses of a list, token by token. */
class ListReader {
  readonly list: AddressList = { addresses: [], invalid: 0, truncated: false };
  readonly #bareDomain: string | null;
  /** Entries with only words so far: the beginning of a name with commas, or invalid. */
  #words: Entry[] = [];
  #entry = new Entry();

  constructor(bareDomain: string | null) {
    this.#bareDomain = bareDomain;
  }

  get isFull(): boolean {
    const { addresses, invalid } = this.list;
    return addresses.length + invalid + this.#words.length >= parseLimits.addressesPerField;
  }

  add(token: AddressToken): void {
    this.#entry.tokens.push(token);
  }

  /** Drops the words before the colon of a group: they are the group name. */
  startGroup(): void {
    this.#entry = new Entry();
  }

  /** Ends an entry. An entry before a comma may be the beginning of a name: `Acme, Inc. <a@b>`. */
  endEntry(separator: ',' | ';' | null): void {
    const entry = this.#entry;
    this.#entry = new Entry();
    if (entry.isBlank) {
      if (separator !== ',') this.#dropWords();
      return;
    }
    if (separator === ',' && this.#bareDomain === null && entry.isWords) {
      this.#words.push(entry);
      return;
    }
    if (this.#words.length > 0 && entry.hasAngle) this.#prependWords(entry);
    this.#dropWords();
    const address = entry.read(this.#bareDomain);
    if (address) this.list.addresses.push(address);
    else if (!isLabel(entry)) this.list.invalid += 1;
  }

  #prependWords(entry: Entry): void {
    const comma: AddressToken = { kind: 'mark', text: ',' };
    entry.tokens.unshift(...this.#words.flatMap(({ tokens }) => [...tokens, comma]));
    this.#words = [];
  }

  #dropWords(): void {
    this.list.invalid += this.#words.length;
    this.#words = [];
  }
}

/** Tells whether an entry is only the name of a group without members and without an end. */
function isLabel({ tokens }: Entry): boolean {
  const last = tokens.findLast(({ text }) => text.trim() !== '');
  return last?.kind === 'mark' && last.text === ':';
}

const isMark = ({ kind, text }: AddressToken, mark: string) => kind === 'mark' && text === mark;

/**
 * Reads an unfolded address-list value; never throws. A quote, a parenthesis or an angle bracket
 * without a partner is text. A colon without a semicolon belongs to the name instead of beginning a
 * group. An encoded word (RFC 2047 5) can become a name, never an address. `bareDomain` completes
 * an address without a domain, which is otherwise invalid.
 */
export function parseAddressList(value: string, bareDomain: string | null = null): AddressList {
  const tokens = [...addressTokens(value)];
  const lastEnd = tokens.findLastIndex((token) => isMark(token, ';'));
  const reader = new ListReader(bareDomain);
  let isInGroup = false;
  let before = '';
  for (const [index, token] of tokens.entries()) {
    if (reader.isFull) {
      reader.list.truncated = true;
      return reader.list;
    }
    const separator = isMark(token, ',') ? ',' : isMark(token, ';') ? ';' : null;
    if (separator !== null) {
      reader.endEntry(separator);
      if (separator === ';') isInGroup = false;
    } else if (
      isMark(token, ':') &&
      index < lastEnd &&
      !isInGroup &&
      !/^\s*mailto$/i.test(before)
    ) {
      reader.startGroup();
      isInGroup = true;
    } else reader.add(token);
    before = separator === null ? token.text : '';
  }
  reader.endEntry(null);
  return reader.list;
}
