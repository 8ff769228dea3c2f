// Mailboxes as a mail program shows them: folders, threads, one thread with notes and an answer.
import { html, type Part, together } from '../html.ts';
import type { Asked, Form, Page, Titled } from '../page.ts';
import {
  button,
  choice,
  field,
  filters,
  form,
  type List,
  link,
  state,
  table,
  time,
  titleOfMail,
} from '../parts.ts';

interface Mailbox {
  id: string;
  slug: string;
  displayName: string | null;
  status: string;
  addresses: readonly { address: string }[];
}

interface Thread {
  id: string;
  folder: string;
  read: boolean;
  starred: boolean;
  labels: readonly string[];
  subject: string | null;
  preview: string | null;
  from: { address: string; displayName: string | null } | null;
  messageCount: number;
  lastActivityAt: string;
}

interface ThreadMessage {
  id: string;
  direction: string;
  status: string;
  from: { email: string; name: string | null } | null;
  to: readonly { email: string }[];
  createdAt: string;
  newContent: string | null;
  preview: string | null;
}

interface Note {
  id: string;
  author: { displayName: string | null };
  body: string;
  createdAt: string;
}

const folders = ['inbox', 'sent', 'archive', 'spam', 'trash'];

const threadsPath = ({ params }: Asked) => `/v1/mailboxes/${params['id']}/threads`;
const threadPath = (asked: Asked) => `${threadsPath(asked)}/${asked.params['threadId']}`;
const ownPath = ({ params }: Asked) =>
  `/console/mailboxes/${params['id']}/threads/${params['threadId']}`;

async function mailboxes(asked: Asked): Promise<Part> {
  const found = await asked.api.get<List<Mailbox>>('/v1/mailboxes', { page: asked.query['page'] });
  return table(
    asked,
    found,
    [
      ['Mailbox', ({ id, slug, displayName }) => link(`/mailboxes/${id}`, displayName || slug)],
      ['Addresses', ({ addresses }) => addresses.map(({ address }) => address).join(', ')],
      ['Status', ({ status }) => state(status)],
    ],
    'There is no mailbox yet: "svc mailboxes create" makes one.',
  );
}

async function threads(asked: Asked): Promise<Part> {
  const { api, query } = asked;
  const { folder = 'inbox', q, label, unread, cursor } = query;
  const search = { q, label, unread, cursor, ...(q === undefined && { folder }) };
  const found = await api.get<List<Thread>>(threadsPath(asked), search);
  return together(
    html`<p class="row">${folders.map((one) => link(`/mailboxes/${asked.params['id']}?folder=${one}`, one))}</p>`,
    filters(html`
      ${field({ name: 'q', label: 'Search', value: q, type: 'search', hint: 'from: subject: has:attachment' })}
      ${choice({ name: 'unread', label: 'Unread', options: ['true'], value: unread })}
    `),
    table(
      asked,
      found,
      [
        [
          'From',
          ({ from, read }) =>
            html`<span class=${read ? undefined : 'state open'}>${from?.displayName || from?.address}</span>`,
        ],
        [
          'Subject',
          ({ id, subject, preview, starred }) =>
            html`${starred && '★ '}${link(`/mailboxes/${asked.params['id']}/threads/${id}`, subject || '(no subject)')} <small>${preview}</small>`,
        ],
        ['Mails', ({ messageCount }) => messageCount],
        ['Labels', ({ labels }) => labels.join(', ')],
        ['Last', ({ lastActivityAt }) => time(lastActivityAt)],
      ],
      'No thread is here. Mail to an address of the mailbox arrives in its inbox.',
    ),
  );
}

function mail({ from, to, createdAt, newContent, preview, status, id }: ThreadMessage): Part {
  return html`<article class="mail">
    <p><span class="from">${from?.name || from?.email}</span> to ${to.map(({ email }) => email).join(', ')}
      ${' '}${time(createdAt)} ${state(status)} ${link(`/messages/${id}`, 'details')}</p>
    <pre>${newContent ?? preview ?? ''}</pre>
  </article>`;
}

async function thread(asked: Asked): Promise<Titled> {
  const { api, may, query } = asked;
  const path = threadPath(asked);
  const { cursor } = query;
  const [about, { items, nextCursor }, notes] = await Promise.all([
    api.get<Thread>(path),
    api.get<List<ThreadMessage>>(`${path}/messages`, { limit: 50, cursor }),
    api.get<List<Note>>(`${path}/notes`),
  ]);
  const last = items.findLast(({ direction }) => direction === 'inbound') ?? items.at(-1);
  const change = (label: string, fields: Record<string, string>, key?: string) =>
    button(asked, { action: 'change', label, fields, ...(key !== undefined && { key }) });
  const body = together(
    may('mailboxes:write') &&
      html`<div class="row">
        ${change(about.read ? 'Mark as unread' : 'Mark as read', { read: String(!about.read) })}
        ${change(about.starred ? 'Remove the star' : 'Star', { starred: String(!about.starred) }, 's')}
        ${folders.filter((one) => one !== about.folder && one !== 'sent').map((one) => change(`To ${one}`, { folder: one }, one === 'archive' ? 'e' : undefined))}
      </div>`,
    items.map(mail),
    nextCursor &&
      html`<p><a href=${`${ownPath(asked)}?cursor=${encodeURIComponent(nextCursor)}`}>More mails</a></p>`,
    html`<h2>Notes</h2>`,
    notes.items.map(
      ({ author, body, createdAt }) =>
        html`<div class="mail"><p>${author.displayName} ${time(createdAt)}</p><pre>${body}</pre></div>`,
    ),
    may('mailboxes:write') &&
      form(
        asked,
        'note',
        'Add the note',
        field({ name: 'body', label: 'Note', type: 'textarea', isRequired: true }),
      ),
    may('mailboxes:send') && last !== undefined && html`<h2>Reply</h2>`,
    may('mailboxes:send') &&
      last !== undefined &&
      form(
        asked,
        'reply',
        'Reply',
        html`
        <input type="hidden" name="messageId" value=${last.id} />
        ${field({ name: 'text', label: 'Text', type: 'textarea', isRequired: true })}
        <label><span><input type="checkbox" name="all" value="1" /> to all</span></label>
      `,
      ),
  );
  return { title: titleOfMail(about.subject), body };
}

async function change(asked: Asked, { read, starred, folder }: Form): Promise<string> {
  const body = {
    ...(read !== undefined && { read: read === 'true' }),
    ...(starred !== undefined && { starred: starred === 'true' }),
    ...(folder !== undefined && { folder }),
  };
  await asked.api.send('PATCH', threadPath(asked), body);
  return ownPath(asked);
}

async function reply(asked: Asked, { messageId = '', text = '', all }: Form): Promise<string> {
  const way = all === '1' ? 'reply-all' : 'reply';
  const path = `/v1/mailboxes/${asked.params['id']}/messages/${encodeURIComponent(messageId)}/${way}`;
  await asked.api.send('POST', path, { text });
  return ownPath(asked);
}

async function note(asked: Asked, { body = '' }: Form): Promise<string> {
  await asked.api.send('POST', `${threadPath(asked)}/notes`, { body });
  return ownPath(asked);
}

export const mailboxPages: readonly Page[] = [
  {
    path: '/mailboxes',
    label: 'Mailboxes',
    needs: 'mailboxes:read',
    show: async (asked) => ({
      title: 'Mailboxes',
      body: await mailboxes(asked),
      command: 'svc mailboxes list',
      request: 'GET /v1/mailboxes',
    }),
  },
  {
    path: '/mailboxes/:id',
    needs: 'mailboxes:read',
    async show(asked) {
      const { slug, displayName } = await asked.api.get<Mailbox>(
        `/v1/mailboxes/${asked.params['id']}`,
      );
      return {
        title: displayName || slug,
        live: 'announce',
        body: await threads(asked),
        command: `svc threads list ${asked.params['id']}`,
        request: `GET ${threadsPath(asked)}`,
      };
    },
  },
  {
    path: '/mailboxes/:id/threads/:threadId',
    needs: 'mailboxes:read',
    async show(asked) {
      return {
        ...(await thread(asked)),
        live: 'announce',
        request: `GET ${threadPath(asked)}/messages`,
      };
    },
    actions: {
      change: { needs: 'mailboxes:write', run: change },
      reply: { needs: 'mailboxes:send', run: reply },
      note: { needs: 'mailboxes:write', run: note },
    },
  },
];
