// Installations of extensions: their grants in words, and upgrades with the changed grants first.
// extension-install.ts installs an extension.
import { sendModes } from '../../../src/core/api/route.ts';
import { installationStatuses } from '../../../src/extensions/installation-queries.ts';
import { installationRoutes } from '../../../src/extensions/installation-routes.ts';
import type { Installation } from '../../../src/extensions/installation-schema.ts';
import { extensionRoutes } from '../../../src/extensions/routes.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Form, Page, View } from '../page.ts';
import { calls } from '../parts/calls.ts';
import { confirmed } from '../parts/confirm.ts';
import { facts } from '../parts/facts.ts';
import { filters } from '../parts/filter-row.ts';
import { button, choice, field, form } from '../parts/form.ts';
import { link } from '../parts/link.ts';
import { table } from '../parts/table.ts';
import { time } from '../parts/times.ts';
import { state } from '../states.ts';
import { credentials, grantsOf, installPage, namesIn, sentences } from './extension-install.ts';

const pathOf = ({ params }: Asked) => `/v1/extension-installations/${params['id']}`;

async function list(asked: Asked): Promise<View> {
  const { ask, may } = asked;
  const { status, extensionId, cursor } = asked.query;
  const [found, known] = await Promise.all([
    ask(installationRoutes.list, { query: { status, extensionId, cursor } }),
    ask(extensionRoutes.list, { query: { limit: 100 } }),
  ]);
  const body = together(
    filters(html`
      ${choice({ name: 'status', label: 'Status', options: installationStatuses, value: status })}
      ${field({ name: 'extensionId', label: 'Id of the extension', value: extensionId })}
    `),
    table(
      asked,
      found,
      [
        ['Name', ({ id, displayName, name }) => link(`/extensions/${id}`, displayName || name)],
        ['Version', ({ version }) => version.version],
        ['Status', ({ status }) => state(status)],
        ['Sends', ({ sendMode }) => sendMode],
        ['Installed', ({ createdAt }) => time(createdAt)],
      ],
      'No extension is installed. "svc extensions install" shows the grants of one before you accept them.',
    ),
    may('extensions:write') && known.items.length > 0 && html`<h2>Install</h2>`,
    may('extensions:write') &&
      html`<ul>${known.items.map(({ id, name }) => html`<li>${link(`/extensions/install/${id}`, name)}</li>`)}</ul>`,
  );
  return {
    title: 'Extensions',
    body,
    command: 'svc extensions list',
    request: 'GET /v1/extension-installations',
  };
}

function controls(asked: Asked, { status, name, displayName }: Installation): Part {
  const { may } = asked;
  const isActive = status === 'active';
  return html`<div class="row">
    ${may('extensions:write') && button(asked, isActive ? { action: 'disable', label: 'Disable' } : { action: 'enable', label: 'Enable' })}
    ${may('extensions:write') && confirmed(asked, { action: 'rotate', label: 'Replace its key and secret', question: 'Make new credentials?', goes: 'The present key ends at once. The new ones are shown once.', look: '' })}
    ${may('extensions:delete') && confirmed(asked, { action: 'uninstall', label: 'Uninstall', question: `Uninstall ${displayName || name}?`, goes: 'Its key and its webhook end at once. What it wrote stays.' })}
  </div>`;
}

/** Draws the forms that change an installation. An upgrade is previewed before it is made. */
function changes(asked: Asked, { sendMode }: Installation): Part {
  const mode = choice({
    name: 'sendMode',
    label: 'Its mail',
    options: sendModes,
    value: sendMode,
    empty: 'as it is',
  });
  const version = field({
    name: 'version',
    label: 'Version',
    hint: 'Empty: the latest. An older one rolls back',
  });
  return together(
    html`<details><summary>Change its mail</summary>${form(asked, 'change', 'Save', mode)}</details>`,
    html`<details><summary>Change its version</summary>${form(asked, 'preview', 'Show what would change', version)}</details>`,
  );
}

async function one(asked: Asked): Promise<View> {
  const { ask, params, may } = asked;
  const [installed, versions] = await Promise.all([
    ask(installationRoutes.get, { params }),
    ask(installationRoutes.changes, { params }),
  ]);
  const body = together(
    controls(asked, installed),
    html`<p>${state(installed.status)} version ${installed.version.version}</p>`,
    html`<h2>What it may do</h2>`,
    sentences(grantsOf(installed)),
    facts(installed, [
      ['Sends', 'sendMode'],
      ['Mailboxes', 'scope.mailboxIds'],
      ['Namespace', 'scope.namespaceId'],
      ['Webhook', 'webhook.url'],
      ['Installed by', 'createdBy.displayName'],
      ['Installed', 'createdAt'],
      ['Id', 'id'],
    ]),
    may('extensions:write') && changes(asked, installed),
    html`<h2>Changes of its version</h2>`,
    table(
      asked,
      versions,
      [
        ['From', ({ fromVersion }) => fromVersion.version],
        ['To', ({ toVersion }) => toVersion.version],
        ['More', ({ permissionDiff }) => permissionDiff.added.join(', ')],
        ['Fewer', ({ permissionDiff }) => permissionDiff.removed.join(', ')],
        ['When', ({ changedAt }) => time(changedAt)],
      ],
      'Its version was not changed yet.',
    ),
  );
  return {
    title: installed.displayName || installed.name,
    body,
    command: `svc extensions installation ${installed.id}`,
    request: `GET ${pathOf(asked)}`,
  };
}

/** Shows an upgrade without making it, with the form that makes exactly this upgrade. */
async function preview(asked: Asked, { version = '' }: Form): Promise<View> {
  const { ask, params } = asked;
  const wanted = { version: version.trim() || null, dryRun: true };
  const change = await ask(installationRoutes.upgrade, { params, body: wanted });
  const { fromVersion, toVersion, permissionDiff } = change;
  const { added, removed } = permissionDiff;
  const body = together(
    html`<p>From version ${fromVersion.version} to ${toVersion.version}.</p>`,
    html`<h2>It gets</h2>${added.length > 0 ? sentences(added) : html`<p>Nothing more.</p>`}`,
    html`<h2>It loses</h2>${removed.length > 0 ? sentences(removed) : html`<p>Nothing.</p>`}`,
    form(
      asked,
      'upgrade',
      'Accept the difference and upgrade',
      html`
      <input type="hidden" name="from" value=${fromVersion.id} />
      <input type="hidden" name="to" value=${toVersion.id} />
      <input type="hidden" name="grants" value=${added.join(' ')} />
    `,
    ),
    html`<p>${link(`/extensions/${params['id']}`, 'Back to the extension')}</p>`,
  );
  return { title: 'Upgrade', body, request: `POST ${pathOf(asked)}/upgrade` };
}

export const extensionPages: readonly Page[] = [
  { path: '/extensions', needs: 'extensions:read', show: list },
  installPage,
  {
    path: '/extensions/:id',
    needs: 'extensions:read',
    show: one,
    actions: {
      disable: calls(installationRoutes.disable),
      enable: calls(installationRoutes.enable, { asks: 'enable this extension' }),
      change: calls(installationRoutes.update, {
        asks: 'change this extension',
        body: ({ sendMode }) => (sendMode ? { sendMode } : {}),
      }),
      rotate: {
        needs: 'extensions:write',
        asks: 'make new credentials',
        destroys: true,
        run: async ({ ask, params }) =>
          credentials(await ask(installationRoutes.rotate, { params })),
      },
      preview: { needs: 'extensions:write', run: preview },
      upgrade: calls(installationRoutes.upgrade, {
        asks: 'upgrade this extension',
        body: ({ from, to, grants }) => ({
          version: to,
          expectedVersion: from,
          acceptPermissions: namesIn(grants),
        }),
      }),
      uninstall: calls(installationRoutes.delete, {
        destroys: true,
        to: '/extensions',
        said: 'The extension is uninstalled.',
      }),
    },
  },
];
