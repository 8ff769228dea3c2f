// Header fields that the row of an accepted message keeps, with the threading of an answer.

import type { ResolvedSender } from '../../identity/senders/resolve.ts';
import { isMessageId } from '../../mail/mime/headers/header-encoding.ts';
import { domainOf } from '../../platform/net/address.ts';
import { fromJson, toJson } from '../../platform/store/db.ts';
import { isMadeUp } from '../messages/own-message-id.ts';
import type { MessageRow } from '../messages/queries.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import { statedThreading } from '../messages/threading-headers.ts';
import type { RawContent } from './hand-in/raw-content.ts';

const mostReferences = 50;

/** Header fields that the row keeps. */
type Heading = Pick<
  MessageRow,
  | 'subject'
  | 'from_name'
  | 'reply_to'
  | 'message_id_header'
  | 'in_reply_to'
  | 'message_references'
  | 'priority'
>;

const listOrNull = (texts: readonly string[]) => (texts.length > 0 ? toJson(texts) : null);

const ownMessageId = (id: string, { email }: ResolvedSender) => `<${id}@${domainOf(email)}>`;

/** Returns the header fields of a mail composed from parts. */
export function headingOf(
  { email }: SendPayload,
  sender: ResolvedSender,
  parent: MessageRow | null,
  id: string,
): Heading {
  const { inReplyTo, references } = threadingIn(email, parent);
  return {
    subject: email.subject ?? null,
    from_name: sender.name,
    reply_to: listOrNull(email.replyTo ?? sender.replyToEmails ?? []),
    message_id_header: ownMessageId(id, sender),
    in_reply_to: inReplyTo,
    message_references: listOrNull(references),
    priority: email.priority ?? null,
  };
}

/**
 * Returns the threading fields of the payload, or else the fields of a reply to `parent`. If the
 * payload has only In-Reply-To, and it names `parent`, the References are also as in a reply to
 * `parent` (RFC 5322 3.6.4).
 */
function threadingIn({ headers }: SendPayload['email'], parent: MessageRow | null): Threading {
  const { inReplyTo, references } = statedThreading(headers);
  if (references.length > 0) return { inReplyTo, references };
  if (inReplyTo === null) return threadingTo(parent);
  const known = parent?.message_id_header === inReplyTo ? threadingTo(parent).references : [];
  return { inReplyTo, references: known.length > 0 ? known : [inReplyTo] };
}

/** Returns the threading fields that a repeated message keeps. */
export function threadingOf(resent: MessageRow | undefined): Partial<Heading> {
  if (!resent) return {};
  const { in_reply_to, message_references } = resent;
  return { in_reply_to, message_references };
}

/** Returns the header fields of a mail that was handed in as MIME. */
export function rawHeading(
  { messageIdHeader, summary }: RawContent,
  id: string,
  sender: ResolvedSender,
): Heading {
  return {
    subject: summary.subject,
    from_name: summary.from?.name ?? null,
    reply_to: listOrNull(summary.replyTo.map(({ email }) => email)),
    message_id_header: messageIdHeader ?? ownMessageId(id, sender),
    in_reply_to: summary.inReplyTo,
    message_references: listOrNull(summary.references),
    priority: summary.priority,
  };
}

/** Fields by which a mail refers to earlier mails. */
export interface Threading {
  inReplyTo: string | null;
  references: string[];
}

/** Tells whether an id may appear in a header: it is valid, and the service did not invent it. */
const isNameable = (id: string) => isMessageId(id) && !isMadeUp(id);

/**
 * Returns In-Reply-To and References of an answer (RFC 5322 3.6.4): the references of the parent,
 * then the parent. Above the limit it keeps the root of the thread and the newest ids. If the
 * parent's Message-ID may not be named, only the parent's references remain.
 */
export function threadingTo(parent: MessageRow | null): Threading {
  if (parent === null) return { inReplyTo: null, references: [] };
  const own = isNameable(parent.message_id_header) ? parent.message_id_header : null;
  const named = fromJson<string[]>(parent.message_references) ?? [];
  const before = named.length === 0 && parent.in_reply_to ? [parent.in_reply_to] : named;
  const ids = [...before.filter(isNameable), ...(own === null ? [] : [own])];
  const excess = ids.length - mostReferences;
  const references = excess > 0 ? [...ids.slice(0, 1), ...ids.slice(excess + 1)] : ids;
  return { inReplyTo: own, references };
}
