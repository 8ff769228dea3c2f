// The threading fields that a send states in `email.headers`, for a thread that began elsewhere:
// In-Reply-To and References (RFC 5322 3.6.4). The row keeps them in columns of their own, as it
// keeps those of a reply to one of our messages, so that a mail never has them twice.
import { isMessageId } from '../../mail/mime/headers/header-encoding.ts';
import { messageIdOf } from './own-message-id.ts';

const fields = { 'in-reply-to': { most: 1 }, references: { most: 50 } } as const;

/** Most characters of the ids in References. */
export const maxReferences = 8_000;

export function isThreadingField(name: string): boolean {
  return Object.hasOwn(fields, name.toLowerCase());
}

const idsIn = (value: string) => value.trim().split(/\s+/);

/** `<left@right>`: in new mail, a msg-id has both sides (RFC 5322 3.6.4). */
const isWhole = (id: string) => isMessageId(id) && /^<[^@]+@[^@]+>$/.test(id);

/** Returns the reason why a threading field cannot have the value, or null. */
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
  /** The remaining header fields; undefined without any. */
  rest: Record<string, string> | undefined;
}

/** Parts valid header fields into threading and the rest. Repeated references count once. */
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

/** Returns the message of ours that the stated fields answer: the nearest named by its own id. */
export function statedParent(headers: Readonly<Record<string, string>> | undefined): string | null {
  if (headers === undefined) return null;
  const { inReplyTo, references } = statedThreading(headers);
  for (const id of [inReplyTo, ...references.reverse()]) {
    const found = messageIdOf(id);
    if (found !== null) return found;
  }
  return null;
}
