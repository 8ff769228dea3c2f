// API keys: created with a role or single permissions, rotated, shown once, changed and revoked.

import { keyRoutes } from '../../../src/access/keys/routes.ts';
import type { ApiKey } from '../../../src/access/keys/schema.ts';
import { everyPermission, type PermissionMap } from '../../../src/core/api/permission.ts';
import type { KeyConstraints } from '../../../src/core/api/route.ts';
import type { Role } from '../../../src/core/config/roles.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Done, Form, Page, View } from '../page.ts';
import { calls } from '../parts/calls.ts';
import { card } from '../parts/card.ts';
import { confirmed } from '../parts/confirm.ts';
import { facts, inWords } from '../parts/facts.ts';
import { addressesIn, choice, field, form } from '../parts/form.ts';
import { link } from '../parts/link.ts';
import { table } from '../parts/table.ts';
import { time } from '../parts/times.ts';
import { state } from '../states.ts';

/** Roles as cards: a word, and what a program with the key may do. The most usual stand first. */
const roleCards: Readonly<Record<Role, readonly [word: string, may: string]>> = {
  sender: ['Send mail', 'sends single mails and follows them, with templates'],
  viewer: ['Read only', 'sees everything, changes and sends nothing'],
  support: ['Inbox', 'reads and answers mailboxes, sees contacts'],
  editor: ['Campaigns', 'campaigns, templates, brands and contacts'],
  analyst: ['Figures', 'sees figures and campaigns, no addresses'],
  developer: ['Build', 'everything but keys, people and the organization'],
  admin: ['Manage', 'everything, but makes no owner'],
  owner: ['Own', 'everything'],
};

const constraintFields = {
  senders: 'From addresses that it may use',
  domains: 'Domains that it may send from',
  ipRanges: 'Networks that it may be used from',
  mailboxIds: 'Mailboxes that it reaches (mbx_…)',
  namespaceId: 'Namespace of its mailboxes (ns_…)',
} satisfies Record<keyof KeyConstraints, string>;

/** Leads to the page of a key, which shows the key itself once. */
function once({ id, key, name }: ApiKey): Done {
  const fields = [{ label: 'Key', value: key ?? '' }];
  return {
    to: `/console/keys/${id}`,
    secret: { title: `The key of ${name ?? 'a program'}`, fields },
  };
}

/** Draws the word for a role. The name of the role in the API is the tooltip. */
function roleWord(name: string): Part {
  const known = Object.entries(roleCards).find(([role]) => role === name);
  return known ? html`<span title=${name}>${known[1][0]}</span>` : 'Single permissions';
}

/** Returns the permissions that are ticked in a form; null if no permission is ticked. */
function permissionsIn(given: Form): PermissionMap | null {
  const map: Record<string, string[]> = {};
  for (const permission of everyPermission()) {
    if (given[permission] !== '1') continue;
    const [resource = '', action = ''] = permission.split(':');
    map[resource] = [...(map[resource] ?? []), action];
  }
  return Object.keys(map).length > 0 ? map : null;
}

/** Returns the constraints in a form; null without constraints. */
function constraintsIn(given: Form): object | null {
  const values = Object.keys(constraintFields).map((name) => {
    const value = given[name]?.trim() ?? '';
    return [name, name === 'namespaceId' ? value : addressesIn(value)] as const;
  });
  const filled = values.filter(([, value]) => value.length > 0);
  return filled.length > 0 ? Object.fromEntries(filled) : null;
}

function constraintInputs(values: Form = {}): Part {
  return Object.entries(constraintFields).map(([name, label]) =>
    field({ name, label, value: values[name] }),
  );
}

function newKey(asked: Asked): Part {
  const tick = (permission: string) =>
    html`<label><span><input type="checkbox" name=${permission} value="1" /> ${permission}</span></label>`;
  const draw = ([role, [word, may]]: [string, readonly [string, string]]) =>
    html`<label class="pick"><input type="radio" name="role" value=${role} checked=${role === 'sender'} /> <span><b>${word}</b> <small title=${role}>${may}</small></span></label>`;
  return form(
    asked,
    'make',
    'Make the key',
    html`
    ${field({ name: 'name', label: 'Name', isRequired: true })}
    <fieldset><legend>What may it do?</legend><div class="roles">${Object.entries(roleCards).map(draw)}</div></fieldset>
    <details><summary>Single permissions in place of these</summary><div class="ticks">${everyPermission().map(tick)}</div></details>
    <details><summary>Limits of its use</summary>
      ${choice({ name: 'mode', label: 'A test key reaches only simulators and local mailboxes', options: ['live', 'test'] })}
      ${choice({ name: 'owner', label: 'Held by', options: ['service', 'person'] })}
      ${choice({ name: 'sendMode', label: 'Mail from its mailboxes', options: ['send', 'approval'] })}
      ${field({ name: 'expiresAt', label: 'Expires', type: 'date' })}
      ${constraintInputs()}
    </details>
  `,
  );
}

async function list(asked: Asked): Promise<View> {
  const { ask, query, may } = asked;
  const found = await ask(keyRoutes.list, { query: { page: query['page'] } });
  const body = together(
    table(
      asked,
      found,
      [
        [
          'Name',
          ({ id, name, start }) =>
            html`${link(`/keys/${id}`, name ?? start)} <code>${start}…</code>`,
        ],
        ['May', ({ roleName }) => roleWord(roleName)],
        ['Status', ({ isActive }) => state(isActive ? 'active' : 'disabled')],
        ['Last used', ({ lastUsedAt }) => (lastUsedAt ? time(lastUsedAt) : 'never')],
        ['Expires', ({ expiresAt }) => (expiresAt ? time(expiresAt) : 'never')],
      ],
      'There is no key.',
    ),
    may('keys:write') && card('Make a key', newKey(asked), { id: 'make' }),
  );
  return {
    title: 'API keys',
    below: 'Programs use the service with a key. Its text is shown once.',
    actions: may('keys:write') && html`<a class="btn" href="#make">Make a key</a>`,
    body,
    command: 'svc keys list',
    request: 'GET /v1/api-keys',
  };
}

async function make({ ask }: Asked, given: Form): Promise<Done> {
  const { name = '', role, mode, owner, sendMode, expiresAt } = given;
  const permissions = permissionsIn(given);
  const constraints = constraintsIn(given);
  const body = {
    name,
    ...(permissions ? { permissions } : role && { role }),
    ...(mode && { mode }),
    ...(owner && { owner }),
    ...(sendMode && { sendMode }),
    ...(expiresAt && { expiresAt }),
    ...(constraints && { constraints }),
  };
  return once(await ask(keyRoutes.create, { body }));
}

async function one(asked: Asked): Promise<View> {
  const { ask, params, may } = asked;
  const key = await ask(keyRoutes.get, { params });
  const { isActive, permissions } = key;
  const limits = Object.entries(key.constraints ?? {});
  const values: Form = {
    name: key.name ?? '',
    description: key.description ?? '',
    ...Object.fromEntries(limits.map(([name, value]) => [name, [value].flat().join(', ')])),
  };
  const body = together(
    isActive &&
      html`<div class="row">
        ${may('keys:write') && confirmed(asked, { action: 'rotate', label: 'Replace the key', question: 'Make a new key in its place?', goes: 'The new key is shown once. Programs with the old key need it.', more: choice({ name: 'grace', label: 'The old key works', options: [['86400', 'for a day more']], empty: 'no more' }), look: '' })}
        ${may('keys:delete') && confirmed(asked, { action: 'revoke', label: 'Revoke', question: `Revoke ${key.name ?? 'this key'}?`, goes: 'Programs with this key are refused at once. Nothing brings it back.' })}
      </div>`,
    html`<p>${state(isActive ? 'active' : 'disabled')} <code>${key.start}…</code></p>`,
    facts(key, [
      ['Role', 'roleName'],
      ['Held by', 'owner'],
      ['Mail from its mailboxes', 'sendMode'],
      ['Made', 'createdAt'],
      ['Last used', 'lastUsedAt'],
      ['Expires', 'expiresAt'],
      ['Id', 'id'],
    ]),
    html`<h2>Permissions</h2>`,
    html`<p>${inWords(Object.entries(permissions).map(([resource, actions]) => `${resource}: ${actions.join(' ')}`))}</p>`,
    isActive && may('keys:write') && html`<h2>Change</h2>`,
    isActive &&
      may('keys:write') &&
      form(
        asked,
        'change',
        'Save',
        html`
        ${field({ name: 'name', label: 'Name', value: values['name'] })}
        ${field({ name: 'description', label: 'Description', value: values['description'] })}
        ${constraintInputs(values)}
      `,
      ),
  );
  return {
    title: key.name ?? 'Key',
    body,
    command: `svc keys show ${key.id}`,
    request: `GET /v1/api-keys/${key.id}`,
  };
}

export const keyPages: readonly Page[] = [
  {
    path: '/keys',
    needs: 'keys:read',
    show: list,
    actions: {
      make: { needs: 'keys:write', asks: 'make this key', run: make },
    },
  },
  {
    path: '/keys/:id',
    needs: 'keys:read',
    show: one,
    actions: {
      change: calls(keyRoutes.update, {
        asks: 'change this key',
        body: (given) => ({
          name: given['name']?.trim() || null,
          description: given['description']?.trim() || null,
          constraints: constraintsIn(given),
        }),
      }),
      rotate: {
        needs: 'keys:write',
        asks: 'rotate this key',
        destroys: true,
        async run({ ask, params }, { grace }) {
          const body = grace ? { graceSeconds: Number(grace) } : {};
          return once(await ask(keyRoutes.rotate, { params, body }));
        },
      },
      revoke: calls(keyRoutes.revoke, {
        asks: 'revoke this key',
        destroys: true,
        to: '/keys',
        said: 'The key is revoked.',
      }),
    },
  },
];
