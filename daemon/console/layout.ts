// The frame around every page: head, navigation, banner, messages, and the command and request that
// do the same.
import { urlAt } from '../../src/platform/net/network-address.ts';
import type { AssetUrls } from './assets.ts';
import { html, inZone, type Part, renderDocument } from './html.ts';
import type { Asked, Page, View } from './page.ts';

function documentOf(assets: AssetUrls, title: string, body: Part): string {
  return renderDocument(html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <title>${title} · svc</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <link rel="icon" type="image/svg+xml" href=${assets.icon} />
      <link rel="stylesheet" href=${assets.style} />
      <script src=${assets.script} defer></script>
      <script src=${assets.passkeys} type="module"></script>
    </head>
    ${body}
  </html>`);
}

function navigation(pages: readonly Page[], asked: Asked): Part {
  const { path } = asked;
  const shown = pages.filter(({ label, needs }) => label && (needs === null || asked.may(needs)));
  const isHere = (page: Page) =>
    page.path === '' ? path === '' : path === page.path || path.startsWith(`${page.path}/`);
  return html`<nav aria-label="Areas"><ul>${shown.map((page) => {
    const current = isHere(page) ? 'page' : undefined;
    return html`<li><a href=${`/console${page.path}`} aria-current=${current}>${page.label}</a></li>`;
  })}</ul></nav>`;
}

/** Draws a page for a session. */
export function drawPage(
  assets: AssetUrls,
  pages: readonly Page[],
  asked: Asked,
  view: View,
): string {
  const { caller, config, formToken, session, timezone } = asked;
  const { by, keyName, roleName } = caller;
  const who = by.kind === 'operator' ? 'operator' : (keyName ?? by.kind);
  const isCapture = config.delivery.mode === 'capture';
  return documentOf(
    assets,
    view.title,
    inZone(
      timezone,
      html`<body>
    <header>
      <a class="skip" href="#main">Skip to the content</a>
      <a class="home" href="/console">svc</a>
      <span class="who">${session.organization.name}: ${caller.by.kind === 'member' ? html`<a href="/console/account">${who}</a>` : who} (${roleName})${by.kind === 'operator' && html` <a href="/console/become-member">Become a member</a>`}</span>
      <form method="post" action="/console/sign-out">
        <input type="hidden" name="_form" value=${formToken} />
        <button name="all" value="">Sign out</button>
        ${by.kind === 'key' && html`<button name="all" value="1">End all sessions of this key</button>`}
      </form>
      <button type="button" data-keys="" hidden>Turn single keys off</button>
      ${isCapture && html`<p class="banner">Mail is captured: nothing leaves this machine (delivery.mode).</p>`}
    </header>
    <div class="frame">
      ${navigation(pages, asked)}
      <main id="main" tabindex="-1" data-live=${view.live} data-about=${view.about} data-drawn=${view.live && asked.now} data-in=${caller.organizationId}><h1>${view.title}</h1>${view.body}${asCommand(view, asked)}</main>
    </div>
  </body>`,
    ),
  );
}

function asCommand({ command, request }: View, { config }: Asked): Part {
  if (!command && !request) return null;
  const { publicUrl, host, port } = config.http;
  const [method, path] = (request ?? '').split(' ');
  const base = publicUrl ?? urlAt(host, port);
  const curl = `curl${method === 'GET' ? '' : ` -X ${method}`} ${base}${path} -H "X-API-Key: $SVC_API_KEY"`;
  return html`<details class="same"><summary>The same as a command</summary>
    ${command && html`<pre data-copy="">${command}</pre>`}
    ${request && html`<pre data-copy="">${curl}</pre>`}
  </details>`;
}

/** Draws a page without a session: the sign-in, a link, an error. */
export function drawPlain(assets: AssetUrls, title: string, body: Part): string {
  return documentOf(
    assets,
    title,
    html`<body class="plain"><main id="main"><h1>${title}</h1>${body}</main></body>`,
  );
}
