// A mail in the form in which programs pipe it to sendmail: lines end in LF, the header may be
// missing, and a local user may stand in place of an address. Converts it to the form of SMTP
// submission.

import { parseAddressList } from '../../../mail/mime/headers/header-addresses.ts';
import { type HeaderBlock, readHeaderBlock } from '../../../mail/mime/headers/header-fields.ts';
import { encodeRawHeader, findRawField } from '../../../mail/mime/headers/raw-header.ts';
import { cutRawMail, fromField, joinRawMail } from '../../../mail/mime/raw-mail.ts';
import { normalizeNewlines } from '../../../mail/mime/text.ts';
import { ForbiddenError, ValidationError } from '../../../platform/errors.ts';
import { domainOf, parseAddress } from '../../../platform/net/address.ts';

/** Options of the sendmail call. */
export interface PipeOptions {
  /** Whether a line with only a dot ends the mail; false with `-i`. */
  endsAtDot: boolean;
  /** `-t`: To, Cc and Bcc name recipients too (in a resent mail Resent-To, -Cc and -Bcc). */
  readsRecipients: boolean;
  /** Recipients as they were typed. */
  recipients: readonly string[];
  /** Value of `-f`; used for a mail without From. */
  from: string | null;
  /** Value of `-F`; used for a From without a name. */
  name: string | null;
  /** Names of this machine in lower case. An author at such a name is a local user. */
  machineNames: readonly string[];
}

/** The default sender of the organization. */
export interface DefaultSender {
  email: string;
  name: string | null;
}

interface PipedMail {
  raw: Buffer;
  recipients: string[];
}

const longestHeader = 262_144;

/** Returns the end of the header. An empty line follows there, or the text follows at once. */
function headerEnd(text: string): number {
  const line = /(?:[!-9;-~]+[ \t]*:|[ \t]).*\r\n/y;
  let end = 0;
  while (end < longestHeader && line.test(text)) end = line.lastIndex;
  return end;
}

/**
 * Normalizes a mail to CRLF line ends: a header, which may be empty, an empty line, and text that
 * ends with a line end.
 */
function asMail(input: Buffer, endsAtDot: boolean): Buffer {
  let text = normalizeNewlines(input.toString('latin1'));
  const dot = endsAtDot ? text.search(/^\.\r\n/m) : -1;
  if (dot !== -1) text = text.slice(0, dot);
  // Removes the separator line of mailbox files, which is not a field.
  if (text.startsWith('From ')) text = text.slice(text.indexOf('\n') + 1);
  const end = headerEnd(text);
  if (!text.startsWith('\r\n', end)) text = `${text.slice(0, end)}\r\n${text.slice(end)}`;
  return Buffer.from(text, 'latin1');
}

/**
 * Returns the addresses of a list. An address without a domain gets the default sender's domain.
 */
function addressesIn(list: string, domain: string | null): string[] {
  const { addresses, invalid } = parseAddressList(list, domain);
  const emails = addresses.map(({ email }) => parseAddress(email)?.email);
  const good = emails.filter((email) => email !== undefined);
  if (invalid === 0 && good.length === emails.length) return good;
  throw ValidationError.of('recipient', `${list} is not a valid email address`);
}

/**
 * Returns the fields of the header that name recipients. In a resent mail, To and Cc name
 * recipients of the earlier mail (RFC 5322 3.6.6).
 */
function namedRecipients(header: HeaderBlock): string[] {
  const resent = ['resent-to', 'resent-cc', 'resent-bcc'].flatMap((name) => header.all(name));
  return resent.length > 0 ? resent : ['to', 'cc', 'bcc'].flatMap((name) => header.all(name));
}

function recipientsOf(
  { recipients, readsRecipients }: PipeOptions,
  header: HeaderBlock,
  domain: string | null,
): string[] {
  const named = readsRecipients ? namedRecipients(header) : [];
  const lists = [...recipients, ...named].filter((list) => list.trim() !== '');
  return [...new Set(lists.flatMap((list) => addressesIn(list, domain)))];
}

/**
 * Returns true for a domain without a dot, such as in `root@localhost` and `root@web1`, and on the
 * machine web1 for `root@web1.example.com`.
 */
function isOfMachine(email: string, machineNames: readonly string[]): boolean {
  const domain = domainOf(email).toLowerCase();
  const isLocal = !domain.includes('.') || domain.startsWith('localhost.');
  return isLocal || isOfHost(email, machineNames);
}

/** Returns true for an address of `localhost`, or of a host with one of these names. */
function isOfHost(email: string, names: readonly string[]): boolean {
  const domain = domainOf(email).toLowerCase().replace(/\.$/, '');
  return /(?:^|\.)localhost$|\.localdomain$/.test(domain) || names.includes(domain);
}

/** Returns the author to write into From, if From is missing or names a local user; else null. */
function fromOf(
  header: HeaderBlock,
  { from, name, machineNames }: PipeOptions,
  sender: DefaultSender | null,
): DefaultSender | null {
  const value = header.first('from')?.trim() || null;
  const given = value ?? from;
  if (given !== null) {
    const { addresses, invalid } = parseAddressList(given);
    const [author, second] = addresses;
    const isUser = author && !second && invalid === 0 && isOfMachine(author.email, machineNames);
    if (author && !isUser)
      return value === null ? { email: author.email, name: author.name ?? name } : null;
    const [user, another] = isUser ? addresses : parseAddressList(given, 'user.invalid').addresses;
    if (!user || another || invalid > 1) {
      if (value !== null) return null;
      throw ValidationError.of('From', `${given} is not a valid email address`);
    }
    const own = user.name ?? name ?? user.email.slice(0, user.email.lastIndexOf('@'));
    return { ...needed(sender), name: own };
  }
  const { email, name: senderName } = needed(sender);
  return { email, name: name ?? senderName };
}

/** An author at a host name of the client's machine. */
export interface MachineAuthor {
  /** From as it was submitted. */
  from: string;
  /** Address in From; null for a user without a domain. */
  email: string | null;
  /** Returns the mail with the default sender as author. @throws ForbiddenError if none exists. */
  complete(): Buffer;
}

/**
 * Finds the author of a submitted mail if it is a user without a domain, of `localhost`, or of a
 * host with one of these names. Returns null for a different author.
 */
export function completeAuthor(
  raw: Buffer,
  hostNames: readonly string[],
  sender: DefaultSender | null,
): MachineAuthor | null {
  const header = readHeaderBlock(raw);
  const [value, second] = header.all('from');
  if (value === undefined || second !== undefined) return null;
  const { addresses, invalid } = parseAddressList(value);
  const [author, another] = addresses;
  if (another || (author && (invalid > 0 || !isOfHost(author.email, hostNames)))) return null;
  const listed = author ? addresses : parseAddressList(value, 'user.invalid').addresses;
  const [user, further] = listed;
  if (!user || further || (!author && invalid !== 1)) return null;
  const name = user.name ?? user.email.slice(0, user.email.lastIndexOf('@'));
  return {
    from: value.trim(),
    email: author?.email ?? null,
    complete() {
      const rest = cutRawMail(raw, (field) => field === 'from');
      return joinRawMail(rest, [fromField({ ...needed(sender), name })]);
    },
  };
}

function needed(sender: DefaultSender | null): DefaultSender {
  if (sender) return sender;
  throw new ForbiddenError(
    'There is no default sender to complete the mail: use a full address in From, or ' +
      'create a sender with `svc senders create --email ADDRESS --default`',
  );
}

/**
 * Returns the piped mail with the recipients.
 * @throws ValidationError for an invalid recipient (`recipient`) or From, and for raw UTF-8 in a
 * structured field; ForbiddenError if the mail needs a default sender and the organization has
 * none.
 */
export function readPipedMail(
  input: Buffer,
  options: PipeOptions,
  sender: DefaultSender | null,
): PipedMail {
  const raw = encodeRawHeader(asMail(input, options.endsAtDot));
  const odd = findRawField(raw);
  if (odd !== null) {
    const how = 'write them as encoded words (RFC 2047), URIs percent-encoded';
    throw ValidationError.of(odd, `has characters that are not ASCII: ${how}`);
  }
  const header = readHeaderBlock(raw);
  const recipients = recipientsOf(options, header, sender && domainOf(sender.email));
  const from = fromOf(header, options, sender);
  if (!from) return { raw, recipients };
  const rest = cutRawMail(raw, (name) => name === 'from');
  return { raw: joinRawMail(rest, [fromField(from)]), recipients };
}
