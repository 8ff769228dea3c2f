// The frame around every page: the areas, the head, the toast, and the command and request that do
// the same. On a phone the areas open from a bar at the bottom.
import type { Toast } from '../../src/access/sessions/after-action.ts';
import { urlAt } from '../../src/platform/net/network-address.ts';
import type { AssetUrls } from './assets.ts';
import { html, inClock, type Part, renderDocument } from './html.ts';
import { type Area, type Group, isAt, type Navigation, navigationOf } from './navigation.ts';
import type { Asked, Page, View } from './page.ts';
import { elementsIn } from './parts/elements.ts';
import { hidden, posting } from './parts/form.ts';
import { icon } from './parts/icon.ts';
import { type Organization, organizationsOf, switchButton } from './person/person.ts';

/** A page and the parts around the page. */
interface Framed {
  asked: Asked;
  view: View;
  navigation: Navigation;
  toast: Toast | null;
  /** Further organizations of the person. */
  organizations: readonly Organization[];
}

function documentOf(assets: AssetUrls, title: string, body: Part): string {
  const asksPasskey = elementsIn(body).some(({ props }) => 'data-passkey' in props);
  return renderDocument(html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <title>${title} · svc</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <link rel="icon" type="image/svg+xml" href=${assets.icon} />
      <link rel="stylesheet" href=${assets.style} />
      <script src=${assets.script} defer></script>
      ${asksPasskey && html`<script src=${assets.passkeys} type="module"></script>`}
    </head>
    ${body}
  </html>`);
}

const initialOf = (name: string) => [...name.trim()][0]?.toUpperCase() ?? '·';

/** Returns the area with the longest path at or above a page; undefined without such an area. */
function areaOf({ groups, settings }: Navigation, here: string): Area | undefined {
  const all = [...groups.flatMap(({ areas }) => areas), ...(settings ? [settings] : [])];
  const depth = ({ places }: Area) =>
    Math.max(-1, ...places.map(({ path }) => (isAt(here, path) ? path.length : -1)));
  const best = all.reduce<Area | undefined>(
    (most, one) => (depth(one) > (most ? depth(most) : -1) ? one : most),
    undefined,
  );
  return best;
}

function areaLink(area: Area, current: Area | undefined): Part {
  const { label, icon: shape, places, waiting, unread } = area;
  const here = area === current ? 'page' : undefined;
  return html`<li><a href=${`/console${places[0]?.path}`} aria-current=${here}>${icon(shape)} <span>${label}</span>
    ${waiting && html`<span class="n hot">${waiting}<span class="sr"> waiting</span></span>`}${unread && html`<span class="n">${unread}<span class="sr"> unread</span></span>`}</a></li>`;
}

function groupOf({ title, areas }: Group, current: Area | undefined): Part {
  const list = (id?: string) =>
    html`<ul aria-labelledby=${id}>${areas.map((one) => areaLink(one, current))}</ul>`;
  if (title === null) return list();
  const id = `g-${title.toLowerCase()}`;
  return html`<h2 id=${id}>${title}</h2>${list(id)}`;
}

const captured = 'Mail is captured: nothing leaves this machine (delivery.mode).';

/** Draws the link to the search; with a script it opens the window above the page. */
const finder = (label: Part): Part =>
  html`<a class="find" href="/console/find">${icon('search')}${label}</a>`;

/** Draws the window of the search, which a script opens and fills. */
const palette = (): Part =>
  html`<div id="find" popover="auto" class="palette" role="dialog" aria-label="Find anything">
    <form role="search" method="get" action="/console/find"><input type="search" name="q" maxlength="200" autocomplete="off" aria-label="Find anything" placeholder="A name, an address, a subject, an order number, a page …" /></form>
    <div class="hits"></div></div>`;

/** Draws the areas at the side: a popover on a phone, opened by the bar below. */
function side(framed: Framed, current: Area | undefined): Part {
  const { asked, navigation } = framed;
  const { organization } = asked.session;
  const isCapture = asked.config.delivery.mode === 'capture';
  return html`<nav class="side" id="areas" aria-label="Areas" popover="auto">
    <a class="org" href="/console"><span class="mark" aria-hidden="true">${initialOf(organization.name)}</span> <span>${organization.name}</span></a>
    ${finder(html` Find anything <kbd>Ctrl K</kbd>`)}
    ${navigation.groups.map((group) => groupOf(group, current))}
    ${isCapture && html`<p class="banner">${captured}</p>`}
    ${me(framed, current)}
  </nav>`;
}

/** Returns the name of the caller, as colleagues see it. */
function nameOf({ caller: { by, keyName } }: Asked): string {
  return by.kind === 'operator' ? 'operator' : (keyName ?? by.kind);
}

/** Draws the name of the caller with a menu: organizations, the account, the sign-out. */
function me({ asked, navigation: { settings }, organizations }: Framed, current?: Area): Part {
  const { caller } = asked;
  const { kind } = caller.by;
  const name = nameOf(asked);
  const own =
    kind === 'member' ? html`<a href="/console/account"><b>${name}</b></a>` : html`<b>${name}</b>`;
  const here = settings && settings === current ? 'page' : undefined;
  const setting =
    settings &&
    html` · <a href=${`/console${settings.places[0]?.path}`} aria-current=${here}>Settings</a>`;
  const out = (all: string, label: string) => posting(asked, '/sign-out', { all }, label);
  return html`<div class="me"><span class="av s a" aria-hidden="true">${initialOf(name)}</span>
    <div>${own}<small>${caller.roleName}${setting}</small></div>
    <button type="button" class="btn plain" popovertarget="me" aria-label="More of your session">${icon('menu')}</button>
    <div id="me" popover="auto" class="menu">
      ${kind === 'member' && html`<a class="btn" href="/console/account">My account</a>`}
      ${kind === 'operator' && html`<a class="btn" href="/console/become-member">Become a member</a>`}
      ${organizations.length > 0 && html`<h2>Switch to</h2>${organizations.map(({ id, name: called }) => switchButton(asked, id, called))}`}
      <button type="button" class="btn" data-keys="" hidden>Turn single keys off</button>
      ${out('', 'Sign out')}${kind === 'key' && out('1', 'End all sessions of this key')}
    </div></div>`;
}

/** Draws the bars of a phone: the area above, and the main areas below. */
function phoneBars({ asked, navigation }: Framed, current: Area | undefined): Part {
  const all = navigation.groups.flatMap(({ areas }) => areas);
  const named = (label: string) => all.find((one) => one.label === label);
  const inbox = navigation.groups.find(({ title }) => title === 'Inbox')?.areas[0];
  const waiting = named('Approvals')?.waiting;
  const main = [
    named('Overview'),
    inbox && { ...inbox, label: 'Inbox', waiting },
    named('Campaigns'),
    named('Messages'),
  ].filter((one) => one !== undefined);
  const isHere = ({ places }: Area) => places[0]?.path === current?.places[0]?.path;
  const isShown = current !== undefined && main.some(isHere);
  return html`<nav class="tabbar" aria-label="Main areas">${main.map(
    (one) =>
      html`<a href=${`/console${one.places[0]?.path}`} aria-current=${isHere(one) ? 'page' : undefined}>${icon(one.icon)} ${one.label}
        ${one.waiting && html`<span class="n">${one.waiting}<span class="sr"> waiting</span></span>`}</a>`,
  )}<button type="button" popovertarget="areas" aria-current=${isShown ? undefined : 'true'}>${icon('menu')} More</button></nav>
  <header class="bar-top"><span class="org"><span class="mark" aria-hidden="true">${initialOf(asked.session.organization.name)}</span> <span>${current?.label ?? 'svc'}</span></span>
    ${finder(html`<span class="sr">Find anything</span>`)}
    ${asked.config.delivery.mode === 'capture' && html`<span class="pill warn" title=${captured}>Captured</span>`}</header>`;
}

/**
 * Draws the link to the page above, the heading, the line below it, and the buttons of the page.
 */
function head({ asked, view }: Framed, current: Area | undefined): Part {
  const { title, heading, below, actions, crumb } = view;
  const above = current?.places.find(({ path }) => isAt(asked.path, path) && path !== asked.path);
  const way = crumb ?? (above && html`<a href=${`/console${above.path}`}>${above.label}</a>`);
  return html`<div class="head">${way && html`<span class="crumb">${way}</span>`}
    <div><h1>${heading ?? title}</h1>${below && html`<p class="soft">${below}</p>`}</div>
    ${actions && html`<div class="right">${actions}</div>`}</div>`;
}

/** Draws the pages of an area as tabs. */
function tabs({ asked: { path } }: Framed, current: Area | undefined): Part {
  const places = current?.places ?? [];
  if (places.length < 2 || !places.some((one) => one.path === path)) return null;
  return html`<nav class="tabs" aria-label=${current?.label}>${places.map(
    (one) =>
      html`<a href=${`/console${one.path}`} aria-current=${one.path === path ? 'page' : undefined}>${one.label}</a>`,
  )}</nav>`;
}

/** Draws the sentence about the last action, and the button to undo the action. */
function toastOf({ asked, toast }: Framed): Part {
  if (!toast) return null;
  const { said, undo } = toast;
  return html`<div class="toast" role="status"><span>${said}</span>${
    undo &&
    html`<form method="post" action=${`/console${undo.path}`}>${hidden(asked, undo.action, { ...undo.fields, _sure: '1' })}<button class="btn">Undo</button></form>`
  }</div>`;
}

function bodyOf(framed: Framed): Part {
  const { asked, view, navigation } = framed;
  const { about, isBare, refusal } = view;
  // A page with a refused form follows no changes: a reload would lose the typed values.
  const live = refusal ? undefined : view.live;
  const current = areaOf(navigation, asked.path);
  const list = elementsIn(view.body).find(({ props }) => String(props['id']).startsWith('list'));
  return html`<body><a class="skip" href="#main">Skip to the content</a>
    ${list && html`<a class="skip" href=${`#${list.props['id']}`}>Skip to the list</a>`}<div class="app">
    ${side(framed, current)}${phoneBars(framed, current)}
    <main id="main" class=${isBare ? 'page bare' : 'page'} tabindex="-1" data-live=${live} data-about=${about} data-drawn=${live && asked.now} data-in=${asked.caller.organizationId}>
      ${!isBare && head(framed, current)}${!isBare && tabs(framed, current)}${view.body}${!isBare && asCommand(view, asked)}</main>
  </div>${palette()}${toastOf(framed)}</body>`;
}

/** Draws a page for a session. */
export async function drawPage(
  assets: AssetUrls,
  pages: readonly Page[],
  asked: Asked,
  view: View,
  toast: Toast | null = null,
): Promise<string> {
  const { timezone, now } = asked;
  const { refusal, title } = view;
  const [navigation, organizations] = await Promise.all([
    navigationOf(pages, asked),
    organizationsOf(asked),
  ]);
  const framed = { asked, view, toast, navigation, organizations };
  const shown = inClock({ timezone, now }, bodyOf(framed));
  return documentOf(assets, refusal ? `Error: ${title}` : title, shown);
}

function asCommand({ command, request }: View, { config }: Asked): Part {
  if (!command && !request) return null;
  const { publicUrl, host, port } = config.http;
  const [method, path] = (request ?? '').split(' ');
  const base = publicUrl ?? urlAt(host, port);
  const curl = `curl${method === 'GET' ? '' : ` -X ${method}`} ${base}${path} -H "X-API-Key: $SVC_API_KEY"`;
  return html`<details class="same"><summary>The same by command and API</summary>
    ${command && html`<pre data-copy="">${command}</pre>`}
    ${request && html`<pre data-copy="">${curl}</pre>`}
  </details>`;
}

/** Draws a page without a session: the sign-in, a link, an error. */
export function drawPlain(
  assets: AssetUrls,
  { title, body, isWide }: { title: string; body: Part; isWide?: boolean },
): string {
  return documentOf(
    assets,
    title,
    html`<body><main id="main" class=${isWide ? 'door broad' : 'door'}><span class="org"><span class="mark" aria-hidden="true">s</span> <span>svc</span></span>
      <section class="card"><h1>${title}</h1>${body}</section></main></body>`,
  );
}
