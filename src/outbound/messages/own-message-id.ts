// The Message-ID of a mail that we compose holds the id of the message, so that replies and reports name it.
const ownMessageId = /^<(msg_[0-9a-hjkmnp-tv-z]{16,24})@[^>]+>$/;

/** Returns the message id in a Message-ID of ours, given with angle brackets. Returns null for all others. */
export function messageIdOf(header: string | null): string | null {
  return ownMessageId.exec(header ?? '')?.[1] ?? null;
}
