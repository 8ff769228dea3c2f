// The header of a message: the fields, their order and their bytes. lean.ts and mail-composer.ts
// use it, and add Content-* fields and the body.

import type { ComposeInput, Mailbox } from '../input.ts';
import { headerAddress, refuse } from '../input.ts';
import { foldTokens } from './encoded-words.ts';
import type { HeaderField } from './header-encoding.ts';
import { encodeDisplayName, encodeExtraHeader, encodeSubject } from './header-encoding.ts';

/** A header without the Content-* fields. `isUtf8`: an address needs SMTPUTF8. */
interface HeaderDraft {
  fields: HeaderField[];
  isUtf8: boolean;
}

const priorityFields: Record<'high' | 'low', readonly HeaderField[]> = {
  high: [
    { name: 'X-Priority', value: '1 (Highest)' },
    { name: 'X-MSMail-Priority', value: 'High' },
    { name: 'Importance', value: 'High' },
  ],
  low: [
    { name: 'X-Priority', value: '5 (Lowest)' },
    { name: 'X-MSMail-Priority', value: 'Low' },
    { name: 'Importance', value: 'Low' },
  ],
};

/** Formats a time as `Fri, 21 Nov 2025 02:27:00 +0000` (RFC 5322 3.3). */
export function dateText(ms: number): string {
  return new Date(ms).toUTCString().replace('GMT', '+0000');
}

function addMailboxes(draft: HeaderDraft, name: string, mailboxes: readonly Mailbox[]): void {
  if (mailboxes.length === 0) return;
  const tokens: string[] = [];
  mailboxes.forEach((mailbox, index) => {
    const { email, isUtf8 } = headerAddress(name, mailbox.email);
    draft.isUtf8 ||= isUtf8;
    const nameTokens = mailbox.name === null ? [] : encodeDisplayName(mailbox.name);
    const isBare = nameTokens.length === 0 && !email.startsWith('"');
    const comma = index < mailboxes.length - 1 ? ',' : '';
    tokens.push(...nameTokens, `${isBare ? email : `<${email}>`}${comma}`);
  });
  draft.fields.push({ name, value: foldTokens(name, tokens) });
}

/**
 * Builds a field of this name from at least one mailbox.
 * @throws ComposeError for a bad address
 */
export function mailboxesField(name: string, mailboxes: readonly Mailbox[]): HeaderField {
  const draft: HeaderDraft = { fields: [], isUtf8: false };
  addMailboxes(draft, name, mailboxes);
  return draft.fields[0] as HeaderField;
}

function addThreading({ fields }: HeaderDraft, input: ComposeInput): void {
  if (input.inReplyTo !== null) fields.push({ name: 'In-Reply-To', value: input.inReplyTo });
  if (input.references !== null && input.references.length > 0) {
    fields.push({ name: 'References', value: foldTokens('References', input.references) });
  }
}

/** @throws ComposeError for a value that the field cannot carry */
function extraField(name: string, given: string): HeaderField {
  const value = encodeExtraHeader(name, given);
  return value === null ? refuse(`header ${JSON.stringify(name)}`) : { name, value };
}

/**
 * Builds all fields except Content-* and Bcc.
 * @throws ComposeError for a bad address or header
 */
export function draftHeader(input: ComposeInput): HeaderDraft {
  const draft: HeaderDraft = { fields: [], isUtf8: false };
  const { fields } = draft;
  addMailboxes(draft, 'From', [input.from]);
  addMailboxes(draft, 'To', input.to);
  addMailboxes(draft, 'Cc', input.cc);
  addMailboxes(
    draft,
    'Reply-To',
    input.replyTo.map((email) => ({ email, name: null })),
  );
  fields.push({ name: 'Subject', value: encodeSubject(input.subject) });
  fields.push({ name: 'Message-ID', value: input.messageIdHeader });
  addThreading(draft, input);
  fields.push({ name: 'Date', value: dateText(input.date) });
  if (input.priority === 'high' || input.priority === 'low') {
    fields.push(...priorityFields[input.priority]);
  }
  for (const [name, given] of input.headers) fields.push(extraField(name, given));
  fields.push({ name: 'MIME-Version', value: '1.0' });
  return draft;
}

/** Returns the bytes of a finished header, with the empty line. */
export function headerBytes(draft: HeaderDraft): Buffer {
  let text = '';
  for (const { name, value } of draft.fields) text += `${name}: ${value}\r\n`;
  return Buffer.from(`${text}\r\n`, draft.isUtf8 ? 'utf8' : 'latin1');
}
