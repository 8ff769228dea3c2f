// The mails of a thread: the newest and the last received mail open, all further mails folded.
// Notes stand in the order of time, drafts at the end.
import type { Draft } from '../../../../src/inbox/replies/schema.ts';
import type { ThreadMessage, ThreadNote } from '../../../../src/inbox/threads/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked } from '../../page.ts';
import { confirmed } from '../../parts/confirm.ts';
import { icon } from '../../parts/icon.ts';
import { link } from '../../parts/link.ts';
import { counted, time } from '../../parts/times.ts';
import { messageState } from '../../states.ts';

const threadPath = ({ params }: Asked) =>
  `/console/mailboxes/${params['id']}/threads/${params['threadId']}`;

const initialsOf = (name: string) =>
  name
    .split(/[\s@.]+/)
    .slice(0, 2)
    .map((word) => [...word][0]?.toUpperCase() ?? '')
    .join('');

const named = (people: readonly { email: string; name?: string | null | undefined }[]) =>
  people.map(({ email, name }) => name || email).join(', ');

function files(asked: Asked, { id, attachments }: ThreadMessage): Part {
  if (attachments.length === 0) return null;
  const path = `/console/mailboxes/${asked.params['id']}/files/${id}`;
  return html`<div class="files">${attachments.map(
    ({ n, filename, size }) =>
      html`<a class="file" href=${`${path}/${n}`}>${icon('file')} <span>${filename ?? '(no name)'}<br /><small>${counted(size)} bytes</small></span></a>`,
  )}</div>`;
}

/** The content of an opened mail. */
export interface Opened {
  id: string;
  text: string;
  hasHtml: boolean;
}

function content(asked: Asked, one: ThreadMessage, opened: Opened | undefined): Part {
  const { id, newContent, preview } = one;
  const frame = (title: string) =>
    html`<iframe class="preview" sandbox="" title=${title} loading="lazy" src=${`${threadPath(asked)}/messages/${id}/html`}></iframe>`;
  if (opened?.hasHtml) {
    return together(
      html`<p class="safe">${icon('blocked')} Pictures from the Internet are not loaded.</p>`,
      frame(`Mail of ${one.from.name || one.from.email}`),
      html`<details><summary>As text</summary><pre>${opened.text}</pre></details>`,
    );
  }
  const mayRead = asked.may('messages:read');
  return together(
    html`<pre>${opened?.text ?? newContent ?? preview ?? ''}</pre>`,
    !opened &&
      mayRead &&
      html`<p><a href=${`${threadPath(asked)}?whole=${id}#${id}`}>Show it whole, as it looks</a></p>`,
  );
}

function mail(asked: Asked, one: ThreadMessage, isOpen: boolean, opened?: Opened): Part {
  const { id, from, to, cc, createdAt, preview, origin, deliveries, attachments } = one;
  const by = origin?.keyName ?? origin?.user;
  const isOurs = one.direction === 'outbound';
  const name = from.name || from.email;
  return html`<details class=${isOurs ? 'mail ours' : 'mail'} id=${id} open=${isOpen}>
    <summary><span class=${`av ${isOurs ? 'b' : 'a'}`} aria-hidden="true">${initialsOf(name)}</span>
      <span><b>${name}</b>${by && html` <small>by ${by}</small>`}<small class="to">to ${named(to)}${cc.length > 0 && `, copy to ${named(cc)}`}</small></span>
      <small>${time(createdAt)}${isOurs && html` ${messageState(one, deliveries)}`}</small>
      <span class="pre">${attachments.length > 0 && icon('file')}${preview}</span></summary>
    <div class="body">${content(asked, one, opened)}${files(asked, one)}
      ${asked.may('messages:read') && html`<p><small>${link(`/messages/${id}`, 'What became of it')}</small></p>`}</div>
  </details>`;
}

function drawNote(asked: Asked, { id, author, body, createdAt }: ThreadNote): Part {
  return html`<div class="anote">${icon('note')}<span>${body}</span>
    <small>${author.displayName}, ${time(createdAt)} · only your team sees notes
      ${asked.may('mailboxes:delete') && confirmed(asked, { action: 'forget', label: 'Delete the note', question: 'Delete this note?', goes: 'Nothing brings it back.', fields: { id }, look: 'plain' })}</small></div>`;
}

function drawDraft(asked: Asked, { id, author, to, text, updatedAt }: Draft): Part {
  const path = `/mailboxes/${asked.params['id']}/drafts/${id}`;
  return html`<div class="anote">${icon('edit')}<span><b>Draft</b> to ${to.join(', ')}: ${text?.slice(0, 200)}</span>
    <small>${author.displayName}, ${time(updatedAt)} · ${link(path, 'Open the draft')}</small></div>`;
}

interface Flow {
  mails: readonly ThreadMessage[];
  notes: readonly ThreadNote[];
  drafts: readonly Draft[];
  opened: readonly Opened[];
}

/** Draws mails and notes in the order of time, then the drafts. */
export function flow(asked: Asked, { mails, notes, drafts, opened }: Flow): Part {
  const newest = mails.at(-1)?.id;
  const question = mails.findLast(({ direction }) => direction === 'inbound')?.id;
  const drawn = mails.map((one) => {
    const own = opened.find(({ id }) => id === one.id);
    return {
      at: Date.parse(one.createdAt),
      part: mail(asked, one, [newest, question].includes(one.id) || own !== undefined, own),
    };
  });
  const noted = notes.map((one) => ({
    at: Date.parse(one.createdAt),
    part: drawNote(asked, one),
  }));
  const inOrder = [...drawn, ...noted].toSorted((one, next) => one.at - next.at);
  return together(
    inOrder.map(({ part }) => part),
    drafts.map((one) => drawDraft(asked, one)),
  );
}
