// The path and the parameters of a MAIL command (RFC 5321 4.1.1.2). Reads more forms than
// smtp-server: real envelopes have dots and underscores that the grammar forbids. Linear in the
// line; never throws.
import { isIP } from 'node:net';

/** The path of a MAIL command without brackets, and the parameters behind it. */
export interface MailPath {
  path: string;
  /** Whether the path is enclosed in angle brackets. */
  isBracketed: boolean;
  /** Empty, or begins with white space. */
  parameters: string;
}

const mostPathOctets = 512;
/** RFC 5321 4.5.3.1.3: 256 octets with the angle brackets. */
const mostAddressOctets = 254;
const sourceRoute = /^@[^\s,:@]+(?:,@[^\s,:@]+)*:/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finds control characters
const control = /[\x00-\x1f\x7f-\x9f]/;
/**
 * Matches white space, angle brackets, controls, surrogates, private and invisible characters.
 * Allows the joiners that some scripts need.
 */
const unsafe = /[\p{Cc}\p{Cs}\p{Co}\p{Z}<>]|(?![\u200c\u200d])\p{Cf}/u;
const quotedLocalPart = /^"(?:[^"\\]|\\[\x20-\x7e])*"$/;
const label =
  /^[a-z0-9_\u00a1-\u{10ffff}](?:[a-z0-9_\u00a1-\u{10ffff}-]*[a-z0-9_\u00a1-\u{10ffff}])?$/iu;

/** Returns the offset of the closing bracket, or -1. Skips brackets in a quoted string. */
function closingBracket(text: string): number {
  let isQuoted = false;
  for (let at = 1; at < text.length; at += 1) {
    const character = text[at];
    if (isQuoted && character === '\\') at += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === '>' && !isQuoted) return at;
  }
  return text.indexOf('>');
}

/**
 * Parses a MAIL command. Null for a different command, and for a path that is empty, unclosed,
 * above 512 octets or with controls.
 */
export function readMailPath(command: string): MailPath | null {
  const start = /^mail from[ \t]*:[ \t]*/i.exec(command)?.[0].length;
  if (start === undefined) return null;
  const text = command.slice(start).trimEnd();
  const isBracketed = text.startsWith('<');
  const space = text.search(/[ \t]/);
  const bare = space === -1 ? text.length : space;
  const end = isBracketed ? closingBracket(text) : bare;
  if (end === -1 || end === 0) return null;
  const path = text.slice(isBracketed ? 1 : 0, end);
  const parameters = text.slice(isBracketed ? end + 1 : end);
  const isSeparate = parameters === '' || /^[ \t]/.test(parameters);
  const isSafe = !control.test(path) && Buffer.byteLength(path) <= mostPathOctets;
  return isSeparate && isSafe ? { path, isBracketed, parameters } : null;
}

function isDomain(domain: string): boolean {
  const literal = /^\[(?:ipv6:)?([^\]]*)\]$/i.exec(domain)?.[1];
  if (literal !== undefined) return isIP(literal) !== 0;
  return domain.split('.').every((part) => part.length <= 63 && label.test(part));
}

/**
 * Returns the address in a return path of a remote server, without the source route: empty for the
 * null path, null if it is invalid. The local part may have any visible characters (`a..b`, `a.`),
 * and the domain may have underscores. At most 254 octets, without white space, controls or
 * invisible characters.
 */
export function readReturnPath({ path, isBracketed }: MailPath): string | null {
  if (!isBracketed) return null;
  const address = path.replace(sourceRoute, '');
  if (address === '') return '';
  if (Buffer.byteLength(address) > mostAddressOctets) return null;
  const at = address.lastIndexOf('@');
  const [localPart, domain] = [address.slice(0, at), address.slice(at + 1)];
  const isQuoted = quotedLocalPart.test(localPart);
  const isLocal = isQuoted || (at > 0 && !localPart.includes('@') && !unsafe.test(localPart));
  return isLocal && !unsafe.test(domain) && isDomain(domain) ? address : null;
}
