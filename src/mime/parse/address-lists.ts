// Reads the address lists of inbound header fields (RFC 5322 3.4 with its obsolete forms): groups,
// comments, quoted strings, routes. One pass, bounded. The strict grammar of what we send is
// src/net/address.ts. An encoded word (RFC 2047 5) can become a name but never an address.
import { parseAddress } from '../../net/address.ts';
import { decodeWords } from './header-values.ts';
import { type HeaderAddress, parseLimits } from './parsed-mail.ts';

export interface AddressList {
  addresses: HeaderAddress[];
  /** Entries that hold no usable address. */
  invalid: number;
  /** The list was longer than 500 addresses. */
  truncated: boolean;
}

const maxNameCharacters = 320;
/** Wider than what we send: one-label domains and address literals exist in mail received. */
const looseAddress = /^(?:[^\s@<>()",;:\\]{1,64}|"[^"\r\n]{1,62}")@[^\s@<>()",;\\]{1,255}$/;

function readEmail(text: string): string | null {
  const bare = text.trim().replace(/^mailto:/i, '');
  if (bare.length > 320 || bare.includes('=?')) return null;
  const strict = parseAddress(bare);
  if (strict) return strict.email;
  if (!looseAddress.test(bare)) return null;
  const at = bare.lastIndexOf('@');
  return bare.slice(0, at + 1) + bare.slice(at + 1).toLowerCase();
}

function readName(text: string): string | null {
  const name = decodeWords(text.replace(/ {2,}/g, ' ')).trim();
  return name === '' ? null : name.slice(0, maxNameCharacters).toWellFormed();
}

/** The end of the quoted string, comment or angle address that opens at `start`; else the end. */
function findClose(value: string, start: number): number {
  const open = value[start];
  const close = open === '(' ? ')' : open === '<' ? '>' : '"';
  let depth = 0;
  for (let at = start + 1; at < value.length; at += 1) {
    const character = value[at];
    if (character === '\\') at += 1;
    else if (character === close && depth === 0) return at;
    else if (open === '(' && character === '(') depth += 1;
    else if (open === '(' && character === ')') depth -= 1;
    else if (open === '<' && character === '<') return at - 1;
  }
  return value.length;
}

const unquote = (text: string) => text.replace(/\\(.)/gs, '$1');

/** One entry while it is read: the words before the angle address, the address, the comment. */
class Entry {
  phrase: string = '';
  /** The same text with its quotes, for an address without angle brackets. */
  source = '';
  angle: string | null = null;
  comment: string = '';

  get isBlank(): boolean {
    return this.source.trim() === '' && this.angle === null && this.comment === '';
  }

  /** Drops what came before a colon: the name of a group, or the start of an obsolete form. */
  startGroup(): void {
    this.phrase = '';
    this.source = '';
    this.comment = '';
  }

  finish(): HeaderAddress | null {
    if (this.angle !== null) {
      const route = this.angle.startsWith('@') ? this.angle.indexOf(':') + 1 : 0;
      const email = readEmail(this.angle.slice(route));
      return email === null ? null : { email, name: readName(this.phrase || this.comment) };
    }
    const email = readEmail(this.source);
    return email === null ? null : { email, name: readName(this.comment) };
  }
}

/**
 * Reads an unfolded address-list value; never throws. `Name <a@b>`, `a@b (Name)`,
 * `Group: a@b, c@d;` and `undisclosed-recipients:;` are understood; an unclosed quote or bracket
 * runs to the end. Linear in the length of the value.
 */
export function parseAddressList(value: string): AddressList {
  const list: AddressList = { addresses: [], invalid: 0, truncated: false };
  let entry = new Entry();
  const flush = () => {
    if (!entry.isBlank) {
      const address = entry.finish();
      if (address) list.addresses.push(address);
      else list.invalid += 1;
    }
    entry = new Entry();
  };
  for (let at = 0; at < value.length; at += 1) {
    const character = value.charAt(at);
    if (list.addresses.length + list.invalid >= parseLimits.addressesPerField) {
      list.truncated = true;
      return list;
    }
    if (character === ',' || character === ';') flush();
    else if (character === ':' && entry.angle === null && !/^\s*mailto$/i.test(entry.source)) {
      entry.startGroup();
    } else if (character === '"' || character === '(' || character === '<') {
      const end = findClose(value, at);
      const inner = value.slice(at + 1, end);
      if (character === '<') entry.angle ||= inner;
      else if (character === '(') entry.comment = unquote(inner);
      else {
        entry.phrase += unquote(inner);
        entry.source += `"${inner}"`;
      }
      at = end;
    } else if (character !== '>') {
      entry.phrase += character;
      entry.source += character;
    }
  }
  flush();
  return list;
}
