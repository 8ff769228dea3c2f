// Checks a receipt with nothing but itself, the mail and public keys: no store, no network. Pure.
//
// Each part is bound to the next: the mail to `digest` of an attempt, the attempt to `evidence` of
// an event, the event to the root by a path, the root to the signature of the head, the number of
// events to the number in the summary.
import { hash } from 'node:crypto';
import { leafHash } from '../history/events/leaf.ts';
import { ValidationError } from '../platform/errors.ts';
import { isSignedBy, isSummarySignedBy, keyIdOf } from './head.ts';
import {
  type AnyReceipt,
  anyReceipt,
  keyList,
  mostEvents,
  type ReceiptAttempt,
  type ReceiptEvent,
} from './schema.ts';
import { fromHex, rootOfPath, toHex } from './tree.ts';

/** A part of a receipt that fails a check, with the reason. */
export interface ReceiptProblem {
  /** The part: `head`, `message`, `envelope`, `mime`, the id of an event, or an attempt. */
  part: string;
  problem: string;
}

/** Mail and keys that a receipt is checked against. */
export interface Against {
  /** Bytes of the mail. Undefined: the mail is not compared. */
  mime?: Uint8Array | undefined;
  /** Ids of trusted keys. Undefined: the receipt may be signed by any key. */
  keyIds?: readonly string[] | undefined;
}

/** Returns the problems of a receipt; none if it is sound. `value` is any parsed JSON. */
export function verifyReceipt(value: unknown, against: Against = {}): ReceiptProblem[] {
  const { success, data, error } = anyReceipt.safeParse(value);
  if (!success) {
    return error.issues.slice(0, 10).map(({ path, message }) => {
      return { part: path.join('.') || 'file', problem: `not the form of a receipt: ${message}` };
    });
  }
  return [
    ...headProblems(data, against.keyIds),
    ...eventProblems(data),
    ...summaryProblems(data),
    ...attemptProblems(data),
    ...messageProblems(data),
    ...envelopeProblems(data),
    ...mimeProblems(data, against.mime),
  ];
}

/** Tells whether a sound receipt proves that it has all events and recipients. */
export function isCompletenessProven(value: unknown): boolean {
  const whole = anyReceipt.parse(value);
  return 'summary' in whole && whole.summary.events === whole.events.length;
}

/**
 * Returns the ids of the keys in a document like `/.well-known/svc-receipts.json`.
 * @throws ValidationError for any other document.
 */
export function keyIdsOf(value: unknown): string[] {
  const { success, data } = keyList.safeParse(value);
  if (!success) throw ValidationError.of('keys', 'not a list of keys that sign receipts');
  return data.keys.map(({ publicKey }) => keyIdOf(publicKey));
}

/** Describes a sound receipt, and the part of the proof that the reader must check. */
export function soundWords(
  value: unknown,
  { isMimeGiven, areKeysGiven }: { isMimeGiven: boolean; areKeysGiven: boolean },
): string {
  const whole = anyReceipt.parse(value);
  const { message, envelope, attempts, events, head } = whole;
  const taken = attempts.filter(({ attempt }) => attempt.digest !== undefined);
  const lines = [
    `The receipt of ${message.id} is sound: ${events.length} events, sealed by ${head.at}.`,
    ...taken.map(({ recipient, attempt }) => {
      const { host, at, code, reply, tls } = attempt;
      const how = tls === null ? 'in plain text' : `over ${tls}`;
      return `${host ?? 'the server'} took it for ${recipient} at ${at}, ${how}: ${code} ${reply}`;
    }),
  ];
  if (!('summary' in whole)) {
    lines.push('Its version 1 does not prove completeness: events or recipients may be left out.');
  } else if (whole.summary.events > events.length) {
    lines.push(`It has the first ${events.length} events of ${whole.summary.events}.`);
  }
  if (taken.length === 0) lines.push(`No server took it for ${envelope.recipients.join(', ')}.`);
  if (isMimeGiven) lines.push('The mail is the one that was sent.');
  else if (message.digest !== null) lines.push(`SHA-256 of the mail: ${message.digest}`);
  if (!areKeysGiven) {
    lines.push(`Signed by key ${head.keyId}: compare it with that of the sender.`);
  }
  return lines.join('\n');
}

function headProblems(
  { message, head }: AnyReceipt,
  keyIds: readonly string[] | undefined,
): ReceiptProblem[] {
  const { publicKey, ...signed } = head;
  const problem = (text: string) => [{ part: 'head', problem: text }];
  if (keyIdOf(publicKey) !== head.keyId) return problem('publicKey is not the key of keyId');
  if (!isSignedBy(message.organizationId, signed, publicKey)) {
    return problem('the signature does not fit the head');
  }
  if (keyIds && !keyIds.includes(head.keyId)) {
    return problem(`signed by a foreign key, ${head.keyId}`);
  }
  return [];
}

/** Builds the text of an event's leaf from the receipt, as src/history/events/leaf.ts does. */
function leafOf({ message }: AnyReceipt, event: ReceiptEvent): string {
  const { id, type, recipientId, status, timestamp, facts } = event;
  const at = Date.parse(timestamp);
  return JSON.stringify([
    id,
    message.organizationId,
    type,
    message.id,
    recipientId,
    status,
    at,
    null,
    facts,
  ]);
}

function eventProblems(whole: AnyReceipt): ReceiptProblem[] {
  const { events, path, head } = whole;
  const proofs = new Map(path.map((proof) => [proof.eventId, proof]));
  const problems: ReceiptProblem[] = [];
  if (events.length === 0) problems.push({ part: 'events', problem: 'there are none' });
  if (path.length !== events.length || proofs.size !== path.length) {
    problems.push({ part: 'path', problem: 'each event needs one proof' });
  }
  if (new Set(events.map(({ id }) => id)).size < events.length) {
    problems.push({ part: 'events', problem: 'one of them stands there twice' });
  }
  for (const event of events) {
    const proof = proofs.get(event.id);
    const hashes = proof?.hashes.map(fromHex) ?? [];
    const leaf = leafHash(leafOf(whole, event));
    const root = rootOfPath(leaf, proof?.index ?? -1, head.size, hashes);
    if (root === null || toHex(root) !== head.root) {
      problems.push({ part: event.id, problem: 'this event, or its path, is not what was sealed' });
    }
  }
  return problems;
}

/**
 * Compares the signed counts with the counts of the receipt, which has the first 1,000 events at
 * most.
 */
function summaryProblems(whole: AnyReceipt): ReceiptProblem[] {
  if (!('summary' in whole)) return [];
  const { message, envelope, events, head, summary, summarySignature } = whole;
  const problem = (text: string) => [{ part: 'summary', problem: text }];
  const counts = { messageId: message.id, ...summary };
  if (!isSummarySignedBy(counts, head, summarySignature, head.publicKey)) {
    return problem('its signature does not fit');
  }
  if (summary.at !== head.at) return problem('its time is not that of the head');
  if (events.length !== Math.min(summary.events, mostEvents)) {
    return problem(`the message had ${summary.events} events, the receipt has ${events.length}`);
  }
  const { length } = envelope.recipients;
  if (length === summary.recipients) return [];
  return problem(`the message had ${summary.recipients} recipients, the receipt has ${length}`);
}

function nameOf({ deliveryId, attempt }: ReceiptAttempt): string {
  return `attempt ${attempt.number} of ${deliveryId}`;
}

/** Fact of an event that binds an attempt to the event. */
interface Evidence {
  deliveryId?: unknown;
  recipient?: unknown;
  attempt?: unknown;
  evidence?: unknown;
}

/**
 * Returns a problem for each attempt that no event proves. Events recorded before this service had
 * receipts have no evidence.
 */
function attemptProblems({ attempts, events }: AnyReceipt): ReceiptProblem[] {
  const facts = events.map((event) => (event.facts ?? {}) as Evidence);
  return attempts.flatMap((one) => {
    const found = facts.find(({ deliveryId, attempt }) => {
      return deliveryId === one.deliveryId && attempt === one.attempt.number;
    });
    const part = nameOf(one);
    if (!found) return [{ part, problem: 'no event tells of this attempt' }];
    if (found.recipient !== one.recipient) {
      return [{ part, problem: `its recipient is ${String(found.recipient)}` }];
    }
    if (found.evidence === hash('sha256', JSON.stringify(one.attempt), 'base64url')) return [];
    const problem =
      found.evidence === undefined
        ? 'it is older than receipts, and not proven'
        : 'the answers of the server, or another part of it, are not what was sealed';
    return [{ part, problem }];
  });
}

/** Returns the value if all values are equal; null for different values or an empty list. */
export function commonOf(values: readonly string[]): string | null {
  const [first = null, ...others] = new Set(values);
  return others.length === 0 ? first : null;
}

function messageProblems({ message, attempts }: AnyReceipt): ReceiptProblem[] {
  const digests = attempts.flatMap(({ attempt }) => attempt.digest ?? []);
  if (message.digest === commonOf(digests)) return [];
  return [{ part: 'message', problem: 'its digest is not that of the attempts' }];
}

function envelopeProblems({ envelope, attempts }: AnyReceipt): ReceiptProblem[] {
  const paths = attempts.flatMap(({ attempt }) => attempt.returnPath ?? []);
  const recipients = [...new Set(attempts.map(({ recipient }) => recipient))];
  const isEqual =
    envelope.returnPath === commonOf(paths) &&
    JSON.stringify(envelope.recipients) === JSON.stringify(recipients);
  return isEqual ? [] : [{ part: 'envelope', problem: 'it is not that of the attempts' }];
}

function mimeProblems({ attempts }: AnyReceipt, mime: Uint8Array | undefined): ReceiptProblem[] {
  if (!mime) return [];
  const digests = attempts.map(({ attempt }) => attempt.digest);
  if (digests.includes(hash('sha256', mime, 'hex'))) return [];
  const problem = digests.some((one) => one !== undefined)
    ? 'it is not the mail that the servers took'
    : 'no server took a mail';
  return [{ part: 'mime', problem }];
}
