// The keys by which a mail finds a thread: hashes of the Message-IDs, and of the subject with the
// participants. Pure.
//
//   key    | made of                                             | holds
//   -------+-----------------------------------------------------+--------------------------------------
//   own    | the Message-ID                                      | for ever: mail that refers to it joins
//   parent | each id in In-Reply-To and References               | for ever, even before that mail arrives
//   topic  | base subject (src/mail/mime/headers/subject.ts), all addresses   | seven days, and only if no parent is
//          | in From, To and Cc                                  | known
//
// A Message-ID of ours is recognized by the message id before the `@`: some servers on the way
// replace the host name behind it. An id that a relay gave to our message makes the same key.
import { hash } from 'node:crypto';
import { withoutSubaddress } from '../../../identity/mailboxes/receivers.ts';
import { baseSubject } from '../../../mail/mime/headers/subject.ts';
import { type FurtherIds, namedMessage } from '../../../outbound/messages/own-message-id.ts';
import type { MessageRow, RecipientRow } from '../../../outbound/messages/queries.ts';
import { foldAddress } from '../../../platform/net/address.ts';
import { fromJson } from '../../../platform/store/db.ts';

export interface ThreadKeys {
  own: string;
  /** Whether this service made the Message-ID. */
  isOwnOurs: boolean;
  /** Distinct, without `own`: In-Reply-To, then References from the newest to the oldest. */
  parents: string[];
  /** Key of the topic; null without a subject. */
  topic: string | null;
}

/** The columns of a message from which the keys are made. */
export type Threadable = Pick<
  MessageRow,
  'subject' | 'from_email' | 'message_id_header' | 'in_reply_to' | 'message_references'
>;

const mostParents = 101;

function hashOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

function idKey(header: string, further: FurtherIds): string {
  return hashOf(namedMessage(header, further) ?? header.replace(/^<|>$/g, ''));
}

/** Returns an address for comparison: folded, without the subaddress. */
export function participantOf(email: string): string {
  return withoutSubaddress(foldAddress(email));
}

function topicOf({ subject, from_email }: Threadable, others: readonly string[]): string | null {
  const base = baseSubject(subject);
  if (base === '') return null;
  const people = [from_email, ...others].map(participantOf);
  return hashOf(['topic', base, ...[...new Set(people)].sort()].join('\n'));
}

/**
 * Returns the ids that a message names as parents: In-Reply-To, then References from the newest
 * to the oldest.
 */
export function parentIdsOf({ in_reply_to, message_references }: Threadable): string[] {
  const named = fromJson<string[]>(message_references) ?? [];
  const parents = [...named, ...(in_reply_to === null ? [] : [in_reply_to])];
  return parents.reverse().slice(0, mostParents);
}

/**
 * Returns the keys of a message. Blind-copied recipients (Bcc) are not participants. `further` are
 * ids that relays gave to messages of ours.
 */
export function threadKeys(
  message: Threadable,
  recipients: readonly Pick<RecipientRow, 'kind' | 'email'>[],
  further: FurtherIds,
): ThreadKeys {
  const own = idKey(message.message_id_header, further);
  const isOwnOurs = namedMessage(message.message_id_header, further) !== null;
  const keys = new Set(parentIdsOf(message).map((header) => idKey(header, further)));
  keys.delete(own);
  const shown = recipients.flatMap(({ kind, email }) => (kind === 'bcc' ? [] : email));
  return { own, isOwnOurs, parents: [...keys], topic: topicOf(message, shown) };
}
