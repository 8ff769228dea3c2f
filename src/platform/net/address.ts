// Parses and normalizes mail addresses, as the API and the SMTP envelope accept them. Stricter than
// RFC 5322: no comments, no folding, no white space, no IP literals. Headers of received mail have
// a different parser (src/mail/mime/headers).
import { domainToASCII } from 'node:url';
import { foldCase } from '../runtime/fold-case.ts';

/** An address in normal form, without angle brackets. */
export interface MailAddress {
  /** Whole address: `localPart@domain`. */
  email: string;
  /** Dot-atom, or a quoted string where RFC 5321 4.1.2 needs one; NFC if it is not ASCII. */
  localPart: string;
  /** Domain in A-labels, lower case, at least two labels, no trailing dot. */
  domain: string;
  /** Whether the local part is not ASCII, so the next server must offer SMTPUTF8 (RFC 6531). */
  needsSmtpUtf8: boolean;
}

const maxLocalPartBytes = 64;
const maxDomainBytes = 255;
const maxEmailBytes = 254;

const plainDomain = /^[a-z0-9.-]+$/;
const idnaDomain = /^[a-z0-9.\-\u0080-\u{10ffff}]+$/u;
const domainLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const digitsOnly = /^[0-9]+$/;

const dotAtom =
  /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\u0080-\u{10ffff}]+(?:\.[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\u0080-\u{10ffff}]+)*$/u;
/**
 * Matches quoted strings, but without space, comma and angle brackets, which RFC 5321 allows but
 * which break lists of addresses.
 */
const quotedString =
  /^"(?:[!#-+\-./0-9:;=?@A-Z[\]^_`a-z{|}~\u0080-\u{10ffff}]|\\[!-+\-./0-9:;=?@A-Z[\\\]^_`a-z{|}~])+"$/u;
const ascii = /^[\x20-\x7e]*$/;
/**
 * Matches controls, format characters, white space, unassigned code points, lone surrogates and
 * separators of addresses.
 */
const unsafe = /[\p{C}\p{Z}"(),:;<>@[\\\]]/u;

/** Returns the domain in A-labels, lower case (IDNA, RFC 5891); null if mail cannot use it. */
function parseDomain(text: string): string | null {
  let domain = text.toLowerCase();
  if (!plainDomain.test(domain)) {
    // `domainToASCII` parses a URL host, so ports, escapes and paths must be excluded first.
    if (!idnaDomain.test(domain)) return null;
    domain = domainToASCII(domain);
  }
  if (domain.length > maxDomainBytes) return null;
  const labels = domain.split('.');
  if (labels.length < 2 || !labels.every((label) => domainLabel.test(label))) return null;
  return digitsOnly.test(labels.at(-1) ?? '') ? null : domain;
}

/**
 * Tells whether every character is safe. Refuses characters that a later server could fold into a
 * separator, such as `＠` or `＜`.
 */
function isSafeUnicode(localPart: string): boolean {
  return [...localPart].every(
    (character) => character <= '~' || !unsafe.test(character.normalize('NFKC')),
  );
}

/**
 * Returns the local part in the shortest form; null if it is invalid. `"joe"` becomes `joe`,
 * because a different form could evade a block.
 */
function parseLocalPart(text: string): string | null {
  const quoted = text.startsWith('"');
  if (!(quoted ? quotedString : dotAtom).test(text)) return null;
  const isAscii = ascii.test(text);
  if (!isAscii && !isSafeUnicode(text)) return null;
  let localPart = isAscii ? text : text.normalize('NFC');
  if (quoted) {
    const content = localPart.slice(1, -1).replace(/\\(.)/gu, '$1');
    localPart = dotAtom.test(content) ? content : `"${content.replace(/["\\]/g, '\\$&')}"`;
  }
  const bytes = isAscii ? localPart.length : Buffer.byteLength(localPart);
  return bytes > maxLocalPartBytes ? null : localPart;
}

/**
 * Parses an address without name (`joe@example.com`); null if it is invalid. Limits in octets, from
 * RFC 5321 4.5.3.1: local part 64, domain 255, the whole 254.
 */
export function parseAddress(text: string): MailAddress | null {
  if (text.length > maxEmailBytes) return null;
  const at = text.lastIndexOf('@');
  if (at < 1) return null;
  const localPart = parseLocalPart(text.slice(0, at));
  if (localPart === null) return null;
  const domain = parseDomain(text.slice(at + 1));
  if (domain === null) return null;
  const email = `${localPart}@${domain}`;
  const needsSmtpUtf8 = !ascii.test(localPart);
  if ((needsSmtpUtf8 ? Buffer.byteLength(email) : email.length) > maxEmailBytes) return null;
  return { email, localPart, domain, needsSmtpUtf8 };
}

/** Returns the part after the at sign of an address in normal form (`MailAddress.email`). */
export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}

/**
 * Folds an address for comparison (blocks, contacts, mailboxes). `email` must be in normal form
 * (`MailAddress.email`). Ignores case despite RFC 5321 2.4, because no provider distinguishes `Joe`
 * from `joe`.
 */
export function foldAddress(email: string): string {
  return foldCase(email);
}

/** Tells whether a text is safe in a header: no C0 control (CR, LF, NUL, …) except TAB. */
export function isHeaderSafe(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match control characters
  return !/[\x00-\x08\x0a-\x1f]/.test(text);
}
