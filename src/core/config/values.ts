// The kinds of configuration values. Each validator carries a text about the expected value, so
// that every mistake reads "found X, expected Y". schema.ts defines the keys.
import { isIP } from 'node:net';
import { z } from 'zod';
import { parseAddress } from '../../platform/net/address.ts';
import { isLoopbackHost, parseRange } from '../../platform/net/network-address.ts';
import { idPattern } from '../../platform/runtime/ids.ts';

const longestList = 100;
const hostLabel = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const hostPattern = new RegExp(`^${hostLabel}(?:\\.${hostLabel})*$`);

function isHostName(text: string): boolean {
  return text.length <= 253 && hostPattern.test(text) && !/^[\d.]+$/.test(text);
}

function isDomainPattern(text: string): boolean {
  return isHostName(text.startsWith('*.') ? text.slice(2) : text);
}

/** Expected form of a section, for error texts. */
export const mapOfKeys = 'a map of keys';

/** Accepts a whole number within both bounds. */
export function wholeNumber(min: number, max: number) {
  const expected = `a whole number from ${min} to ${max}`;
  return z.int(expected).min(min, expected).max(max, expected);
}

/** Accepts a number above 0, fractions included; the error names `unit`. */
export function positiveNumber(max: number, unit: string) {
  const expected = `a number of ${unit} above 0 and at most ${max}`;
  return z.number(expected).gt(0, expected).max(max, expected);
}

/** Accepts a number from 0, fractions included; the error names `unit`. */
export function numberFromZero(max: number, unit: string) {
  const expected = `a number of ${unit} from 0 to ${max}`;
  return z.number(expected).min(0, expected).max(max, expected);
}

/** Accepts a fraction of a whole: 0.05 for 5 %. */
export function rate() {
  const expected = 'a rate above 0 and at most 1 (0.05 is 5 %)';
  return z.number(expected).gt(0, expected).max(1, expected);
}

/** Schema of a port to listen on; 0 lets the system choose a free port. */
export const listenPort = wholeNumber(0, 65_535);

/** Schema of a port on a remote machine. */
export const remotePort = wholeNumber(1, 65_535);

export const onOff = z.boolean('true or false');

/** Accepts any of the given words. */
export function choice<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, `one of ${words.join(', ')}`);
}

/**
 * Accepts a single non-empty line of text. `expected` describes the value in error texts: "expected
 * …".
 */
export function lineOfText(expected = 'text') {
  return z
    .string(expected)
    .min(1, expected)
    .max(1024, `${expected} of at most 1024 characters`)
    .refine((text) => !/\p{Cc}/u.test(text), `${expected} without control characters`);
}

const hostExpected = 'a host name or an IP address';

export const host = z
  .string(hostExpected)
  .refine((text) => isHostName(text) || isIP(text) !== 0, hostExpected);

export const hostName = z.string('a host name').refine(isHostName, 'a host name');

const urlExpected =
  'a URL that starts with http:// or https://, without user name, query or fragment';

/** Schema of the public address of an HTTP listener; stored without a trailing slash. */
export const publicUrl = z
  .string(urlExpected)
  .refine((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) return false;
    return !url.username && !url.password && !/[?#]/.test(text);
  }, urlExpected)
  .overwrite((text) => text.replace(/(?<!\/)\/+$/, ''));

/**
 * Tenants of Entra that stand for many organizations. The id is the tenant of personal accounts.
 */
const sharedTenants = [
  ...['common', 'organizations', 'consumers', '{tenantid}', '%7btenantid%7d'],
  '9188040d-6c67-4c5b-b112-36a304b66dad',
];

/** Returns the expected form if a text is not an issuer; null for an issuer. */
function issuerProblem(text: string): string | null {
  if (/[?#\s\p{Cc}]/u.test(text) || !URL.canParse(text)) {
    return 'a URL that starts with https://, without query or fragment';
  }
  const { protocol, hostname, username, password, pathname } = new URL(text);
  if (username || password) return 'a URL without user name and password';
  const isLocal = isLoopbackHost(hostname.replace(/^\[(.*)\]$/, '$1'));
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal)) {
    return 'https:// (http:// only on this machine)';
  }
  const tenant = pathname.split('/', 2)[1]?.toLowerCase() ?? '';
  if (!sharedTenants.includes(tenant)) return null;
  return `the issuer of a single tenant: anybody can have an account of ${tenant}`;
}

/**
 * Schema of an issuer (OpenID Connect Discovery 1.0, 4.3). Unchanged, as tokens must equal the
 * text.
 */
export const issuer = z.string('a URL that starts with https://').superRefine((text, context) => {
  const message = issuerProblem(text);
  if (message !== null) context.addIssue({ code: 'custom', message, input: text });
});

const databaseExpected = 'sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE';

export const databaseUrl = z
  .string(databaseExpected)
  .refine(
    (text) =>
      /^sqlite:[^\p{Cc}]+$/u.test(text) || (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)),
    databaseExpected,
  );

const serverExpected = 'an IP address, with a port if it is not 53: 127.0.0.1:5353, [::1]:5353';

/** Schema of an address in the form of node:dns: `IP`, `IPv4:port` or `[IPv6]:port`. */
export const dnsServer = z.string(serverExpected).refine((text) => {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (isIP(text) !== 0) return true;
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false;
  return bracketed === undefined ? isIP(plain ?? '') === 4 : isIP(bracketed) === 6;
}, serverExpected);

const networkExpected = 'an IP address or a network: 10.1.0.0/16, fd00::/8';

/** Schema of an address, or of a block of addresses (CIDR) given by the first address. */
export const network = z.string(networkExpected).superRefine((text, context) => {
  const range = parseRange(text);
  if (range?.isAligned) return;
  const message = range ? `${range.text}, by its first address` : networkExpected;
  context.addIssue({ code: 'custom', message, input: text });
});

const spfExpected = 'SPF mechanisms such as include:spf.example.net, at most 10';
const spfMechanism =
  /^(?:(?:include|exists|a|mx):[A-Za-z0-9._%{}-]{1,253}(?:\/\d{1,3})?|ip4:[\d.]{7,15}(?:\/\d{1,2})?|ip6:[\dA-Fa-f:.]{2,45}(?:\/\d{1,3})?)$/;

/** Accepts mechanisms of SPF that allow servers, separated by blanks (RFC 7208 5). */
export const spfMechanisms = z.string(spfExpected).refine((text) => {
  const mechanisms = text.split(' ', 11);
  return mechanisms.length <= 10 && mechanisms.every((mechanism) => spfMechanism.test(mechanism));
}, spfExpected);

const domainExpected = 'a domain (example.com), its subdomains (*.example.com) or *';

/** Schema of the recipient domains of a route, in lower case. */
export const domainPattern = z
  .string(domainExpected)
  .refine((text) => text === '*' || isDomainPattern(text), domainExpected)
  .overwrite((text) => text.toLowerCase());

const recipientExpected = 'an address (a@example.com), a domain (example.com) or *.example.com';

/** Schema of recipients to which mail may leave the machine, in lower case. */
export const recipientPattern = z
  .string(recipientExpected)
  .refine((text) => {
    const at = text.lastIndexOf('@');
    if (at === -1) return isDomainPattern(text);
    return at > 0 && at <= 64 && !/[\s\p{Cc}]/u.test(text) && isHostName(text.slice(at + 1));
  }, recipientExpected)
  .overwrite((text) => text.toLowerCase());

/** Schema of a mail address, in normal form. */
export const mailAddress = z
  .string('a mail address')
  .refine((text) => parseAddress(text) !== null, 'a mail address')
  .overwrite((text) => parseAddress(text)?.email ?? text);

/** Schema of the domain of mail addresses, in A-labels and lower case. */
export const mailDomain = z
  .string('a domain such as example.com')
  .refine((text) => parseAddress(`a@${text}`) !== null, 'a domain such as example.com')
  .overwrite((text) => parseAddress(`a@${text}`)?.domain ?? text);

const senderExpected =
  'a domain (example.com), *.example.com, an address (a@example.com) or the id of an organization (org_…)';

/**
 * Returns the sender of a route in the form of stored addresses; null for a sender that no mail can
 * have.
 */
function parseSender(text: string): string | null {
  const folded = text.toLowerCase();
  if (folded.startsWith('org_')) return idPattern('organization').test(folded) ? folded : null;
  if (folded.includes('@')) return parseAddress(folded)?.email.toLowerCase() ?? null;
  const isWild = folded.startsWith('*.');
  const parsed = parseAddress(`a@${isWild ? folded.replace('*', 'x') : folded}`);
  return parsed && (isWild ? parsed.domain.replace('x', '*') : parsed.domain);
}

/** Schema of the senders of a route, in the form of stored addresses. */
export const senderPattern = z
  .string(senderExpected)
  .refine((text) => parseSender(text) !== null, senderExpected)
  .overwrite((text) => parseSender(text) ?? text);

/** Accepts a list of at most 100 entries; the error names them `entries`. */
export function listOf<Entry extends z.ZodType>(entry: Entry, entries: string, shortest = 0) {
  const expected = `a list of ${shortest} to ${longestList} ${entries}`;
  return z.array(entry, expected).min(shortest, expected).max(longestList, expected);
}
