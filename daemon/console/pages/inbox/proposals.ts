// Proposals inside the thread that they answer: the whole mail as it would be sent, and the buttons
// to decide.
import { mailboxActionRoutes } from '../../../../src/inbox/approvals/routes.ts';
import { html, type Part } from '../../html.ts';
import { drawMail } from '../../mail-picture.ts';
import type { Asked } from '../../page.ts';
import { button, field, hidden } from '../../parts/form.ts';
import { icon } from '../../parts/icon.ts';
import { link } from '../../parts/link.ts';
import { time } from '../../parts/times.ts';

/** Most open proposals that are read: a mailbox cannot have more. */
const mostOpen = 100;
const mostDrawn = 5;

interface Proposed {
  threadId: string;
  part: Part;
}

/** Draws the buttons to approve, change or reject a proposal. */
export function decisionOn(
  asked: Asked,
  {
    id,
    mailboxId,
    actor,
  }: { id: string; mailboxId: string; actor: { displayName: string | null } },
): Part {
  const path = `/review/${mailboxId}/${id}`;
  const popover = `reject-${id}`;
  const mayReject = asked.may('mailboxes:write');
  return html`<div class="row">
    ${asked.may('mailboxes:send') && button(asked, { action: 'approve', label: 'Approve and send', isFirst: true, path })}
    ${asked.may('mailboxes:send') && html`<a class="btn" href=${`/console${path}#change`}>Change …</a>`}
    ${mayReject && html`<button type="button" class="btn plain" popovertarget=${popover}>Reject</button>`}
    <small>${link(`${path}/raw`, 'exact bytes')}</small></div>
    ${
      mayReject &&
      html`<div id=${popover} popover="auto"><h2>Reject this answer?</h2><form method="post" action=${`/console${path}`}>
      ${hidden(asked, 'reject')}${field({ name: 'note', label: `Why? ${actor.displayName ?? 'The key'} reads it` })}
      <div class="row"><button type="button" class="btn" popovertarget=${popover} popovertargetaction="hide">Back</button><button class="btn bad">Reject</button></div></form></div>`
    }`;
}

/**
 * Returns the open proposals in threads of a mailbox: the first 5 of the shown thread, each with a
 * drawn `part`, and all of further threads, with a null `part`.
 */
export async function proposalsOf(asked: Asked): Promise<Proposed[]> {
  const { ask, params } = asked;
  const query = { state: 'proposed', limit: mostOpen };
  const { items } = await ask(mailboxActionRoutes.list, { params: { id: params['id'] }, query });
  const found = items.flatMap(({ id, threadId }) => (threadId === null ? [] : { id, threadId }));
  const here = found.filter(({ threadId }) => threadId === params['threadId']).slice(0, mostDrawn);
  const drawn = await Promise.all(here.map((one) => drawProposal(asked, one)));
  const others = found.filter(({ threadId }) => threadId !== params['threadId']);
  return [...drawn, ...others.map(({ threadId }) => ({ threadId, part: null }))];
}

async function drawProposal(
  asked: Asked,
  { id, threadId }: { id: string; threadId: string },
): Promise<Proposed> {
  const params = { id: asked.params['id'], actionId: id };
  const action = await asked.ask(mailboxActionRoutes.get, { params });
  const { actor, content, createdAt, mailboxId } = action;
  const path = `/console/review/${mailboxId}/${id}`;
  const part = html`<div class="prop"><div class="top"><span class="av s c" aria-hidden="true">${icon('approve')}</span>
      <span><b>${actor.displayName}</b> proposes this mail <small>${time(createdAt)} · it is sent only if you approve</small></span></div>
    ${content && drawMail(content, { htmlPath: `${path}/html`, filePath: (n) => `${path}/files/${n}` })}
    ${decisionOn(asked, action)}</div>`;
  return { threadId, part };
}
