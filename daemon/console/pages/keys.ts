// API keys: made, rotated and shown once, revoked.
import { html, type Part, together } from '../html.ts';
import type { Asked, Form, Page, View } from '../page.ts';
import { button, field, form, type List, link, state, table, time } from '../parts.ts';

interface Key {
  id: string;
  name: string | null;
  start: string;
  roleName: string;
  isActive: boolean;
  lastUsedAt: string | null;
  expiresAt: string | null;
  key?: string | null;
}

function once({ key, name }: Key): View {
  return {
    title: 'New key',
    body: html`<p>The key of ${name ?? 'the program'} is shown only this once:</p>
      <pre data-copy="">${key}</pre><p>${link('/keys', 'Back to the keys')}</p>`,
  };
}

async function list(asked: Asked): Promise<Part> {
  const { api, query, may } = asked;
  const found = await api.get<List<Key>>('/v1/api-keys', { page: query['page'] });
  return together(
    table(
      asked,
      found,
      [
        ['Name', ({ name, start }) => html`${name} <code>${start}…</code>`],
        ['Role', ({ roleName }) => roleName],
        ['Status', ({ isActive }) => state(isActive ? 'active' : 'disabled')],
        ['Last used', ({ lastUsedAt }) => (lastUsedAt ? time(lastUsedAt) : 'never')],
        ['Expires', ({ expiresAt }) => (expiresAt ? time(expiresAt) : 'never')],
        [
          'Actions',
          ({ id, isActive }) =>
            isActive &&
            html`${may('keys:write') && button(asked, { action: 'rotate', label: 'Rotate', fields: { id } })}
            ${may('keys:delete') && button(asked, { action: 'revoke', label: 'Revoke', fields: { id } })}`,
        ],
      ],
      'There is no key.',
    ),
    may('keys:write') && html`<h2>Make a key</h2>`,
    may('keys:write') &&
      form(
        asked,
        'make',
        'Make the key',
        html`
        ${field({ name: 'name', label: 'Name', isRequired: true })}
        ${field({ name: 'role', label: 'Role', value: 'sender', isRequired: true, hint: 'As in docs/keys.md: owner, admin, developer, sender, viewer' })}
      `,
      ),
  );
}

export const keyPages: readonly Page[] = [
  {
    path: '/keys',
    label: 'Keys',
    needs: 'keys:read',
    show: async (asked) => ({
      title: 'API keys',
      body: await list(asked),
      command: 'svc keys list',
      request: 'GET /v1/api-keys',
    }),
    actions: {
      make: {
        needs: 'keys:write',
        async run({ api }: Asked, { name = '', role = '' }: Form) {
          return once(await api.send<Key>('POST', '/v1/api-keys', { name, role }));
        },
      },
      rotate: {
        needs: 'keys:write',
        async run({ api }: Asked, { id = '' }: Form) {
          return once(
            await api.send<Key>('POST', `/v1/api-keys/${encodeURIComponent(id)}/rotate`, {}),
          );
        },
      },
      revoke: {
        needs: 'keys:delete',
        async run({ api }: Asked, { id = '' }: Form) {
          await api.send('DELETE', `/v1/api-keys/${encodeURIComponent(id)}`);
          return '/console/keys';
        },
      },
    },
  },
];
