// What the copy attached to a complaint shows of ours: the tokens of `X-Service-Token`, and the DKIM
// signatures (RFC 6376) with the text that each signs. Pure, and runs in the parse worker: whether a
// token or signature is ours is proven in src/reports/complaint-proof.ts. The body is not looked at:
// providers cut and redact it, and the header says which message it is.
import type { DkimAlgorithm } from '../../dkim-key.ts';
import { copyTokenField } from '../../protocol-headers.ts';
import { relaxedValue } from '../../relaxed-value.ts';
import { scanFields } from '../header-fields.ts';
import { readMessageIds } from '../header-values.ts';
import type { ParsedMail } from '../parsed-mail.ts';
import { findAttachedCopy } from './returned-message.ts';

/** A signature over the header of a copy. */
export interface CopySignature {
  domain: string;
  selector: string;
  algorithm: DkimAlgorithm;
  /** Base64. */
  signature: string;
  /** The canonical header that it signs. */
  text: string;
  /** Of the field that it signs: others may have been put in front. With angle brackets. */
  messageId: string;
}

export interface OwnCopy {
  tokens: string[];
  signatures: CopySignature[];
}

interface CopyField {
  /** Lower case. */
  name: string;
  /** Folds are CRLF. */
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

/** RFC 6376 3.2; white space within values is of no meaning in the tags that are read. */
function readTags(value: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of value.split(';')) {
    const equals = part.indexOf('=');
    if (equals < 0) continue;
    tags.set(part.slice(0, equals).trim(), part.slice(equals + 1).replace(/\s/g, ''));
  }
  return tags;
}

/** The fields that `h=` names; of those that repeat, from the last up (RFC 6376 5.4.2). */
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

/** Reads at most 5 tokens and 10 signatures; nothing where no copy is attached. Never throws. */
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
