// The Message-ID of what we compose holds the id of the message, so that answers and reports name it.
const ownMessageId = /^<(msg_[0-9a-hjkmnp-tv-z]{16,24})@[^>]+>$/;

/** The message that a Message-ID names, angle brackets included; null where it is none of ours. */
export function messageIdOf(header: string | null): string | null {
  return ownMessageId.exec(header ?? '')?.[1] ?? null;
}
