// "Find anything": people, mail, threads, campaigns and templates by one search, beside pages and
// actions by name. The script shows the same results in a window above each page (Ctrl K).
import { searchRoutes } from '../../../src/search/routes.ts';
import type { Found, FoundAddress } from '../../../src/search/schema.ts';
import { html, inClock, type Part, renderDocument, together } from '../html.ts';
import { areasOf } from '../navigation.ts';
import type { Asked, Page } from '../page.ts';
import { type IconName, icon } from '../parts/icon.ts';
import { time } from '../parts/times.ts';
import { state } from '../states.ts';

/** A line of the results. */
interface Hit {
  path: string;
  icon: IconName;
  text: Part;
  soft?: Part;
  end?: Part;
}

interface Section {
  title: string;
  hits: readonly Hit[];
}

/** Actions by name, with the page that has the form. */
const actions: readonly { path: string; page: string; label: string; icon: IconName }[] = [
  { path: '/campaigns', page: '/campaigns', label: 'Write a campaign', icon: 'send' },
  { path: '/messages/new', page: '/messages/new', label: 'Send a test mail', icon: 'send' },
  { path: '/contacts', page: '/contacts', label: 'Add a contact', icon: 'people' },
  { path: '/contacts/import', page: '/contacts/import', label: 'Import contacts', icon: 'people' },
  { path: '/blocks', page: '/blocks', label: 'Block an address', icon: 'blocked' },
  { path: '/domains', page: '/domains', label: 'Add a domain', icon: 'domain' },
  { path: '/keys', page: '/keys', label: 'Make an API key', icon: 'key' },
  { path: '/people', page: '/people', label: 'Invite a colleague', icon: 'person' },
];

const mostNamed = 6;
/** Most characters of a search: longer texts are truncated. */
const longest = 200;

function has(label: string, q: string): boolean {
  const words = q.toLowerCase().split(/\s+/);
  return words.every((word) => label.toLowerCase().includes(word));
}

/** Returns up to 6 pages and up to 6 actions with names that contain all words. */
function named(pages: readonly Page[], asked: Asked, q: string): Section[] {
  const places = areasOf(pages, asked).flatMap((area) =>
    area.places.map(({ path, label }) => ({ path, text: label, icon: area.icon })),
  );
  const needsOf = (path: string) => pages.find((page) => page.path === path)?.needs;
  const doing = actions
    .filter(({ page }) => {
      const needs = needsOf(page);
      return needs !== undefined && (needs === null || asked.may(needs));
    })
    .map(({ path, label, icon: shape }) => ({ path, text: label, icon: shape }));
  const fitting = (hits: { path: string; text: string; icon: IconName }[]) =>
    hits.filter(({ text }) => has(text, q)).slice(0, mostNamed);
  return [
    { title: 'Pages', hits: fitting(places) },
    { title: 'Do', hits: fitting(doing) },
  ];
}

const textOf = (subject: string | null) => subject || '(no subject)';

function sectionsOf({ people, messages, threads, campaigns, templates }: Found): Section[] {
  return [
    {
      title: 'People',
      hits: people.map(({ id, name, email, status }) => ({
        path: `/contacts/${id}`,
        icon: 'people',
        text: html`<b>${name || email}</b>`,
        soft: name ? email : null,
        end: status === 'active' ? null : state(status),
      })),
    },
    {
      title: 'Mail',
      hits: messages.map(({ id, subject, direction, status, from, to, createdAt }) => ({
        path: `/messages/${id}`,
        icon: 'list',
        text: textOf(subject),
        soft: html`${direction === 'inbound' ? `from ${from}` : `to ${to ?? ''}`} · ${time(createdAt)}`,
        end: state(direction === 'inbound' ? 'received' : status),
      })),
    },
    {
      title: 'Inbox',
      hits: threads.map(({ mailboxId, id, subject, from, lastActivityAt }) => ({
        path: `/mailboxes/${mailboxId}/threads/${id}`,
        icon: 'inbox',
        text: textOf(subject),
        soft: html`${from} · ${time(lastActivityAt)}`,
      })),
    },
    {
      title: 'Campaigns',
      hits: campaigns.map(({ id, name }) => ({
        path: `/campaigns/${id}`,
        icon: 'send',
        text: name,
      })),
    },
    {
      title: 'Templates',
      hits: templates.map(({ id, name, slug }) => ({
        path: `/templates/${id}`,
        icon: 'template',
        text: name,
        soft: slug,
      })),
    },
  ];
}

/** Draws whether an address is blocked, and the last mail to it. */
function answer({ email, blocks, messages }: FoundAddress): Part {
  const all = blocks.find(({ unsubscribeGroupId }) => unsubscribeGroupId === null);
  const [last] = messages;
  const sentence = all
    ? html`<b>${email} gets no mail:</b> blocked since ${time(all.createdAt)}. ${state(all.reason)}`
    : html`<b>Nothing blocks ${email}.</b>`;
  const lastly = last
    ? html`The last mail, <a href=${`/console/messages/${last.id}`}>${textOf(last.subject)}</a>, ${time(last.createdAt)}: ${state(last.status)} ${last.errorMessage}`
    : 'No mail was sent to this address.';
  return html`<div class=${all ? 'find-out' : 'find-out good'}>${icon(all ? 'warning' : 'done')}<p>${sentence} <small>${lastly}</small></p></div>`;
}

function drawn({ title, hits }: Section): Part {
  if (hits.length === 0) return null;
  return html`<h2>${title}</h2><ul>${hits.map(
    ({ path, icon: shape, text, soft, end }) =>
      html`<li><a href=${`/console${path}`}>${icon(shape)}<span>${text}${soft && html` <small>${soft}</small>`}</span>${end}</a></li>`,
  )}</ul>`;
}

/** Draws the results of a search; for an empty search the first pages and actions. */
async function results(pages: readonly Page[], asked: Asked): Promise<Part> {
  const q = asked.query['q']?.trim().slice(0, longest) ?? '';
  const found = q === '' ? null : await asked.ask(searchRoutes.find, { query: { q } });
  const sections = [...(found ? sectionsOf(found) : []), ...named(pages, asked, q)];
  const isEmpty = sections.every(({ hits }) => hits.length === 0) && !found?.address;
  return html`<div class="hits">${found?.address && answer(found.address)}${sections.map(drawn)}
    ${isEmpty && html`<p class="none">Nothing fits “${q}”. Searched in people, addresses, beginnings of subjects, threads, campaigns, templates and pages.</p>`}</div>`;
}

/** Returns the page of the search, and the results alone, for the script. */
export function findPages(pages: readonly Page[]): readonly Page[] {
  return [
    {
      path: '/find',
      needs: null,
      async show(asked) {
        const q = asked.query['q'];
        const body = together(
          html`<form method="get" role="search" class="search card" action="/console/find">
            <input type="search" name="q" value=${q} maxlength=${longest} aria-label="Find anything" placeholder="A name, an address, a subject, an order number, a page …" />
            <button class="btn first">Find</button></form>`,
          html`<section class="card">${await results(pages, asked)}</section>`,
        );
        return { title: 'Find anything', body };
      },
    },
    {
      path: '/find/hits',
      needs: null,
      async show(asked) {
        const { timezone, now } = asked;
        const tree = inClock({ timezone, now }, await results(pages, asked));
        const contentType = 'text/html; charset=utf-8';
        return { contentType, disposition: 'inline', bytes: renderDocument(tree) };
      },
    },
  ];
}
