// Every small change of a JSON document: each string, number, null and list of it, one at a time.

import type { Receipt } from '../../src/receipts/schema.ts';
import { commonOf } from '../../src/receipts/verify.ts';

/** A document that differs from its original in one place. */
export interface Change {
  /** Place of the change, such as `events.0.facts.reply`. */
  at: string;
  value: unknown;
}

/** Returns variants of a value that differ by a bit, a digit or an entry. */
function variantsOf(value: unknown): unknown[] {
  if (typeof value === 'string') return [flipped(value), `${value}x`];
  if (typeof value === 'number') return [value + 1];
  if (value === null) return ['x', 0];
  if (Array.isArray(value)) return value.length === 0 ? [] : [value.slice(1), value.slice(0, -1)];
  return [];
}

/**
 * Changes the lowest bit of the last character that stays of its kind: a digit, a letter or
 * another.
 */
function flipped(text: string): string {
  if (text === '') return 'x';
  const at = Math.floor(text.length / 2);
  const code = text.charCodeAt(at);
  return text.slice(0, at) + String.fromCharCode(code ^ 1) + text.slice(at + 1);
}

/** Returns every variant of a document, each with its place. */
export function everyChange(whole: unknown, at: readonly string[] = []): Change[] {
  const own = variantsOf(whole).map((value) => ({ at: at.join('.'), value }));
  if (typeof whole !== 'object' || whole === null) return own;
  const inside = Object.entries(whole).flatMap(([name, part]) =>
    everyChange(part, [...at, name]).map((change) => {
      const copy = Array.isArray(whole) ? [...whole] : { ...whole };
      Object.assign(copy, { [name]: change.value });
      return { at: change.at, value: copy };
    }),
  );
  const without = Object.keys(whole).map((name) => {
    const { [name]: _, ...rest } = whole as Record<string, unknown>;
    return { at: [...at, name, '(removed)'].join('.'), value: rest };
  });
  return [...own, ...inside, ...(Array.isArray(whole) ? [] : without)];
}

/** Leaves events out of a receipt, with their proofs. */
function without(receipt: Receipt, isLost: (event: Receipt['events'][number]) => boolean): Receipt {
  const lost = new Set(receipt.events.filter(isLost).map(({ id }) => id));
  return {
    ...receipt,
    events: receipt.events.filter(({ id }) => !lost.has(id)),
    path: receipt.path.filter(({ eventId }) => !lost.has(eventId)),
  };
}

/** Returns receipts that lost an event or a recipient, each made to fit otherwise. */
export function everyLoss(receipt: Receipt): Change[] {
  const events = receipt.events.map(({ id, type }) => {
    const value = without(receipt, (event) => event.id === id);
    const attempts = value.attempts.filter(({ deliveryId, attempt }) =>
      value.events.some(
        ({ facts }) => facts?.deliveryId === deliveryId && facts?.attempt === attempt.number,
      ),
    );
    return { at: type, value: fitted({ ...value, attempts }) };
  });
  const [first] = receipt.events;
  const twice = receipt.events.slice(1).map(({ id, type }) => {
    const kept = receipt.events.map((event) => (event.id === id && first ? first : event));
    return { at: `${type}, replaced by another`, value: { ...receipt, events: kept } };
  });
  const recipients = receipt.envelope.recipients.map((recipient) => {
    const value = without(receipt, ({ facts }) => facts?.recipient === recipient);
    const attempts = value.attempts.filter((one) => one.recipient !== recipient);
    return { at: recipient, value: fitted({ ...value, attempts }) };
  });
  const attempts = receipt.envelope.recipients.map((recipient) => {
    const kept = receipt.attempts.filter((one) => one.recipient !== recipient);
    return { at: `attempts of ${recipient}`, value: fitted({ ...receipt, attempts: kept }) };
  });
  return [...events, ...twice, ...recipients, ...attempts];
}

/** Returns a receipt with the message and the envelope of its attempts. */
function fitted(receipt: Receipt): Receipt {
  const { attempts } = receipt;
  const taken = attempts.flatMap(({ attempt }) => (attempt.digest === undefined ? [] : attempt));
  return {
    ...receipt,
    message: { ...receipt.message, digest: commonOf(taken.map(({ digest = '' }) => digest)) },
    envelope: {
      returnPath: commonOf(taken.map(({ returnPath = '' }) => returnPath)),
      recipients: [...new Set(attempts.map(({ recipient }) => recipient))],
    },
  };
}
