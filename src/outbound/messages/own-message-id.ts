// The Message-ID of a mail that we compose contains the id of the message, so that replies and
// reports name it. If a relay replaces it, the new id is a further id of the message
// (further-id-queries.ts).
import type { Db } from '../../platform/store/db.ts';
import { findFurtherIds } from './further-id-queries.ts';

const ownMessageId = /^<(msg_[0-9a-hjkmnp-tv-z]{16,24})@[^>]+>$/;

/**
 * Returns the message id in a Message-ID of ours, given with angle brackets. Returns null for
 * foreign Message-IDs.
 */
export function messageIdOf(header: string | null): string | null {
  return ownMessageId.exec(header ?? '')?.[1] ?? null;
}

/** Returns the Message-ID for received mail without one. It never leaves the service. */
export function madeUpMessageId(id: string): string {
  return `<${id}@received.invalid>`;
}

/** Tells whether the service made this Message-ID for received mail. */
export function isMadeUp(header: string): boolean {
  return header.endsWith('@received.invalid>');
}

/** Returns the part of a Message-ID before the domain, without angle brackets. */
function leftHalfOf(header: string): string {
  const id = header.replace(/^<|>$/g, '');
  return id.slice(0, Math.max(0, id.lastIndexOf('@')));
}

/** Maps the left halves of further ids to our messages. */
export type FurtherIds = ReadonlyMap<string, string>;

/**
 * Finds our messages to which relays gave these Message-IDs. Queries nothing for ids that contain
 * the message id.
 */
export async function furtherIdsIn(db: Db, headers: readonly string[]): Promise<FurtherIds> {
  const halves = headers.flatMap((header) =>
    messageIdOf(header) === null ? leftHalfOf(header) : [],
  );
  const asked = [...new Set(halves)].filter((half) => half !== '');
  if (asked.length === 0) return new Map();
  const rows = await findFurtherIds(db, asked);
  return new Map(rows.map(({ left_half, message_id }) => [left_half, message_id]));
}

/** Returns the id of our message that a Message-ID names, directly or as a further id, or null. */
export function namedMessage(header: string | null, further: FurtherIds): string | null {
  if (header === null) return null;
  return messageIdOf(header) ?? further.get(leftHalfOf(header)) ?? null;
}
