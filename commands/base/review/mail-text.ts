// A proposed mail as a text for an editor: a line for each address, the subject, an empty line, the
// text. The differences become the edits of an approval.
import type { ApproveAction } from '../../../src/inbox/replies/schema.ts';
import { textOfHtml } from '../../../src/mail/mime/html-text.ts';
import { UsageError } from '../output/failure.ts';
import { plainText } from '../output/format.ts';

/** The mail of a proposal, before edits. */
export interface ProposedMail {
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
  subject: string;
  text: string | null;
  html: string | null;
}

export type Edits = NonNullable<ApproveAction['edits']>;

export const recipientKinds = ['to', 'cc', 'bcc'] as const;

const names = { to: 'To', cc: 'Cc', bcc: 'Bcc' } as const;
const fieldLine = /^(to|cc|bcc|subject):(.*)$/i;

/** Returns the text part, or the text of a mail with only HTML. */
export function wordsOf({ text, html }: Pick<ProposedMail, 'text' | 'html'>): string {
  return text ?? (html === null ? '' : textOfHtml(html, { withHidden: true }));
}

/** Returns the mail as a text for an editor, without characters that could control a terminal. */
export function editableText(mail: ProposedMail): string {
  const addresses = recipientKinds.flatMap((kind) => {
    const list = mail[kind].length > 0 ? mail[kind] : [''];
    return list.map((address) => `${names[kind]}: ${address}`.trimEnd());
  });
  const fields = [...addresses, `Subject: ${mail.subject}`.trimEnd()];
  return plainText(`${fields.join('\n')}\n\n${wordsOf(mail)}\n`);
}

interface Read {
  to: string[];
  cc: string[];
  bcc: string[];
  subject: string;
  words: string;
}

/** @throws UsageError for an unknown field above the text. */
function read(typed: string): Read {
  const lines = typed.replaceAll('\r\n', '\n').split('\n');
  const found: Read = { to: [], cc: [], bcc: [], subject: '', words: '' };
  const end = lines.findIndex((line) => line.trim() === '');
  const fields = end < 0 ? lines : lines.slice(0, end);
  for (const [at, line] of fields.entries()) {
    const [, name = '', value = ''] = fieldLine.exec(line) ?? [];
    if (name === '') {
      const expected = 'To, Cc, Bcc or Subject; an empty line comes before the text';
      throw new UsageError(`line ${at + 1} of the edited mail: ${expected}`);
    }
    const kind = recipientKinds.find((each) => each === name.toLowerCase());
    if (kind) found[kind].push(...value.split(',').flatMap((each) => each.trim() || []));
    else found.subject = value.trim();
  }
  // An editor adds a line end to the last line, even if the text had none.
  found.words =
    end < 0
      ? ''
      : lines
          .slice(end + 1)
          .join('\n')
          .replace(/(?<!\n)\n+$/, '');
  return found;
}

/**
 * Returns the person's changes; empty without changes. A changed text drops the HTML, which would
 * still contain the proposed text. @throws UsageError for an empty mail, or an unknown field above
 * the text.
 */
export function editsFrom(mail: ProposedMail, typed: string): Edits {
  if (typed.trim() === '') throw new UsageError('the edited mail is empty: the edit was discarded');
  const [before, after] = [read(editableText(mail)), read(typed)];
  const edits: Edits = {};
  for (const kind of recipientKinds) {
    if (before[kind].join() !== after[kind].join()) edits[kind] = after[kind];
  }
  if (before.subject !== after.subject) edits.subject = after.subject;
  if (before.words !== after.words) {
    edits.text = after.words === '' ? null : after.words;
    if (mail.html !== null) edits.html = null;
  }
  return edits;
}

/** Returns the mail with these edits, as it would be sent. */
export function withEdits(mail: ProposedMail, edits: Edits): ProposedMail {
  const { to, cc, bcc, subject, text, html } = edits;
  return {
    to: to ?? mail.to,
    cc: cc ?? mail.cc,
    bcc: bcc ?? mail.bcc,
    subject: subject ?? mail.subject,
    text: text === undefined ? mail.text : text,
    html: html === undefined ? mail.html : html,
  };
}

/** Describes the change of a list: removed addresses and added addresses. */
function listChange(before: readonly string[], after: readonly string[]): string {
  const gone = before.filter((each) => !after.includes(each));
  const come = after.filter((each) => !before.includes(each));
  const parts = [
    ...(gone.length > 0 ? [`without ${gone.join(', ')}`] : []),
    ...(come.length > 0 ? [`with ${come.join(', ')}`] : []),
  ];
  return parts.join(', ') || 'in another order';
}

/** Lists the differences from the proposal, a line for each. */
export function changesIn(proposed: ProposedMail, edited: ProposedMail): string[] {
  const lists = recipientKinds.flatMap((kind) =>
    proposed[kind].join() === edited[kind].join()
      ? []
      : [`recipients (${kind}): ${listChange(proposed[kind], edited[kind])}`],
  );
  return [
    ...lists,
    ...(proposed.subject === edited.subject
      ? []
      : [`subject: ${proposed.subject || '-'} → ${edited.subject || '-'}`]),
    ...(proposed.text === edited.text ? [] : ['text: changed']),
    ...(proposed.html === edited.html ? [] : ['html: left out, because the text changed']),
  ];
}
