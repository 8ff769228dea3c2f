// The areas of the console in groups. The navigation opens the first page of an area that the
// session may read; tabs open the further pages.
import { mailboxRoutes } from '../../src/identity/mailboxes/routes.ts';
import { mailboxActionRoutes } from '../../src/inbox/approvals/routes.ts';
import { unreadThreads } from '../../src/inbox/threads/routes.ts';
import { orNone } from './api.ts';
import type { Asked, Page } from './page.ts';
import type { IconName } from './parts/icon.ts';

interface Place {
  path: string;
  label: string;
}

export interface Area {
  label: string;
  icon: IconName;
  places: readonly Place[];
  /** Number of open proposals as text, such as `3` or `10+`; undefined if there are none. */
  waiting?: string | undefined;
  /** Number of unread threads as text, such as `3` or `99+`; undefined if there are none. */
  unread?: string | undefined;
}

export interface Group {
  /** Null for the areas above all groups. */
  title: string | null;
  areas: readonly Area[];
}

const area = (label: string, icon: IconName, ...places: readonly string[]): Area => ({
  label,
  icon,
  places: places.map((place) => {
    const [path = '', own = label] = place.split(' = ');
    return { path, label: own };
  }),
});

const groups: readonly Group[] = [
  { title: null, areas: [area('Overview', 'overview', '')] },
  {
    title: 'Inbox',
    areas: [area('All mailboxes', 'menu', '/mailboxes'), area('Approvals', 'approve', '/review')],
  },
  {
    title: 'Send',
    areas: [
      area('Campaigns', 'send', '/campaigns'),
      area('Templates & brand', 'template', '/templates = Templates', '/brands = Brands'),
      area('Messages', 'list', '/messages'),
    ],
  },
  {
    title: 'People',
    areas: [
      area('Contacts', 'people', '/contacts', '/conversations = Conversations'),
      area('Groups & consent', 'group', '/groups'),
      area('Blocked', 'blocked', '/blocks'),
    ],
  },
  {
    title: 'Delivery',
    areas: [
      area('Domains & senders', 'domain', '/domains = Domains', '/senders = Senders'),
      area('Reports', 'report', '/reports'),
      area('Queue', 'clock', '/queue'),
    ],
  },
  {
    title: 'Build',
    areas: [
      area('API keys', 'key', '/keys'),
      area('Webhooks', 'webhook', '/webhooks'),
      area('Extensions', 'extension', '/extensions'),
    ],
  },
];

const settings = area(
  'Settings',
  'settings',
  '/people = People',
  '/organization = Organization',
  '/account = My account',
  '/changes = Changes',
);

const mostUnread = 99;

const unreadWords = (count: number) =>
  count === 0 ? undefined : count > mostUnread ? `${mostUnread}+` : `${count}`;

const mostMailboxes = 8;
const mostCounted = 10;

/** Returns whether a page lies at or below a path. */
export function isAt(here: string, path: string): boolean {
  return here === path || (path !== '' && here.startsWith(`${path}/`));
}

/** Returns an area with the pages that the session may see; null without such a page. */
function seen(pages: readonly Page[], { may }: Asked, { places, ...own }: Area): Area | null {
  const allowed = places.filter(({ path }) => {
    const page = pages.find((one) => one.path === path);
    return page && (page.needs === null || may(page.needs));
  });
  return allowed.length > 0 ? { ...own, places: allowed } : null;
}

const present = (areas: readonly (Area | null)[]) => areas.filter((one) => one !== null);

/** Returns the mailboxes of a session as areas, with the unread threads of their inboxes. */
async function mailboxes({ ask }: Asked): Promise<Area[]> {
  const found = await orNone(true, () =>
    ask(mailboxRoutes.list, { query: { limit: mostMailboxes } }),
  );
  const boxes = found?.items ?? [];
  const mailboxIds = boxes.map(({ id }) => id);
  const counts = await orNone(boxes.length > 0, () =>
    ask(unreadThreads, { query: { mailboxIds } }),
  );
  return boxes.map(({ id, slug, displayName }) => ({
    label: displayName || slug,
    icon: 'inbox',
    places: [{ path: `/mailboxes/${id}`, label: displayName || slug }],
    unread: unreadWords(counts?.find((one) => one.id === id)?.unread ?? 0),
  }));
}

/** Returns the number of open proposals as text, `3` or `10+`; undefined for none. */
async function proposals({ ask }: Asked): Promise<string | undefined> {
  const query = { state: 'proposed', limit: mostCounted };
  const found = await orNone(true, () => ask(mailboxActionRoutes.listAll, { query }));
  if (!found || found.items.length === 0) return undefined;
  return `${found.items.length}${found.nextCursor === null ? '' : '+'}`;
}

/** Returns the areas of a session, without mailboxes. */
export function areasOf(pages: readonly Page[], asked: Asked): Area[] {
  const all = [...groups.flatMap(({ areas }) => areas), settings];
  return present(all.map((one) => seen(pages, asked, one)));
}

export interface Navigation {
  groups: readonly Group[];
  settings: Area | null;
}

/** Returns the areas for a session, with mailboxes and counts of tasks. */
export async function navigationOf(pages: readonly Page[], asked: Asked): Promise<Navigation> {
  const isReader = asked.may('mailboxes:read');
  const [boxes, waiting] = isReader
    ? await Promise.all([mailboxes(asked), proposals(asked)])
    : [[], undefined];
  const shown = groups.map(({ title, areas }) => {
    const own = present(areas.map((one) => seen(pages, asked, one)));
    if (title !== 'Inbox' || own.length === 0) return { title, areas: own };
    const [all, approvals] = own;
    const inbox = present([...boxes, all ?? null, approvals ? { ...approvals, waiting } : null]);
    return { title, areas: inbox };
  });
  return {
    groups: shown.filter(({ areas }) => areas.length > 0),
    settings: seen(pages, asked, settings),
  };
}
