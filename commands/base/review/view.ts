// Shows a proposal to the person who decides: the end of the thread before it, then sender, recipients and
// words. All of it is text from outside.
import type { ShownAction } from '../../../src/inbox/approvals/schema.ts';
import type { ThreadMessage } from '../../../src/inbox/threads/schema.ts';
import { textOfHtml } from '../../../src/mail/mime/html-text.ts';
import { card, emphasize, inWords, plainText } from '../format.ts';
import { changesIn, type ProposedMail, wordsOf } from './mail-text.ts';

/** Room for a message before the proposal, and for the proposal itself. */
const shownBefore = { lines: 12, characters: 2_000 };
const shownOfIt = { lines: 200, characters: 20_000 };

const verbs: Readonly<Record<string, string>> = {
  sendMessage: 'a new message',
  reply: 'a reply',
  forward: 'a forward',
};

interface Room {
  lines: number;
  characters: number;
}

/** Returns the beginning of a text, indented, and the size of the rest. */
function shownText(text: string, { lines, characters }: Room, more: string): string {
  const all = plainText(text).trim().split('\n');
  const kept = all.slice(0, lines).join('\n').slice(0, characters);
  const isCut = kept.length < all.join('\n').length;
  const shown = kept.split('\n').map((line) => `  ${line}`.trimEnd());
  return [...shown, ...(isCut ? [`  … ${more}`] : [])].join('\n');
}

/** The messages before a proposal, oldest first, `all` in number. */
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

/** The proposal as it would be sent, and how it differs from what was proposed. */
export function proposalShown(
  action: ShownAction,
  proposed: ProposedMail,
  edited: ProposedMail,
): string {
  const { to, cc, bcc, subject, text, html } = edited;
  const { from, replyTo, attachments = [] } = action.content ?? {};
  const head = {
    who: `${inWords(action.actor.displayName)} (${action.actor.id})`,
    what: `${verbs[action.type] ?? action.type}, proposed ${action.createdAt}`,
    from: from && (from.name === null ? from.email : `${from.name} <${from.email}>`),
    ...{ replyTo, to, cc, bcc, subject },
    attached: attachments.map(
      ({ n, filename, contentType, size, digest }) =>
        `${n}: ${filename} (${contentType}, ${size} bytes, ${digest})`,
    ),
    digest: action.digest,
  };
  const more = 'more: press e to open all of it';
  const parts = [card(head, Object.keys(head)), shownText(wordsOf(edited), shownOfIt, more)];
  const htmlText = html === null ? '' : textOfHtml(html, { withHidden: true });
  if (text !== null && html !== null && !sameWords(text, htmlText)) {
    parts.push(`Its HTML as text:\n\n${shownText(htmlText, shownOfIt, more)}`);
  }
  if (attachments.length > 0) {
    parts.push(`Save a file: svc mailboxes actions show ${action.id} --attachment N`);
  }
  const changes = changesIn(proposed, edited).map((line) => `  ${plainText(line)}`);
  if (changes.length > 0) parts.push([emphasize('Edited:'), ...changes].join('\n'));
  return parts.join('\n\n');
}
