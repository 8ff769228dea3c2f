// The keys by which a mail finds its thread: hashes of its Message-IDs, and of its subject with its
// participants. Pure.
//
//   key    | made of                                             | holds
//   -------+-----------------------------------------------------+--------------------------------------
//   own    | its Message-ID                                      | for ever: mail that refers to it joins
//   parent | each id in References and In-Reply-To               | for ever, even before that mail arrives
//   topic  | base subject (src/mail/mime/subject.ts), all addresses   | seven days, and only if no parent is
//          | in From, To and Cc                                  | known
//
// A Message-ID of ours is recognized by the message id before its `@`: some servers on the way replace the
// host name behind it.
import { hash } from 'node:crypto';
import { withoutSubaddress } from '../../identity/mailboxes/mailboxes.ts';
import { baseSubject } from '../../mail/mime/subject.ts';
import type { MessageRow, RecipientRow } from '../../outbound/messages/queries.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { idPattern } from '../../platform/runtime/ids.ts';
import { fromJson } from '../../platform/store/db.ts';

export interface ThreadKeys {
  own: string;
  /** Distinct, newest first, without `own`. */
  parents: string[];
  /** Null without a subject. */
  topic: string | null;
}

/** The columns of a message from which its keys are made. */
export type Threadable = Pick<
  MessageRow,
  'subject' | 'from_email' | 'message_id_header' | 'in_reply_to' | 'message_references'
>;

const mostParents = 101;
const ownId = idPattern('message');

function hashOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

function idKey(header: string): string {
  const id = header.replace(/^<|>$/g, '');
  const local = id.slice(0, Math.max(0, id.lastIndexOf('@')));
  return hashOf(ownId.test(local) ? local : id);
}

function topicOf({ subject, from_email }: Threadable, others: readonly string[]): string | null {
  const base = baseSubject(subject);
  if (base === '') return null;
  const people = [from_email, ...others].map((email) => withoutSubaddress(foldAddress(email)));
  return hashOf(['topic', base, ...[...new Set(people)].sort()].join('\n'));
}

/** Returns the keys of a message. Recipients of a blind copy (Bcc) do not count as participants. */
export function threadKeys(
  message: Threadable,
  recipients: readonly Pick<RecipientRow, 'kind' | 'email'>[],
): ThreadKeys {
  const named = fromJson<string[]>(message.message_references) ?? [];
  const parents = [...named, ...(message.in_reply_to === null ? [] : [message.in_reply_to])];
  const own = idKey(message.message_id_header);
  const keys = new Set(parents.reverse().slice(0, mostParents).map(idKey));
  keys.delete(own);
  const shown = recipients.flatMap(({ kind, email }) => (kind === 'bcc' ? [] : email));
  return { own, parents: [...keys], topic: topicOf(message, shown) };
}
