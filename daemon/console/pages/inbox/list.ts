// The list of a mailbox: its views, the search, and the threads. The page of a thread shows the
// list too.
import { threadRoutes } from '../../../../src/inbox/threads/routes.ts';
import type { Thread } from '../../../../src/inbox/threads/schema.ts';
import { dayIn, wallTimeIn } from '../../../../src/platform/runtime/calendar.ts';
import { withQuery } from '../../api.ts';
import { html, type Part, withClock } from '../../html.ts';
import type { Asked } from '../../page.ts';
import { icon } from '../../parts/icon.ts';
import { link } from '../../parts/link.ts';
import { emptyState } from '../../parts/table.ts';
import { dayInWords } from '../../parts/times.ts';

/** Views of a mailbox: the label, and the query that selects the threads. */
const views = [
  ['Inbox', {}],
  ['Snoozed', { snoozed: 'true' }],
  ['Done', { folder: 'archive' }],
  ['All', { folder: 'all' }],
] as const;
const others = [
  ['Unread', { unread: 'true' }],
  ['Starred', { starred: 'true' }],
  ['Sent', { folder: 'sent' }],
  ['Drafts', { folder: 'drafts' }],
  ['Spam', { folder: 'spam' }],
  ['Trash', { folder: 'trash' }],
] as const;

const filterNames = ['folder', 'q', 'label', 'unread', 'starred', 'snoozed', 'after', 'before'];

/** Returns the part of the query that selects threads. */
export function listQuery({ query }: Pick<Asked, 'query'>): Record<string, string> {
  const given = Object.entries(query).filter(([name]) => filterNames.includes(name));
  return Object.fromEntries(given);
}

const pathOf = ({ params }: Asked) => `/mailboxes/${params['id']}`;

/** Returns the path of the list with the present filters. */
export function listPath(asked: Asked): string {
  return withQuery(`/console${pathOf(asked)}`, listQuery(asked));
}

function wantedOf(asked: Asked) {
  const { folder, ...chosen } = listQuery(asked);
  const isSearch = ['q', 'label', 'unread', 'starred', 'snoozed'].some((name) => chosen[name]);
  const here = folder ?? (isSearch ? undefined : 'inbox');
  // A snoozed thread has left the inbox until its time; a search and its own view find it.
  const snoozed = here === 'inbox' && !isSearch ? 'false' : chosen['snoozed'];
  const cursor = asked.query['cursor'];
  return { ...chosen, folder: here === 'all' ? undefined : here, snoozed, cursor };
}

/** Draws a time in few characters: hour and minute if it is today, else the day. */
function shortTime(at: string): Part {
  return withClock(({ timezone, now }) => {
    const [day = '', minute = ''] = wallTimeIn(timezone, Date.parse(at)).split(' ');
    const today = dayIn(timezone, now);
    const words = day === today ? minute : dayInWords(day, today).replace(/^\w{3} /, '');
    return html`<time datetime=${at}>${words}</time>`;
  });
}

/** Draws a thread. `isFirst` marks the target of the skip link. */
function threadLink(asked: Asked, thread: Thread, hasProposal: boolean, isFirst: boolean): Part {
  const { id, subject, preview, from, starred, read, labels, messageCount } = thread;
  const isHere = asked.params['threadId'] === id;
  const path = withQuery(`/console${pathOf(asked)}/threads/${id}`, listQuery(asked));
  const named = from?.displayName || from?.address || '(nobody)';
  return html`<a class=${read ? 'th' : 'th new'} id=${isFirst ? 'list' : undefined} href=${path} aria-current=${isHere ? 'true' : undefined}>
    <span class="dot">${!read && html`<span class="sr">unread</span>`}</span>
    <span class="from">${named}${messageCount > 1 && html` <small>${messageCount}</small>`}</span><small>${shortTime(thread.lastActivityAt)}</small>
    <span class="sub">${starred && '★ '}${subject || '(no subject)'}</span>
    <span class="pre">${hasProposal && html`<span class="pill info">To approve</span> `}
      ${labels.map((label) => html`<span class="tag">${label}</span> `)}
      ${thread.hasDraft && html`<span class="pill">Draft</span> `}
      ${thread.snoozedUntil && html`<span class="pill">until ${shortTime(thread.snoozedUntil)}</span> `}
      ${thread.hasAttachments && icon('file')}${preview}</span></a>`;
}

function viewLinks(asked: Asked): Part {
  const { folder, unread, starred, snoozed } = asked.query;
  const now = JSON.stringify({ folder, unread, starred, snoozed });
  const anchor = ([word, query]: readonly [string, Record<string, string>]) => {
    const { folder: to, unread: isNew, starred: hasStar, snoozed: sleeps } = query;
    const own = JSON.stringify({ folder: to, unread: isNew, starred: hasStar, snoozed: sleeps });
    const isHere = own === now && !asked.query['q'] && !asked.query['label'];
    const path = withQuery(`/console${pathOf(asked)}`, query);
    return html`<a href=${path} aria-current=${isHere ? 'true' : undefined}>${word}</a>`;
  };
  return html`<div class="seg" role="group" aria-label="Views">${views.map(anchor)}
    <button type="button" popovertarget="views" aria-label="More views">…</button>
    <div id="views" popover="auto" class="menu">${others.map(anchor)}
      ${link(`${pathOf(asked)}/drafts`, 'Kept drafts')} ${link(`${pathOf(asked)}/activity`, 'What keys did')}</div></div>`;
}

/** Draws the list of a mailbox. `waiting` has the ids of threads with a proposal. */
export async function mailList(
  asked: Asked,
  mailbox: { displayName: string | null; slug: string },
  waiting: ReadonlySet<string>,
): Promise<Part> {
  const { ask, params, query } = asked;
  const found = await ask(threadRoutes.list, {
    params: { id: params['id'] },
    query: wantedOf(asked),
  });
  const isAlone = params['threadId'] === undefined;
  const name = mailbox.displayName || mailbox.slug;
  const write = `btn ${isAlone ? 'first' : ''}`.trim();
  const next = { ...listQuery(asked), cursor: found.nextCursor ?? '' };
  return html`<section class="list" aria-label=${`Threads of ${name}`}>
    <header><div>${isAlone ? html`<h1>${name}</h1>` : html`<h2>${name}</h2>`}
        ${asked.may('mailboxes:send') && html`<a class=${write} href=${`/console${pathOf(asked)}/new`}>${icon('edit')} Write</a>`}</div>
      <form method="get" role="search" action=${`/console${pathOf(asked)}`}><input type="search" name="q" value=${query['q']} aria-label=${`Search in ${name}`} placeholder="Search: invoice, from:clara, has:attachment" /></form>
      ${viewLinks(asked)}</header>
    ${found.items.map((one, at) => threadLink(asked, one, waiting.has(one.id), isAlone && at === 0))}
    ${found.items.length === 0 && emptyState('No thread is here. Mail to an address of the mailbox arrives in its inbox.')}
    ${found.nextCursor && html`<p class="pager"><a href=${withQuery(`/console${pathOf(asked)}`, next)}>Older threads</a></p>`}
  </section>`;
}
