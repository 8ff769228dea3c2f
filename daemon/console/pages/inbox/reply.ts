// The reply form below a thread: recipients, sender, text, saved replies, files, and a forward.
import { answeringRoutes } from '../../../../src/inbox/replies/routes.ts';
import { savedReplyRoutes } from '../../../../src/inbox/saved-replies/routes.ts';
import { threadRoutes } from '../../../../src/inbox/threads/routes.ts';
import type { ThreadMessage } from '../../../../src/inbox/threads/schema.ts';
import { orNone, withQuery } from '../../api.ts';
import { html, type Part } from '../../html.ts';
import type { Asked, Done, Form } from '../../page.ts';
import { addressesIn, field, hidden, jsonIn } from '../../parts/form.ts';
import { icon } from '../../parts/icon.ts';
import { afterSend, delaySeconds } from './drafts.ts';

/** Most characters of a saved reply that the page holds for the script. */
const longestFill = 2_000;
const mostOffered = 20;

interface Mailbox {
  displayName: string | null;
  slug: string;
  primaryAddress: string;
  addresses: readonly { address: string }[];
}

/**
 * Returns the sender of an answer: the mailbox address that got the mail, else the primary address.
 */
function fromOf({ addresses, primaryAddress }: Mailbox, last: ThreadMessage): string {
  const own = new Set(addresses.map(({ address }) => address));
  return last.to.find(({ email }) => own.has(email))?.email ?? primaryAddress;
}

function savedReplies(asked: Asked, saved: readonly SavedReply[]): Part {
  const path = `/console${asked.path}`;
  return html`<button type="button" class="btn plain more" popovertarget="saved">${icon('copy')} Saved answers</button>
    <div id="saved" popover="auto" class="menu"><h2>Saved answers</h2>
      ${saved.map(({ id, name, text }) => html`<a class="btn" href=${withQuery(path, { ...asked.query, saved: id })} data-fill=${text.length <= longestFill ? text : undefined}>${name}</a>`)}
      ${saved.length === 0 && html`<p class="soft">None is saved: "svc saved-replies create" makes one.</p>`}</div>`;
}

interface SavedReply {
  id: string;
  name: string;
  text: string;
}

/** Draws the form that answers the last mail of a thread. `isFirst` makes it the primary action. */
export async function replyDock(
  asked: Asked,
  { last, mailbox, isFirst }: { last: ThreadMessage; mailbox: Mailbox; isFirst: boolean },
): Promise<Part> {
  const { ask, may, query } = asked;
  const saved = await orNone(true, () =>
    ask(savedReplyRoutes.list, { query: { limit: mostOffered } }),
  );
  const items = saved?.items ?? [];
  const chosen = query['saved'];
  const filled = chosen && (await ask(savedReplyRoutes.get, { params: { id: chosen } })).text;
  const isOurs = last.direction === 'outbound';
  const to = isOurs ? last.to : [last.from];
  const others = [...(isOurs ? [] : last.to), ...last.cc]
    .map(({ email, name }) => name || email)
    .filter((one) => !mailbox.addresses.some(({ address }) => address === one));
  const names = to.map(({ email, name }) => name || email).join(', ');
  const button = (label: Part, action: string, look: string) =>
    html`<button class=${`btn ${look}`} name="_action" value=${action}>${label}</button>`;
  return html`<div class="compose"><form method="post" class="reply">
    ${hidden(asked, 'reply')}<input type="hidden" name="messageId" value=${last.id} />
    <div class="to"><b>${icon('reply')} Reply</b> to <span class="person">${names}</span>
      ${others.length > 0 && html`<label class="check"><input type="checkbox" name="all" value="1" /> <span>+ ${others.join(', ')} (reply to all)</span></label>`}
      <span class="more">· from ${mailbox.displayName || mailbox.slug} (${fromOf(mailbox, last)})</span></div>
    <textarea name="text" aria-label="Your reply" placeholder="Write … (R)" rows="3">${filled || ''}</textarea>
    <div class="row">${button('Send', 'reply', isFirst ? 'first' : '')}${button('Send and done', 'replyDone', '')}
      <label class="btn plain more" data-files="">${icon('file')} <span>Attach</span><input class="sr" type="file" multiple /><input type="hidden" name="files" /></label>
      ${savedReplies(asked, items)}
      ${may('mailboxes:write') && button('Keep draft', 'keep', 'plain more')}
      <button type="button" class="btn plain more" popovertarget="forward">${icon('forward')} Forward</button></div>
  </form>${forwardForm(asked, last)}</div>`;
}

function forwardForm(asked: Asked, last: ThreadMessage): Part {
  return html`<div id="forward" popover="auto"><h2>Forward the last mail</h2>
    <form method="post" class="fields">${hidden(asked, 'forward', { messageId: last.id })}
      ${field({ name: 'to', label: 'To', isRequired: true })}
      ${field({ name: 'comment', label: 'Text above it', type: 'textarea', rows: 2 })}
      <div class="row"><button type="button" class="btn" popovertarget="forward" popovertargetaction="hide">Back</button><button class="btn">Forward</button></div></form></div>`;
}

/** Sends the answer of the form. */
export async function reply(asked: Asked, given: Form): Promise<Done> {
  const { messageId, text = '', all, files } = given;
  const way = all === '1' ? answeringRoutes.replyAll : answeringRoutes.reply;
  const attachments = jsonIn(files, 'Files');
  const body = { text, delaySeconds, ...(attachments && { attachments }) };
  const params = { id: asked.params['id'], messageId };
  return afterSend(asked, await asked.ask(way, { params, body }));
}

/** Sends the answer of the form, and moves the thread to Done. */
export async function replyDone(asked: Asked, given: Form): Promise<Done> {
  const done = await reply(asked, given);
  await asked.ask(threadRoutes.update, { params: asked.params, body: { folder: 'archive' } });
  return done;
}

/** Forwards the last mail of a thread. */
export async function forward(asked: Asked, { messageId, to, comment = '' }: Form): Promise<Done> {
  const params = { id: asked.params['id'], messageId };
  const body = { to: addressesIn(to), delaySeconds, ...(comment !== '' && { text: comment }) };
  return afterSend(asked, await asked.ask(answeringRoutes.forward, { params, body }));
}
