// Grants of extensions in words, and the installation with exactly the grants that were shown.
import type { Permission } from '../../../src/core/api/permission.ts';
import { permissionWords } from '../../../src/core/api/permission-words.ts';
import { installationRoutes } from '../../../src/extensions/installation-routes.ts';
import type { Installed } from '../../../src/extensions/installation-schema.ts';
import { extensionRoutes, extensionVersionRoutes } from '../../../src/extensions/routes.ts';
import type { ExtensionVersion } from '../../../src/extensions/schema.ts';
import { eventKinds } from '../../http/event-kinds.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Done, Form, Page, View } from '../page.ts';
import { facts } from '../parts/facts.ts';
import { addressesIn, choice, field, form } from '../parts/form.ts';
import { emptyState } from '../parts/table.ts';

const modeWords: Readonly<Record<string, string>> = {
  none: 'It never sends mail.',
  approval: 'A person approves its mail.',
  send: 'Its mail leaves at once.',
};

/** Returns a grant as a sentence; null for an unknown grant. */
function inSentence(grant: string): string | null {
  const [kind = ''] = grant.split(':');
  const name = grant.slice(kind.length + 1);
  if (kind === 'event') {
    const summary = eventKinds.find(({ type }) => type === name)?.summary;
    return summary ? `It hears: ${summary}` : null;
  }
  return Object.hasOwn(permissionWords, name)
    ? `It may ${permissionWords[name as Permission]}.`
    : null;
}

/** Draws grants as a list of sentences. */
export const sentences = (grants: readonly string[]): Part =>
  html`<ul>${grants.map((grant) => html`<li>${inSentence(grant)} <small>${grant}</small></li>`)}</ul>`;

type Grants = Pick<ExtensionVersion, 'permissions' | 'events'>;

export const grantsOf = ({ permissions, events }: Grants) =>
  [
    ...permissions.map((permission) => `permission:${permission}`),
    ...events.map((event) => `event:${event}`),
  ].sort();

/** Splits names of grants at their spaces. */
export const namesIn = (text = '') => text.split(' ').filter((word) => word !== '');

/** Leads to the page of an installation, which shows the credentials once. */
export function credentials({ id, key, webhook }: Installed): Done {
  const fields = [
    { label: 'Key', value: key },
    ...(webhook ? [{ label: 'Secret that signs the events', value: webhook.secret }] : []),
  ];
  return {
    to: `/console/extensions/${id}`,
    secret: { title: 'Credentials of the extension', fields },
  };
}

function accepting(asked: Asked, version: ExtensionVersion): Part {
  const modes = version.sendModes.map((mode) => html`<li>${mode}: ${modeWords[mode]}</li>`);
  return form(
    asked,
    'install',
    'Accept these grants and install it',
    html`
    <input type="hidden" name="version" value=${version.id} />
    <input type="hidden" name="grants" value=${grantsOf(version).join(' ')} />
    ${choice({ name: 'sendMode', label: 'Its mail', options: version.sendModes, empty: 'the strictest that it offers' })}
    <ul>${modes}</ul>
    ${field({ name: 'mailboxIds', label: 'Mailboxes that it reaches', hint: 'mbx_…, divided by commas. Empty: all' })}
    ${field({ name: 'namespaceId', label: 'Or those of a namespace' })}
    ${version.runtime === 'webhook' && field({ name: 'webhookUrl', label: 'URL of its webhook', type: 'url', isRequired: true })}
  `,
  );
}

/** Draws the grants of the latest version, and the form that accepts exactly these grants. */
async function show(asked: Asked): Promise<View> {
  const { ask, params } = asked;
  const id = params['extensionId'];
  const extension = await ask(extensionRoutes.get, { params: { id } });
  const { displayName, name, description, latestVersion } = extension;
  const title = `Install ${displayName || name}`;
  if (!latestVersion) return { title, body: emptyState('It has no version yet.') };
  const latest = { id, version: latestVersion.id };
  const version = await ask(extensionVersionRoutes.get, { params: latest });
  const body = together(
    html`<p>${description}</p>`,
    facts(version, [
      ['Version', 'version'],
      ['What is new', 'changelog'],
    ]),
    html`<h2>What it asks for</h2><p>It gets this, and nothing else:</p>`,
    sentences(grantsOf(version)),
    asked.may('extensions:write') && accepting(asked, version),
  );
  return {
    title,
    body,
    command: `svc extensions install ${id}`,
    request: `GET /v1/extensions/${id}/versions/${latestVersion.id}`,
  };
}

async function install({ ask, params }: Asked, given: Form): Promise<Done> {
  const { version, grants, sendMode, webhookUrl, namespaceId = '' } = given;
  const mailboxIds = addressesIn(given['mailboxIds']);
  const namespace = namespaceId.trim() || null;
  const body = {
    extensionId: params['extensionId'],
    version,
    acceptPermissions: namesIn(grants),
    scope: { mailboxIds, namespaceId: namespace },
    ...(sendMode && { sendMode }),
    ...(webhookUrl && { webhookUrl: webhookUrl.trim() }),
  };
  return credentials(await ask(installationRoutes.create, { body }));
}

export const installPage: Page = {
  path: '/extensions/install/:extensionId',
  needs: 'extensions:read',
  show,
  actions: { install: { needs: 'extensions:write', asks: 'install this extension', run: install } },
};
