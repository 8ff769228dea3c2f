// The story of a contact: mails, opens, conversations and blocks in the order of time.
import type { Message } from '../../../../src/outbound/messages/schema.ts';
import type { Block } from '../../../../src/people/blocks/schema.ts';
import type { Contact } from '../../../../src/people/contacts/schema.ts';
import type { Conversation } from '../../../../src/people/conversations/schema.ts';
import { titleOfMail } from '../../parts/link.ts';
import { blockLabel, causeLabel } from '../causes.ts';

export interface Moment {
  at: string;
  tone: '' | 'warn';
  sentence: string;
  /** Path below `/console`; null without a page. */
  path: string | null;
}

export interface Known {
  contact: Pick<Contact, 'createdAt' | 'profile'>;
  sent: readonly Message[];
  received: readonly Message[];
  conversations: readonly Pick<Conversation, 'id' | 'title' | 'createdAt'>[];
  blocks: readonly Block[];
  /** Names of lists by their ids. */
  lists: ReadonlyMap<string, string>;
}

const mostMoments = 30;

const quoted = (subject: string | null) => `“${titleOfMail(subject)}”`;

function ofSent({ id, subject, createdAt, deliveries }: Message): Moment[] {
  const path = `/messages/${id}`;
  const [delivery] = deliveries;
  const { status, errorCode = null, readAt = null } = delivery ?? {};
  const isBad = status === 'bounced' || status === 'failed';
  const why = isBad ? `, and did not arrive: ${causeLabel(errorCode)}` : '';
  const sentence = `Mail ${quoted(subject)} was sent${why}.`;
  const opened: Moment[] =
    readAt === null ? [] : [{ at: readAt, tone: '', sentence: `Opened ${quoted(subject)}.`, path }];
  return [{ at: createdAt, tone: isBad ? 'warn' : '', sentence, path }, ...opened];
}

function ofBlock(
  { reason, createdAt, unsubscribeGroupId, messageId }: Block,
  lists: Known['lists'],
): Moment {
  const list = unsubscribeGroupId === null ? null : (lists.get(unsubscribeGroupId) ?? 'a list');
  return {
    at: createdAt,
    tone: list === null ? 'warn' : '',
    sentence: list === null ? `Blocked: ${blockLabel(reason)}.` : `Left “${list}”.`,
    path: messageId === null ? null : `/messages/${messageId}`,
  };
}

/** Returns up to 30 moments of a contact, the newest first. */
export function timelineOf({
  contact,
  sent,
  received,
  conversations,
  blocks,
  lists,
}: Known): Moment[] {
  const { source } = contact.profile;
  const all: Moment[] = [
    ...sent.flatMap(ofSent),
    ...received.map(
      ({ id, subject, createdAt }): Moment => ({
        at: createdAt,
        tone: '',
        sentence: `Wrote ${quoted(subject)}.`,
        path: `/messages/${id}`,
      }),
    ),
    ...conversations.map(
      ({ id, title, createdAt }): Moment => ({
        at: createdAt,
        tone: '',
        sentence: `The conversation ${title ? `“${title}”` : ''} began.`.replace('  ', ' '),
        path: `/conversations/${id}`,
      }),
    ),
    ...blocks.map((block) => ofBlock(block, lists)),
    {
      at: contact.createdAt,
      tone: '',
      sentence: source ? `Came to the contacts from ${source}.` : 'Came to the contacts.',
      path: null,
    },
  ];
  return all.toSorted((a, b) => (a.at < b.at ? 1 : -1)).slice(0, mostMoments);
}
