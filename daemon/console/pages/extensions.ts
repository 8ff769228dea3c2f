// Installations of extensions: their grants in words, and their state.
import { html, together } from '../html.ts';
import type { Asked, Page, Titled } from '../page.ts';
import { button, facts, type List, link, state, table, time } from '../parts.ts';

interface Installation {
  id: string;
  displayName: string | null;
  name: string;
  version: { version: string };
  status: string;
  sendMode: string;
  permissions: readonly string[];
  events: readonly string[];
  createdAt: string;
}

interface Change {
  fromVersion: { version: string } | string | null;
  toVersion: { version: string } | string;
  changedAt: string;
}

const pathOf = ({ params }: Asked) => `/v1/extension-installations/${params['id']}`;

const versionOf = (version: Change['toVersion'] | null) =>
  typeof version === 'object' ? (version?.version ?? '–') : version;

async function one(asked: Asked): Promise<Titled> {
  const { api, may } = asked;
  const path = pathOf(asked);
  const [installed, changes] = await Promise.all([
    api.get<Installation>(path),
    api.get<List<Change>>(`${path}/version-changes`),
  ]);
  const isActive = installed.status === 'active';
  const body = together(
    may('extensions:write') &&
      html`<div class="row">
        ${isActive ? button(asked, { action: 'disable', label: 'Disable' }) : button(asked, { action: 'enable', label: 'Enable' })}
      </div>`,
    html`<p>${state(installed.status)} version ${installed.version.version}</p>`,
    facts(installed, [
      ['May', 'permissions'],
      ['Hears', 'events'],
      ['Sends', 'sendMode'],
      ['Mailboxes', 'scope.mailboxIds'],
      ['Webhook', 'webhook.url'],
      ['Installed by', 'createdBy.displayName'],
      ['Installed', 'createdAt'],
      ['Id', 'id'],
    ]),
    html`<h2>Changes of its version</h2>`,
    table(
      asked,
      changes,
      [
        ['From', ({ fromVersion }) => versionOf(fromVersion)],
        ['To', ({ toVersion }) => versionOf(toVersion)],
        ['When', ({ changedAt }) => time(changedAt)],
      ],
      'Its version was not changed yet.',
    ),
  );
  return { title: installed.displayName || installed.name, body };
}

const act = (verb: 'disable' | 'enable') => ({
  needs: 'extensions:write' as const,
  async run(asked: Asked) {
    await asked.api.send('POST', `${pathOf(asked)}/${verb}`, {});
    return `/console/extensions/${asked.params['id']}`;
  },
});

export const extensionPages: readonly Page[] = [
  {
    path: '/extensions',
    label: 'Extensions',
    needs: 'extensions:read',
    async show(asked) {
      const { cursor } = asked.query;
      const found = await asked.api.get<List<Installation>>('/v1/extension-installations', {
        cursor,
      });
      return {
        title: 'Extensions',
        body: table(
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
        command: 'svc extensions list',
        request: 'GET /v1/extension-installations',
      };
    },
  },
  {
    path: '/extensions/:id',
    needs: 'extensions:read',
    show: async (asked) => ({ ...(await one(asked)), request: `GET ${pathOf(asked)}` }),
    actions: { disable: act('disable'), enable: act('enable') },
  },
];
