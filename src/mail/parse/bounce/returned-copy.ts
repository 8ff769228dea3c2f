// Reads the copy of a message in a report: Message-ID, our addresses with tokens, tokens of
// `X-Service-Token`, and DKIM signatures (RFC 6376) with the text that each signs. Pure, for the
// parse worker: src/outbound/reports/complaint-proof.ts checks whether tokens and signatures are
// ours. Ignores the body, which providers cut and redact; the header identifies the message.
import type { DkimAlgorithm } from '../../mime/dkim/dkim-key.ts';
import { relaxedValue } from '../../mime/dkim/sign.ts';
import { copyTokenField } from '../../mime/headers/header-encoding.ts';
import { readHeaderBlock, scanFields } from '../../mime/headers/header-fields.ts';
import { readMessageIds } from '../../mime/headers/message-ids.ts';
import type { ParsedMail } from '../../mime/parsed-mail.ts';

interface ReturnedMessage {
  /** Message-ID with angle brackets. */
  messageId: string | null;
  /** Address of the author (From) in lower case; null if the copy has none. */
  from: string | null;
  /** Addresses of the field To in lower case: possible failed recipients. */
  to: string[];
  /** Addresses `bounce+<token>@…` and `unsub+<token>@…` anywhere in the copy, without repeats. */
  tokenAddresses: string[];
}

const messageTypes = new Set([
  'message/rfc822',
  'message/global',
  'message/global-headers',
  'text/rfc822-headers',
]);
const maxCopyCharacters = 64 * 1024;
const maxTokenAddresses = 20;
const idLine = /^[ \t>|]{0,8}message-id:[ \t]{0,8}(?:\r?\n[ \t]{1,8})?(<[^<>\s]{1,996}>)/im;
const tokenAddress = /\b(?:bounce|unsub)\+[A-Za-z0-9_.=-]{1,200}@[A-Za-z0-9.-]{1,253}[A-Za-z0-9]/gi;
const address = /[^\s<>()"',;:@]{1,64}@[^\s<>()"',;:@]{1,255}/g;

/** Returns the addresses with our tokens in a text, in their order. */
export function findTokenAddresses(text: string): string[] {
  return [...new Set(text.match(tokenAddress) ?? [])].slice(0, maxTokenAddresses);
}

function addressesOf(value: string | null): string[] {
  return (value?.slice(0, 4096).match(address) ?? []).map((one) => one.toLowerCase());
}

/** Returns the copy attached to a report, as far as it was kept; null without a copy. */
function findAttachedCopy(mail: ParsedMail): string | null {
  return mail.reports.find(({ contentType }) => messageTypes.has(contentType))?.text ?? null;
}

/**
 * Reads the copy attached to a report, else the copy quoted in the text (`quoted`). If the copy has
 * no Message-ID, takes the id from In-Reply-To or References of the report, since a bounce refers
 * to the returned message.
 */
export function readReturnedMessage(mail: ParsedMail, quoted: string): ReturnedMessage {
  const attached = findAttachedCopy(mail);
  const copy = (attached ?? quoted).slice(0, maxCopyCharacters);
  const header = readHeaderBlock(Buffer.from(attached ?? copy.trimStart()));
  const messageId =
    readMessageIds(header.first('message-id'))[0] ??
    idLine.exec(copy)?.[1] ??
    mail.inReplyTo ??
    mail.references.at(-1) ??
    null;
  return {
    messageId,
    from: addressesOf(header.first('from'))[0] ?? null,
    to: addressesOf(header.first('to')),
    tokenAddresses: findTokenAddresses(copy),
  };
}

/** A DKIM signature over the header of a copy. */
export interface CopySignature {
  domain: string;
  selector: string;
  algorithm: DkimAlgorithm;
  /** Value of `b=`, in base64. */
  signature: string;
  /** Header in the canonical form that was signed. */
  text: string;
  /**
   * Message-ID that the signature covers, with angle brackets. Anyone can add an unsigned
   * Message-ID in front of the signed field.
   */
  messageId: string;
}

export interface OwnCopy {
  tokens: string[];
  signatures: CopySignature[];
}

interface CopyField {
  name: string;
  /** Value of the field; folds are CRLF. */
  value: string;
}

const maxTokens = 5;
const maxTokenCharacters = 100;
const maxSignatures = 10;
const maxSignedNames = 100;
const algorithms: readonly DkimAlgorithm[] = ['rsa-sha256', 'ed25519-sha256'];
const signatureValue = /((?:^|;)\s*b\s*=)[^;]*/;

function readFields(copy: string): CopyField[] {
  const bytes = Buffer.from(copy);
  return scanFields(bytes).spans.map(({ name, valueStart, end }) => ({
    name: name.toLowerCase(),
    value: bytes.toString('utf8', valueStart, end).replace(/\r?\n/g, '\r\n').replace(/\r$/, ''),
  }));
}

/** Reads a tag list (RFC 6376 3.2). Removes white space, which has no meaning in these tags. */
function readTags(value: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of value.split(';')) {
    const equals = part.indexOf('=');
    if (equals < 0) continue;
    tags.set(part.slice(0, equals).trim(), part.slice(equals + 1).replace(/\s/g, ''));
  }
  return tags;
}

/**
 * Returns the fields that `h=` names; repeated fields from the last to the first (RFC 6376 5.4.2).
 */
function signedFields(fields: readonly CopyField[], names: readonly string[]): CopyField[] {
  const left = Map.groupBy(fields, ({ name }) => name);
  return names.flatMap((name) => left.get(name)?.pop() ?? []);
}

function readSignature(fields: readonly CopyField[], value: string): CopySignature | null {
  const tags = readTags(value);
  const algorithm = algorithms.find((one) => one === tags.get('a')?.toLowerCase());
  const domain = tags.get('d')?.toLowerCase();
  const selector = tags.get('s')?.toLowerCase();
  const signature = tags.get('b');
  if (tags.get('v') !== '1' || !tags.get('c')?.startsWith('relaxed')) return null;
  if (!algorithm || !domain || !selector || !signature) return null;
  const names = (tags.get('h') ?? '').toLowerCase().split(':').slice(0, maxSignedNames);
  const signed = signedFields(fields, names);
  const idField = signed.find(({ name }) => name === 'message-id');
  const messageId = readMessageIds(idField?.value.trim() ?? null)[0];
  if (messageId === undefined) return null;
  const header = signed.map((field) => `${field.name}:${relaxedValue(field.value)}\r\n`).join('');
  const text = `${header}dkim-signature:${relaxedValue(value.replace(signatureValue, '$1'))}`;
  return { domain, selector, algorithm, signature, text, messageId };
}

/**
 * Reads at most 5 tokens and 10 signatures in the attached copy; none without a copy. Never throws.
 */
export function readOwnCopy(mail: ParsedMail): OwnCopy {
  const copy = findAttachedCopy(mail);
  if (copy === null) return { tokens: [], signatures: [] };
  const fields = readFields(copy);
  const valuesOf = (wanted: string) =>
    fields.filter(({ name }) => name === wanted).map(({ value }) => value);
  return {
    tokens: valuesOf(copyTokenField.toLowerCase())
      .slice(0, maxTokens)
      .map((value) => value.trim().slice(0, maxTokenCharacters)),
    signatures: valuesOf('dkim-signature')
      .slice(0, maxSignatures)
      .flatMap((value) => readSignature(fields, value) ?? []),
  };
}
