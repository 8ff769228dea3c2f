// Structured header fields with characters beyond ASCII (RFC 2047 5): phrases and comments become
// encoded words, URIs are percent-encoded (RFC 3986), domains become A-labels, all further text
// stays. A value that encoding would break gives null. Linear in the value; never throws.
import { domainToASCII } from 'node:url';
import { parseAddress } from '../../../platform/net/address.ts';
import { encodedWords, foldTokens, longestLine } from './encoded-words.ts';

/**
 * Kinds of values. `mixed`: angle brackets in a field of unknown grammar. `words`: unstructured
 * text (RFC 5322 3.6.8). `tokens`: no encoded words are possible.
 */
export type Grammar = 'addresses' | 'urls' | 'listId' | 'phrases' | 'tokens' | 'mixed' | 'words';

const namesOf: Record<Exclude<Grammar, 'mixed' | 'words'>, readonly string[]> = {
  addresses: [
    ...['from', 'sender', 'reply-to', 'to', 'cc', 'bcc', 'resent-from', 'resent-sender'],
    ...['resent-reply-to', 'resent-to', 'resent-cc', 'resent-bcc', 'apparently-to', 'errors-to'],
    ...['disposition-notification-to', 'return-receipt-to', 'read-receipt-to', 'mail-followup-to'],
    ...['mail-reply-to', 'mail-copies-to', 'x-confirm-reading-to', 'abuse-reports-to'],
  ],
  urls: [
    ...['list-archive', 'list-help', 'list-owner', 'list-post', 'list-subscribe'],
    ...['list-unsubscribe', 'archived-at'],
  ],
  listId: ['list-id'],
  phrases: ['keywords'],
  tokens: [
    ...['list-unsubscribe-post', 'feedback-id', 'auto-submitted', 'precedence', 'sensitivity'],
    ...['importance', 'priority', 'expires', 'expiry-date', 'supersedes', 'obsoletes'],
    ...['date', 'resent-date', 'message-id', 'resent-message-id', 'in-reply-to', 'references'],
    ...['original-message-id', 'received', 'return-path', 'delivered-to', 'received-spf'],
    ...['mime-version', 'content-type', 'content-disposition', 'content-transfer-encoding'],
    ...['content-id', 'content-language', 'content-location', 'content-base', 'content-md5'],
    ...['content-duration', 'content-features', 'content-alternative', 'accept-language'],
    ...['dkim-signature', 'domainkey-signature', 'authentication-results', 'arc-seal'],
    ...['arc-message-signature', 'arc-authentication-results', 'autocrypt', 'openpgp'],
    ...['disposition-notification-options', 'require-recipient-valid-since', 'tls-required'],
    ...['mt-priority', 'deferred-delivery', 'latest-delivery-time', 'delivery-date', 'language'],
    ...['message-context', 'message-type', 'original-recipient', 'solicitation', 'newsgroups'],
    ...['followup-to', 'control', 'distribution', 'injection-date', 'path', 'bimi-selector'],
  ],
};

const grammars = new Map<string, Grammar>(
  Object.entries(namesOf).flatMap(([grammar, names]) =>
    names.map((name): [string, Grammar] => [name, grammar as Grammar]),
  ),
);

/** Returns the grammar of a field; a name without a known grammar is unstructured. */
export function grammarOf(name: string): Grammar {
  return grammars.get(name.toLowerCase()) ?? 'words';
}

/**
 * Returns true for a field that is unstructured by definition, or by the convention of `X-` fields.
 */
export function isUnstructured(name: string): boolean {
  return (
    /^(?:subject|comments|organi[sz]ation|thread-topic|content-description|x-.+)$/i.test(name) &&
    grammarOf(name) === 'words'
  );
}

/** Options of `encodeStructured` for a submitted mail. */
export interface StructuredOptions {
  /** Decodes encoded words beside non-ASCII characters; by default they are plain text. */
  decode?: (text: string) => string;
  /** False refuses non-ASCII characters in a URI. */
  encodesUris?: boolean;
  /** True keeps addresses that need SMTPUTF8. */
  keepsAddresses?: boolean;
}

interface Piece {
  kind: 'word' | 'quoted' | 'comment' | 'angle' | 'mark';
  /** Source text of the piece, with delimiters. */
  text: string;
  /** Whether white space precedes the piece. */
  isApart: boolean;
}

const ascii = /^[\x20-\x7e]*$/;
const closers: Partial<Record<string, string>> = { '"': '"', '(': ')', '<': '>', '[': ']' };
const kinds: Partial<Record<string, Piece['kind']>> = {
  '"': 'quoted',
  '(': 'comment',
  '<': 'angle',
};

/** Returns the offset after the piece that opens at `start`, or -1 without an end. */
function endOf(value: string, start: number, isUri: boolean): number {
  const open = value.charAt(start);
  const close = closers[open];
  if (open === '<' && isUri) return value.indexOf('>', start) + 1 || -1;
  let depth = 0;
  let isQuoted = false;
  for (let at = start + 1; at < value.length; at += 1) {
    const character = value[at];
    if (character === '\\') at += 1;
    else if (open === '<' && character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (open === '(' && character === '(') depth += 1;
    else if (character === close) {
      if (depth === 0) return at + 1;
      depth -= 1;
    }
  }
  return -1;
}

/** Splits a value into pieces; null for an unclosed quote, comment or bracket. */
function piecesOf(value: string, isUri: boolean): Piece[] | null {
  const pieces: Piece[] = [];
  let isApart = false;
  for (let at = 0; at < value.length; ) {
    const character = value.charAt(at);
    if (character === ' ' || character === '\t') {
      isApart = true;
      at += 1;
      continue;
    }
    let end = at + 1;
    let kind: Piece['kind'] = 'mark';
    if (closers[character] !== undefined) {
      end = endOf(value, at, isUri);
      if (end === -1) return null;
      kind = kinds[character] ?? 'word';
    } else if (!/[,;:>)\]]/.test(character)) {
      while (end < value.length && !/[\s"(<,;:[]/.test(value.charAt(end))) end += 1;
      kind = 'word';
    }
    pieces.push({ kind, text: value.slice(at, end), isApart });
    isApart = false;
    at = end;
  }
  return pieces;
}

const unquoted = (text: string) => text.slice(1, -1).replace(/\\(.)/gsu, '$1');

/** Percent-encodes characters that RFC 3986 2 does not allow; existing escapes stay. */
function percentEncoded(text: string): string {
  return text
    .toWellFormed()
    .replace(/%(?![0-9A-Fa-f]{2})/g, '%25')
    .replace(/[^!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]/gu, (character) =>
      encodeURIComponent(character),
    );
}

/** Writes a domain in A-labels; empty if IDNA forbids it. */
const asciiDomain = (domain: string) => (ascii.test(domain) ? domain : domainToASCII(domain));

/**
 * Writes the addresses of a mailto URI with domains in A-labels (RFC 6068); null for a bad domain.
 */
function asciiMailboxes(list: string): string | null {
  const mailboxes = list.split(',').map((mailbox) => {
    const at = mailbox.lastIndexOf('@') + 1;
    const domain = asciiDomain(mailbox.slice(at));
    return at > 0 && domain !== '' ? mailbox.slice(0, at) + domain : null;
  });
  return mailboxes.includes(null) ? null : mailboxes.join(',');
}

/** Writes a URI in ASCII; null for a text without a scheme, or with a bad domain. */
function asciiUri(uri: string): string | null {
  const text = uri.trim();
  const scheme = /^[a-z][a-z0-9+.-]{0,40}:/i.exec(text)?.[0];
  if (scheme === undefined) return null;
  const isMail = scheme.toLowerCase() === 'mailto:';
  const from = text.startsWith('//', scheme.length) ? scheme.length + 2 : scheme.length;
  const length = text.slice(from).search(isMail ? /\?/ : /[/?#]/);
  const end = length === -1 ? text.length : from + length;
  const [front, authority, rest] = [text.slice(0, from), text.slice(from, end), text.slice(end)];
  if (isMail) {
    const mailboxes = asciiMailboxes(authority);
    return mailboxes === null ? null : percentEncoded(front + mailboxes + rest);
  }
  if (from === scheme.length) return percentEncoded(text);
  const hostAt = authority.lastIndexOf('@') + 1;
  const [host = '', port] = authority.slice(hostAt).split(':', 2);
  const domain = asciiDomain(host);
  if (domain === '' && host !== '') return null;
  const place = authority.slice(0, hostAt) + domain + (port === undefined ? '' : `:${port}`);
  return percentEncoded(front + place + rest);
}

/** Writes an address with the domain in A-labels; null if it is invalid or needs SMTPUTF8. */
function asciiAddress(text: string): string | null {
  const address = parseAddress(text.trim());
  return address === null || address.needsSmtpUtf8 ? null : address.email;
}

/** Returns an address, which may need SMTPUTF8; null if it is invalid. */
const anyAddress = (text: string) => parseAddress(text.trim())?.email ?? null;

/** Collects the tokens of a value while it is encoded; `foldTokens` then joins the tokens. */
class Encoding {
  readonly tokens: string[] = [];
  readonly #decode: (text: string) => string;

  constructor(decode: (text: string) => string) {
    this.#decode = decode;
  }

  /**
   * Appends a mark, such as a comma, to the last token. After an encoded word the mark is a
   * separate token, because a space is needed (RFC 2047 5).
   */
  mark(text: string): void {
    const last = this.tokens.at(-1);
    if (last === undefined || last.endsWith('?=')) this.tokens.push(text);
    else this.tokens[this.tokens.length - 1] = last + text;
  }

  comment(text: string): void {
    if (ascii.test(text)) {
      this.tokens.push(text);
      return;
    }
    const words = encodedWords(this.#decode(unquoted(text)));
    const first = this.tokens.length;
    this.tokens.push(...words);
    this.tokens[first] = `(${this.tokens[first]}`;
    this.tokens[this.tokens.length - 1] += ')';
  }

  phrase(pieces: readonly Piece[]): void {
    if (pieces.every(({ text }) => ascii.test(text))) {
      this.tokens.push(...joined(pieces).split(' ').filter(Boolean));
      return;
    }
    const bare = pieces.map((piece) =>
      piece.kind === 'quoted' ? { ...piece, text: unquoted(piece.text) } : piece,
    );
    this.tokens.push(...encodedWords(this.#decode(joined(bare))));
  }
}

function joined(pieces: readonly Piece[]): string {
  return pieces
    .map(({ text, isApart }, index) => (isApart && index > 0 ? ` ${text}` : text))
    .join('');
}

/** Returns the text between angle brackets in ASCII; null if that is impossible. */
type WriteAngle = (inner: string) => string | null;
/** Adds words outside of angle brackets; returns false if the words cannot be written. */
type WriteBare = (encoding: Encoding, pieces: readonly Piece[]) => boolean;

const refuseAngle: WriteAngle = () => null;

const addressWriter =
  (write: WriteAngle): WriteBare =>
  ({ tokens }, pieces) => {
    const text = joined(pieces);
    const address = ascii.test(text) ? text : write(text);
    if (address !== null) tokens.push(address);
    return address !== null;
  };

const writeAscii: WriteBare = ({ tokens }, pieces) => {
  const text = joined(pieces);
  tokens.push(text);
  return ascii.test(text);
};

const writePhrase: WriteBare = (encoding, pieces) => {
  encoding.phrase(pieces);
  return true;
};

const bareOf: Record<Exclude<Grammar, 'tokens' | 'words' | 'addresses'>, WriteBare> = {
  urls: writeAscii,
  listId: writeAscii,
  phrases: writePhrase,
  mixed: writePhrase,
};

function writeAngleOf(
  grammar: Grammar,
  { encodesUris = true, keepsAddresses = false }: StructuredOptions,
): WriteAngle {
  if (grammar === 'addresses') return keepsAddresses ? anyAddress : asciiAddress;
  if (grammar === 'urls') return encodesUris ? asciiUri : refuseAngle;
  return grammar === 'mixed' ? (inner) => asciiUri(inner) ?? asciiAddress(inner) : refuseAngle;
}

/** Encodes the words before each mark or angle bracket; false if the grammar forbids a word. */
function encodePieces(
  encoding: Encoding,
  grammar: Exclude<Grammar, 'tokens' | 'words'>,
  pieces: readonly Piece[],
  writeAngle: WriteAngle,
): boolean {
  const writeBare = grammar === 'addresses' ? addressWriter(writeAngle) : bareOf[grammar];
  let words: Piece[] = [];
  /** Adds the words collected so far, with the comments between them. */
  const flush = (write: WriteBare): boolean => {
    const all = words;
    words = [];
    for (let at = 0; at < all.length; ) {
      let end = at;
      while (end < all.length && all[end]?.kind !== 'comment') end += 1;
      if (end > at && !write(encoding, all.slice(at, end))) return false;
      const comment = all[end];
      if (comment) encoding.comment(comment.text);
      at = end + 1;
    }
    return true;
  };
  for (const piece of pieces) {
    if (piece.kind === 'angle') {
      // RFC 2369 allows no phrase before a URI.
      if (!flush(grammar === 'urls' ? writeAscii : writePhrase)) return false;
      const inner = ascii.test(piece.text) ? null : writeAngle(piece.text.slice(1, -1));
      if (inner === null && !ascii.test(piece.text)) return false;
      encoding.tokens.push(inner === null ? piece.text : `<${inner}>`);
    } else if (piece.kind === 'mark') {
      const isGroup = piece.text === ':' && grammar === 'addresses';
      if (!flush(isGroup ? writePhrase : writeBare)) return false;
      encoding.mark(piece.text);
    } else words.push(piece);
  }
  return flush(writeBare);
}

/** Encodes a phrase and the identifier after it (RFC 2919 3); marks in the phrase become words. */
function encodeListId(encoding: Encoding, pieces: readonly Piece[]): boolean {
  const at = pieces.findLastIndex(({ kind }) => kind === 'angle');
  const id = pieces[at]?.text ?? '';
  const behind = pieces.slice(at + 1);
  if (!/^<[!-;=?-~]+>$/.test(id) || behind.some(({ kind }) => kind !== 'comment')) return false;
  if (at > 0) encoding.phrase(pieces.slice(0, at));
  encoding.tokens.push(id);
  for (const { text } of behind) encoding.comment(text);
  return true;
}

/**
 * Encodes a structured value; null if that would change the meaning. The field `name` decides only
 * where lines fold.
 */
export function encodeStructured(
  name: string,
  grammar: Grammar,
  value: string,
  options: StructuredOptions = {},
): string | null {
  if (grammar === 'tokens' || grammar === 'words') return null;
  const isUri = grammar === 'urls' || grammar === 'mixed';
  const { decode = (text: string) => text, encodesUris = true } = options;
  const encoding = new Encoding(decode);
  // A single URI without angle brackets, which some programs omit.
  const bareUri = grammar === 'urls' && encodesUris && /^[^\s<>]+$/.test(value);
  const uri = bareUri ? asciiUri(value) : null;
  if (uri !== null) encoding.tokens.push(`<${uri}>`);
  else {
    const pieces = piecesOf(value, isUri);
    if (pieces === null) return null;
    const isWhole =
      grammar === 'listId'
        ? encodeListId(encoding, pieces)
        : encodePieces(encoding, grammar, pieces, writeAngleOf(grammar, options));
    if (!isWhole) return null;
  }
  const { tokens } = encoding;
  if (tokens.some((token) => token.length >= longestLine)) return null;
  return foldTokens(name, tokens);
}
