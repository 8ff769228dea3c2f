// Installations of extensions: their grants in words, upgrades with their difference first, and new ones.
import { html, type Part, together } from '../html.ts';
import type { Action, Asked, Form, Page, View } from '../page.ts';
import {
  button,
  choice,
  facts,
  field,
  form,
  type List,
  link,
  state,
  table,
  time,
  written,
} from '../parts.ts';

interface Installation {
  id: string;
  extensionId: string;
  displayName: string | null;
  name: string;
  version: { version: string };
  runtime: string;
  status: string;
  sendMode: string;
  permissions: readonly string[];
  events: readonly string[];
  createdAt: string;
}

interface Installed extends Installation {
  key: string;
  webhook: { secret: string } | null;
}

interface Change {
  fromVersion: { version: string } | null;
  toVersion: { version: string };
  permissionDiff: { added: readonly string[]; removed: readonly string[] };
  changedAt: string;
}

interface Version {
  version: string;
  permissions: readonly string[];
  events: readonly string[];
  sendModes: readonly string[];
}

const pathOf = ({ params }: Asked) => `/v1/extension-installations/${params['id']}`;
const sendModes = ['none', 'approval', 'send'];

const verbs: ReadonlyMap<string, string> = new Map([
  ['read', 'read'],
  ['write', 'make and change'],
  ['delete', 'delete'],
  ['send', 'send mail of its'],
  ['configure', 'configure'],
  ['run', 'run'],
]);

/** Returns a grant as a sentence. */
function inSentence(grant: string): string {
  const [kind, resource = '', action = ''] = grant.split(':');
  if (kind === 'event') return `It hears of ${grant.slice('event:'.length)}.`;
  return `It may ${verbs.get(action) ?? action} ${resource}.`;
}

const sentences = (grants: readonly string[]): Part =>
  html`<ul>${grants.map((grant) => html`<li>${inSentence(grant)} <small>${grant}</small></li>`)}</ul>`;

const grantsOf = ({ permissions, events }: Pick<Version, 'permissions' | 'events'>) =>
  [
    ...permissions.map((permission) => `permission:${permission}`),
    ...events.map((event) => `event:${event}`),
  ].sort();

async function list(asked: Asked): Promise<View> {
  const { api, query, may } = asked;
  const [found, known] = await Promise.all([
    api.get<List<Installation>>('/v1/extension-installations', { cursor: query['cursor'] }),
    api.get<List<{ id: string; name: string }>>('/v1/extensions', { limit: 100 }),
  ]);
  const body = together(
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

/** Draws the grants of the newest version, and the form that accepts exactly these. */
async function installing(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { api, params } = asked;
  const path = `/v1/extensions/${params['extensionId']}`;
  const [extension, { items }] = await Promise.all([
    api.get<{ name: string; displayName: string | null; runtime: string }>(path),
    api.get<List<Version>>(`${path}/versions`, { limit: 1 }),
  ]);
  const [version] = items;
  const title = `Install ${extension.displayName || extension.name}`;
  if (!version) return { title, body: html`<p class="empty">It has no version yet.</p>` };
  const body = together(
    problem,
    html`<p>Version ${version.version}. Nothing else is granted:</p>`,
    sentences(grantsOf(version)),
    asked.may('extensions:write') &&
      form(
        asked,
        'install',
        'Accept these grants and install it',
        html`
      <input type="hidden" name="version" value=${version.version} />
      <input type="hidden" name="grants" value=${grantsOf(version).join(' ')} />
      ${choice({ name: 'sendMode', label: 'Its mail', options: version.sendModes, value: given['sendMode'] })}
      ${extension.runtime === 'webhook' && field({ name: 'webhookUrl', label: 'URL of its webhook', type: 'url', value: given['webhookUrl'], isRequired: true })}
    `,
      ),
  );
  return { title, body, request: `GET ${path}/versions` };
}

const split = (text = '') => text.split(' ').filter((word) => word !== '');

/** Draws the credentials of an installation, once. */
function once({ id, key, webhook }: Installed): View {
  return {
    title: 'Credentials of the extension',
    body: together(
      html`<p>They are shown only this once. Its key:</p><pre data-copy="">${key}</pre>`,
      webhook &&
        html`<p>The secret that signs its events:</p><pre data-copy="">${webhook.secret}</pre>`,
      html`<p>${link(`/extensions/${id}`, 'Go on to the extension')}</p>`,
    ),
  };
}

async function install({ api, params }: Asked, given: Form): Promise<View> {
  const { version, grants, sendMode, webhookUrl } = given;
  const body = {
    extensionId: params['extensionId'],
    version,
    acceptPermissions: split(grants),
    ...(sendMode && { sendMode }),
    ...(webhookUrl && { webhookUrl: webhookUrl.trim() }),
  };
  return once(await api.send<Installed>('POST', '/v1/extension-installations', body));
}

function controls(asked: Asked, { status }: Installation): Part {
  const { may } = asked;
  const isActive = status === 'active';
  return html`<div class="row">
    ${may('extensions:write') && button(asked, isActive ? { action: 'disable', label: 'Disable' } : { action: 'enable', label: 'Enable' })}
    ${may('extensions:write') && button(asked, { action: 'rotate', label: 'Replace its key and secret' })}
    ${may('extensions:write') && button(asked, { action: 'preview', label: 'Show the upgrade to the newest version' })}
    ${may('extensions:delete') && button(asked, { action: 'uninstall', label: 'Uninstall' })}
  </div>`;
}

async function one(asked: Asked): Promise<View> {
  const { api, may } = asked;
  const path = pathOf(asked);
  const [installed, changes] = await Promise.all([
    api.get<Installation>(path),
    api.get<List<Change>>(`${path}/version-changes`),
  ]);
  const body = together(
    controls(asked, installed),
    html`<p>${state(installed.status)} version ${installed.version.version}</p>`,
    sentences(grantsOf(installed)),
    facts(installed, [
      ['Sends', 'sendMode'],
      ['Mailboxes', 'scope.mailboxIds'],
      ['Webhook', 'webhook.url'],
      ['Installed by', 'createdBy.displayName'],
      ['Installed', 'createdAt'],
      ['Id', 'id'],
    ]),
    may('extensions:write') &&
      html`<details><summary>Change its mail</summary>${form(asked, 'change', 'Save', choice({ name: 'sendMode', label: 'Its mail', options: sendModes, value: installed.sendMode }))}</details>`,
    html`<h2>Changes of its version</h2>`,
    table(
      asked,
      changes,
      [
        ['From', ({ fromVersion }) => fromVersion?.version],
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
    request: `GET ${path}`,
  };
}

/** Shows an upgrade without making it, with the form that makes exactly this one. */
async function preview(asked: Asked): Promise<View> {
  const path = `${pathOf(asked)}/upgrade`;
  const change = await asked.api.send<Change>('POST', path, { dryRun: true });
  const { fromVersion, toVersion, permissionDiff } = change;
  const { added, removed } = permissionDiff;
  const body = together(
    html`<p>From version ${fromVersion?.version} to ${toVersion.version}.</p>`,
    html`<h2>It gets</h2>${added.length > 0 ? sentences(added) : html`<p>Nothing more.</p>`}`,
    html`<h2>It loses</h2>${removed.length > 0 ? sentences(removed) : html`<p>Nothing.</p>`}`,
    form(
      asked,
      'upgrade',
      'Accept the difference and upgrade',
      html`
      <input type="hidden" name="from" value=${fromVersion?.version} />
      <input type="hidden" name="to" value=${toVersion.version} />
      <input type="hidden" name="grants" value=${added.join(' ')} />
    `,
    ),
    html`<p>${link(`/extensions/${asked.params['id']}`, 'Back to the extension')}</p>`,
  );
  return { title: 'Upgrade', body, request: `POST ${path}` };
}

const act = (run: (asked: Asked, given: Form) => Promise<unknown>): Action => ({
  needs: 'extensions:write',
  async run(asked, given) {
    await run(asked, given);
    return `/console/extensions/${asked.params['id']}`;
  },
});

export const extensionPages: readonly Page[] = [
  { path: '/extensions', label: 'Extensions', needs: 'extensions:read', show: list },
  {
    path: '/extensions/install/:extensionId',
    needs: 'extensions:read',
    show: (asked) => installing(asked, {}),
    actions: {
      install: written('extensions:write', install, installing),
    },
  },
  {
    path: '/extensions/:id',
    needs: 'extensions:read',
    show: one,
    actions: {
      disable: act((asked) => asked.api.send('POST', `${pathOf(asked)}/disable`, {})),
      enable: act((asked) => asked.api.send('POST', `${pathOf(asked)}/enable`, {})),
      change: act((asked, { sendMode }) => asked.api.send('PATCH', pathOf(asked), { sendMode })),
      rotate: {
        needs: 'extensions:write',
        run: async (asked) =>
          once(await asked.api.send<Installed>('POST', `${pathOf(asked)}/rotate-credentials`, {})),
      },
      preview: { needs: 'extensions:write', run: preview },
      upgrade: act((asked, { from, to, grants }) =>
        asked.api.send('POST', `${pathOf(asked)}/upgrade`, {
          version: to,
          expectedVersion: from,
          acceptPermissions: split(grants),
        }),
      ),
      uninstall: {
        needs: 'extensions:delete',
        async run(asked) {
          await asked.api.send('DELETE', pathOf(asked));
          return '/console/extensions';
        },
      },
    },
  },
];
