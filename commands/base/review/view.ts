// Shows a proposal to a reviewer: the end of the thread before it, then sender, recipients and
// text. All of this text may be hostile.
import type { MailPicture, ShownAction } from '../../../src/inbox/approvals/schema.ts';
import type { ThreadMessage } from '../../../src/inbox/threads/schema.ts';
import { textOfHtml } from '../../../src/mail/mime/html-text.ts';
import { card, emphasize, inWords, plainText } from '../output/format.ts';
import { changesIn, type ProposedMail, wordsOf } from './mail-text.ts';

/** Limits of an earlier message; `shownOfIt` has the limits of the proposal. */
const shownBefore = { lines: 12, characters: 2_000 };
const shownOfIt = { lines: 200, characters: 20_000 };

const verbs: Readonly<Record<string, string>> = {
  sendMessage: 'a new message',
  reply: 'a reply',
  forward: 'a forward',
};

type PicturedFile = MailPicture['attachments'][number];

interface Room {
  lines: number;
  characters: number;
}

/** Returns the beginning of a text, indented, and the size of the rest. */
function shownText(text: string, { lines, characters }: Room, more: string): string {
  const all = plainText(text).trim().split('\n');
  const kept = all.slice(0, lines).join('\n').slice(0, characters);
  const rest = all.join('\n').length - kept.length;
  const shown = kept.split('\n').map((line) => `  ${line}`.trimEnd());
  return [...shown, ...(rest > 0 ? [`  … ${rest} more characters: ${more}`] : [])].join('\n');
}

/**
 * Returns all texts of a mail: text, HTML as text with hidden words, and the notes on the HTML.
 * Without `cut` the texts are complete, and the source of the HTML follows.
 */
export function wordsShown(
  mail: Pick<ProposedMail, 'text' | 'html'>,
  notes: readonly string[],
  cut?: { room: Room; more: string },
): string[] {
  const { room = { lines: Infinity, characters: Infinity }, more = '' } = cut ?? {};
  const { text, html } = mail;
  const parts = [shownText(wordsOf(mail), room, more)];
  if (html === null) return parts;
  const htmlText = textOfHtml(html, { withHidden: true });
  if (text !== null && !sameWords(text, htmlText)) {
    parts.push(`Its HTML as text:\n\n${shownText(htmlText, room, more)}`);
  }
  if (notes.length > 0) parts.push(notes.map((note) => plainText(note)).join('\n'));
  if (!cut) parts.push(`The source of its HTML:\n\n${shownText(html, room, more)}`);
  return parts;
}

/** Returns a line about a file of a mail. */
export function fileShown({ n, filename, contentType, contentId, size }: PicturedFile): string {
  const inline = contentId === null ? '' : `, inline as ${contentId}`;
  return plainText(`${n}: ${filename} (${contentType ?? 'no type'}, ${size} bytes${inline})`);
}

/** Draws the messages before a proposal, oldest first. */
export function threadBefore(messages: readonly ThreadMessage[], threadId: string | null): string {
  const [first] = messages;
  if (!first || threadId === null) return 'It is the first message of a thread.';
  const earlier = first.threadPosition > 0 ? ` (${first.threadPosition} earlier ones)` : '';
  const shown = messages.map(({ from, createdAt, newContent, preview, id }) => {
    const head = emphasize(`${inWords(from)}, ${createdAt}`);
    const said = newContent ?? preview ?? '';
    return `${head}\n${shownText(said, shownBefore, `svc messages show ${id}`)}`;
  });
  return [`The thread before it${earlier}:`, ...shown].join('\n\n');
}

function sameWords(one: string, other: string): boolean {
  return one.replaceAll(/\s+/g, '') === other.replaceAll(/\s+/g, '');
}

/** Draws the mail of a proposal with the edits so far, and names each change. */
export function proposalShown(
  action: ShownAction,
  proposed: ProposedMail,
  edited: ProposedMail,
): string {
  const { to, cc, bcc, subject } = edited;
  const { from, replyTo, attachments = [], notes = [] } = action.content ?? {};
  const head = {
    who: `${inWords(action.actor.displayName)} (${action.actor.id})`,
    what: `${verbs[action.type] ?? action.type}, proposed ${action.createdAt}`,
    from: from && (from.name === null ? from.email : `${from.name} <${from.email}>`),
    replyTo,
    to,
    cc,
    bcc,
    subject,
    attached: attachments.map(fileShown),
    digest: action.digest,
  };
  const cut = { room: shownOfIt, more: 'press e to open all of the text' };
  const parts = [card(head, Object.keys(head)), ...wordsShown(edited, notes, cut)];
  if (attachments.length > 0) {
    parts.push(`Save a file: svc mailboxes actions show ${action.id} --attachment N`);
  }
  const changes = changesIn(proposed, edited).map((line) => `  ${plainText(line)}`);
  if (changes.length > 0) parts.push([emphasize('Edited:'), ...changes].join('\n'));
  return parts.join('\n\n');
}
