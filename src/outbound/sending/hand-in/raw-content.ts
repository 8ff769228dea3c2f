// Reads a mail submitted as MIME (SMTP submission, sendmail) as far as a send needs: the sender,
// the options in our header fields, and the values for the row. The body stays unchanged. Bcc,
// Return-Path and our fields are removed from the header, and UTF-8 that the header may not contain
// is encoded. The usual checks decide whether it may be sent (accept.ts).
import { isAscii, isUtf8 } from 'node:buffer';
import type { ClaimedOrigin } from '../../../access/keys/constraints.ts';
import { parseWith } from '../../../core/api/validate.ts';
import { parseAddressList } from '../../../mail/mime/headers/header-addresses.ts';
import { type HeaderBlock, readHeaderBlock } from '../../../mail/mime/headers/header-fields.ts';
import { decodeWords } from '../../../mail/mime/headers/header-values.ts';
import { encodeRawHeader } from '../../../mail/mime/headers/raw-header.ts';
import {
  type ParsedMail,
  type ParsingErrorCode,
  parseLimits,
} from '../../../mail/mime/parsed-mail.ts';
import { findMailFault } from '../../../mail/mime/raw-check.ts';
import { cutRawMail, type RawMail } from '../../../mail/mime/raw-mail.ts';
import { projectHeader } from '../../../mail/parse/read-header.ts';
import { MalformedRequestError, ValidationError } from '../../../platform/errors.ts';
import { foldAddress, parseAddress } from '../../../platform/net/address.ts';
import type { MessageOrigin } from '../../messages/schema.ts';
import type { SendPayload } from '../../messages/send-schema.ts';
import { ownFieldPrefix, type RawSendOptions, rawSendOptions } from './raw-schema.ts';

const mostRecipients = 50;

/** A mail as it was submitted. */
export interface HandedIn {
  /** The mail; it has only CRLF line ends. */
  raw: Buffer;
  /** Recipients of the envelope, in the normal form of src/platform/net/address.ts. */
  recipients: readonly string[];
  /**
   * Whether the header may contain UTF-8 (RFC 6532) and stays unchanged. If not, fields are encoded
   * where possible.
   */
  allowsUtf8: boolean;
  /** Domain for addresses without a domain in the header. */
  bareDomain: string | null;
  via: MessageOrigin['via'];
  /** Submitted From, if the default sender replaced it. */
  replacedFrom?: string | null;
  /** User name of the login. */
  user: string | null;
}

/** The parts of a mail that are stored, besides the recipients. */
export interface RawContent extends Pick<HandedIn, 'via' | 'user' | 'replacedFrom'> {
  mail: RawMail;
  /** Submitted Message-ID; a mail without it gets a new Message-ID. */
  messageIdHeader: string | null;
  origins: readonly ClaimedOrigin[];
  hasDate: boolean;
  hasFeedbackId: boolean;
  summary: Pick<
    ParsedMail,
    'subject' | 'from' | 'replyTo' | 'inReplyTo' | 'references' | 'priority'
  >;
}

/** A mail with the options in its header. */
export interface RawSend {
  payload: SendPayload;
  raw: RawContent;
  idempotencyKey: string | null;
  scheduledFor: number | undefined;
}

/**
 * Reads a mail and the options.
 * @throws ValidationError that names the invalid header field; MalformedRequestError (413) for a
 * mail above the size limit of the parser.
 */
export function readRawSend(given: HandedIn): RawSend {
  const { recipients, via, user, replacedFrom = null } = given;
  const raw = given.allowsUtf8 ? given.raw : encodeRawHeader(given.raw);
  if (raw.length > parseLimits.mailBytes) {
    throw new MalformedRequestError(`The mail is larger than ${parseLimits.mailBytes} bytes`, 413);
  }
  const block = readHeaderBlock(raw);
  checkHeader(raw, given.allowsUtf8, block);
  const from = readFrom(block);
  checkRecipients(recipients);
  const options = readOptions(block);
  const summary = projectHeader(block, {});
  const content: RawContent = {
    via,
    user,
    replacedFrom,
    mail: cutRawMail(raw, isTakenOut),
    messageIdHeader: summary.messageIdHeader,
    origins: originsIn(block),
    hasDate: block.first('date') !== null,
    hasFeedbackId: block.first('feedback-id') !== null,
    summary,
  };
  return {
    payload: payloadOf(from, given, block, options),
    raw: content,
    idempotencyKey: options['X-Service-Idempotency-Key'] ?? null,
    scheduledFor: options['X-Service-Scheduled-For'],
  };
}

function isTakenOut(name: string): boolean {
  return (
    name === 'bcc' ||
    name === 'resent-bcc' ||
    name === 'return-path' ||
    name.startsWith(ownFieldPrefix)
  );
}

/** Faults after which the meaning of a header is ambiguous. */
const grave: Partial<Record<ParsingErrorCode, string>> = {
  'header-too-large': 'is larger than 256 KB or 2,000 lines: move long values into the text',
  'too-many-header-fields': 'has more than 1000 fields',
  'malformed-header': 'has lines that are not fields (NAME: VALUE): an empty line ends the header',
};

function checkHeader(raw: Buffer, allowsUtf8: boolean, block: HeaderBlock): void {
  for (const { code } of block.faults) {
    const problem = grave[code];
    if (problem) throw ValidationError.of('header', problem);
  }
  const header = raw.subarray(0, block.end);
  const fault = findMailFault(raw, block);
  if (fault) throw ValidationError.of(fault.field, fault.problem);
  if (header.includes(0)) throw ValidationError.of('header', 'has a NUL character');
  if (isAscii(header) || (allowsUtf8 && isUtf8(header))) return;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all that is ASCII
  const odd = block.fields.find(({ value }) => /[^\x00-\x7f]/.test(value));
  const how = allowsUtf8 ? 'must be UTF-8' : 'write them as encoded words (RFC 2047)';
  throw ValidationError.of(odd?.name ?? 'header', `has characters that are not ASCII: ${how}`);
}

function readFrom(block: HeaderBlock): { email: string; name: string | null } {
  const value = block.first('from');
  if (value === null) throw ValidationError.of('From', 'is missing');
  const { addresses, invalid } = parseAddressList(value);
  const [author, another] = addresses;
  if (another) throw ValidationError.of('From', 'must name one author');
  const email = author && invalid === 0 ? parseAddress(author.email)?.email : undefined;
  if (!author || email === undefined) {
    throw ValidationError.of('From', 'is not a valid email address');
  }
  return { email, name: author.name };
}

/** Fields besides From that name an author or a sender (RFC 5322 3.6.2 and 3.6.6). */
const originFields = ['Sender', 'Resent-From', 'Resent-Sender'];

/**
 * Returns every address in Sender, Resent-From and Resent-Sender. A field that cannot be fully
 * parsed also adds an origin without an address.
 */
function originsIn(block: HeaderBlock): ClaimedOrigin[] {
  return originFields.flatMap((field) =>
    block.all(field.toLowerCase()).flatMap((value) => {
      const { addresses, invalid, truncated } = parseAddressList(value);
      const isWhole = addresses.length > 0 && invalid === 0 && !truncated;
      const emails = addresses.map(({ email }) => parseAddress(email)?.email ?? null);
      return [...emails, ...(isWhole ? [] : [null])].map((email) => ({ field, email }));
    }),
  );
}

function checkRecipients(recipients: readonly string[]): void {
  if (recipients.length === 0) throw ValidationError.of('to', 'needs at least one recipient');
  if (recipients.length > mostRecipients) {
    throw ValidationError.of('to', `at most ${mostRecipients} recipients over to, cc and bcc`);
  }
}

/** Reads the options in our header fields. An empty field sets nothing. */
function readOptions(block: HeaderBlock): RawSendOptions {
  const textOf = (name: string) => {
    const [value = '', second] = block.all(name.toLowerCase());
    if (second !== undefined) throw ValidationError.of(name, 'is given twice');
    return decodeWords(value) || undefined;
  };
  const tags = textOf('X-Service-Tags')
    ?.split(',')
    .map((tag) => tag.trim());
  return parseWith(
    rawSendOptions,
    {
      'X-Service-Idempotency-Key': textOf('X-Service-Idempotency-Key'),
      'X-Service-Tags': tags?.filter((tag) => tag !== ''),
      'X-Service-Metadata': readMetadata(textOf('X-Service-Metadata')),
      'X-Service-Scheduled-For': textOf('X-Service-Scheduled-For'),
    },
    'headers',
  );
}

function readMetadata(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    throw ValidationError.of('X-Service-Metadata', 'must be a JSON object on one line');
  }
}

/**
 * Builds the payload: recipients in To are `to`, recipients in Cc are `cc`, all remaining
 * recipients are blind copies.
 */
function payloadOf(
  from: { email: string; name: string | null },
  { recipients, bareDomain }: HandedIn,
  block: HeaderBlock,
  options: RawSendOptions,
): SendPayload {
  const listed = { to: namesIn(block, 'to', bareDomain), cc: namesIn(block, 'cc', bareDomain) };
  const parties = {
    to: [] as SendPayload['to'],
    cc: [] as SendPayload['to'],
    bcc: [] as SendPayload['to'],
  };
  for (const email of recipients) {
    const folded = foldAddress(email);
    const kind = listed.to.has(folded) ? 'to' : listed.cc.has(folded) ? 'cc' : 'bcc';
    const name = kind === 'bcc' ? null : listed[kind].get(folded);
    parties[kind].push({ email, name: name ?? undefined });
  }
  return {
    channel: 'email',
    ...parties,
    from: { email: from.email, name: from.name ?? undefined },
    email: {},
    tags: options['X-Service-Tags'],
    metadata: options['X-Service-Metadata'],
  };
}

/** Returns the names in a field, by address. */
function namesIn(
  block: HeaderBlock,
  field: string,
  bareDomain: string | null,
): Map<string, string | null> {
  const { addresses } = parseAddressList(block.all(field).join(', '), bareDomain);
  return new Map(addresses.map(({ email, name }) => [foldAddress(email), name]));
}

/** Tells whether a raw mail is to be sent later. Reads only the field `X-Service-Scheduled-For`. */
export function isScheduledRaw(raw: Buffer): boolean {
  return readHeaderBlock(raw).first('x-service-scheduled-for') !== null;
}
