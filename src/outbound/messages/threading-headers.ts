// The threading fields in `email.headers` of a send, for a thread that began elsewhere: In-Reply-To
// and References (RFC 5322 3.6.4). They are stored in separate columns, like the ids of a reply to
// one of our messages, so that a mail never has them twice.
import { isMessageId } from '../../mail/mime/headers/header-encoding.ts';
import { messageIdOf } from './own-message-id.ts';

const fields = { 'in-reply-to': { most: 1 }, references: { most: 50 } } as const;

/** Most characters of the ids in References. */
export const maxReferences = 8_000;

export function isThreadingField(name: string): boolean {
  return Object.hasOwn(fields, name.toLowerCase());
}

const idsIn = (value: string) => value.trim().split(/\s+/);

/** Tests for `<left@right>`: a msg-id in new mail has both sides (RFC 5322 3.6.4). */
const isWhole = (id: string) => isMessageId(id) && /^<[^@]+@[^@]+>$/.test(id);

/** Returns the reason to refuse the value of a threading field, or null. */
export function refusedThreading(name: string, value: string): string | null {
  const { most } = fields[name.toLowerCase() as keyof typeof fields];
  const ids = idsIn(value);
  if (ids.length > most) return `may have at most ${most} message id${most === 1 ? '' : 's'}`;
  return ids.every(isWhole)
    ? null
    : `must be ${most === 1 ? 'a message id' : 'message ids'} such as <abc@example.com>`;
}

export interface StatedThreading {
  inReplyTo: string | null;
  references: string[];
  /** The remaining header fields; undefined if none remain. */
  rest: Record<string, string> | undefined;
}

/** Splits valid header fields into threading and other fields. Repeated references count once. */
export function statedThreading(headers: Readonly<Record<string, string>> = {}): StatedThreading {
  const entries = Object.entries(headers);
  const idsOf = (field: keyof typeof fields) => {
    const [, value] = entries.find(([name]) => name.toLowerCase() === field) ?? [];
    return value === undefined ? [] : [...new Set(idsIn(value))];
  };
  const [inReplyTo = null] = idsOf('in-reply-to');
  const rest = entries.filter(([name]) => !isThreadingField(name));
  return {
    inReplyTo,
    references: idsOf('references'),
    rest: rest.length === 0 ? undefined : Object.fromEntries(rest),
  };
}

/**
 * Returns the id of our message that the fields answer, or null. Reads In-Reply-To first, then
 * References from the end.
 */
export function statedParent(headers: Readonly<Record<string, string>> | undefined): string | null {
  if (headers === undefined) return null;
  const { inReplyTo, references } = statedThreading(headers);
  for (const id of [inReplyTo, ...references.reverse()]) {
    const found = messageIdOf(id);
    if (found !== null) return found;
  }
  return null;
}
