// Groups of contacts with their members, and groups to unsubscribe from.
import { html, type Part, together } from '../html.ts';
import type { Asked, Page, View } from '../page.ts';
import { addressesIn, button, facts, field, form, type List, link, table } from '../parts.ts';
import { contactColumns } from './contacts.ts';

interface Group {
  id: string;
  name: string;
  description: string | null;
  memberCount: number | null;
  query: object | null;
}

interface UnsubscribeGroup {
  id: string;
  name: string;
  description: string | null;
  public: boolean;
  confirm: boolean;
}

const pathOf = ({ params }: Asked) => `/v1/contact-groups/${params['id']}`;
const named = html`${field({ name: 'name', label: 'Name', isRequired: true })}
  ${field({ name: 'description', label: 'Description' })}`;

function unsubscribeTable(asked: Asked, items: readonly UnsubscribeGroup[]): Part {
  return table(
    asked,
    { items },
    [
      ['Name', ({ name }) => name],
      ['Description', ({ description }) => description],
      ['Shown to recipients', (group) => (group.public ? 'yes' : 'no')],
      ['Double opt-in', ({ confirm }) => (confirm ? 'yes' : 'no')],
    ],
    'There is no such group yet: "svc unsubscribe-groups create" makes one.',
  );
}

async function list(asked: Asked): Promise<View> {
  const { api, query, may } = asked;
  const [groups, unsubscribing] = await Promise.all([
    api.get<List<Group>>('/v1/contact-groups', { page: query['page'] }),
    api.get<List<UnsubscribeGroup>>('/v1/unsubscribe-groups', { limit: 100 }),
  ]);
  const body = together(
    html`<h2>Groups of contacts</h2>`,
    table(
      asked,
      groups,
      [
        ['Name', ({ id, name }) => link(`/groups/${id}`, name)],
        ['Description', ({ description }) => description],
        ['Members', ({ memberCount, query: by }) => (by ? 'by query' : memberCount)],
      ],
      'There is no group yet: "svc groups create" makes one.',
    ),
    may('contacts:write') &&
      html`<details><summary>Make a group</summary>${form(asked, 'make', 'Make the group', named)}</details>`,
    html`<h2>Groups to unsubscribe from</h2>`,
    unsubscribeTable(asked, unsubscribing.items),
    may('contacts:write') &&
      html`<details><summary>Make a group to unsubscribe from</summary>${form(
        asked,
        'makeUnsubscribing',
        'Make the group',
        html`${named}
        <label><span><input type="checkbox" name="public" value="1" checked /> shown to recipients</span></label>
        <label><span><input type="checkbox" name="confirm" value="1" /> double opt-in</span></label>`,
      )}</details>`,
  );
  return { title: 'Groups', body, command: 'svc groups list', request: 'GET /v1/contact-groups' };
}

async function one(asked: Asked): Promise<View> {
  const { api, may, query, params } = asked;
  const [group, members] = await Promise.all([
    api.get<Group>(pathOf(asked)),
    api.get<List<Parameters<(typeof contactColumns)[0][1]>[0]>>(`${pathOf(asked)}/members`, {
      page: query['page'],
    }),
  ]);
  const byHand = group.query === null;
  const ids = field({
    name: 'ids',
    label: 'Ids of contacts',
    isRequired: true,
    hint: 'contact_…, divided by commas',
  });
  const body = together(
    facts(group, [
      ['Description', 'description'],
      ['Members', 'memberCount'],
      ['Id', 'id'],
    ]),
    !byHand &&
      html`<p>A contact that fits this query is a member:</p><pre>${JSON.stringify(group.query, null, 2)}</pre>`,
    table(asked, members, contactColumns, 'It has no members yet.'),
    byHand && may('contacts:write') && form(asked, 'add', 'Add members', ids),
    byHand && may('contacts:write') && form(asked, 'remove', 'Remove members', ids),
    may('contacts:delete') && button(asked, { action: 'delete', label: 'Delete the group' }),
  );
  return {
    title: group.name,
    body,
    command: `svc groups members ${params['id']}`,
    request: `GET ${pathOf(asked)}/members`,
  };
}

const members = (method: 'POST' | 'DELETE') => ({
  needs: 'contacts:write' as const,
  async run(asked: Asked, { ids }: Readonly<Record<string, string>>) {
    await asked.api.send(method, `${pathOf(asked)}/members`, { contactIds: addressesIn(ids) });
    return `/console${asked.path}`;
  },
});

export const groupPages: readonly Page[] = [
  {
    path: '/groups',
    label: 'Groups',
    needs: 'contacts:read',
    show: list,
    actions: {
      make: {
        needs: 'contacts:write',
        async run({ api }, { name = '', description = '' }) {
          const body = { name: name.trim(), description: description.trim() || null };
          const { id } = await api.send<Group>('POST', '/v1/contact-groups', body);
          return `/console/groups/${id}`;
        },
      },
      makeUnsubscribing: {
        needs: 'contacts:write',
        async run({ api }, given) {
          const { name = '', description = '' } = given;
          await api.send('POST', '/v1/unsubscribe-groups', {
            name: name.trim(),
            description: description.trim() || null,
            public: given['public'] === '1',
            confirm: given['confirm'] === '1',
          });
          return '/console/groups';
        },
      },
    },
  },
  {
    path: '/groups/:id',
    needs: 'contacts:read',
    show: one,
    actions: {
      add: members('POST'),
      remove: members('DELETE'),
      delete: {
        needs: 'contacts:delete',
        async run(asked) {
          await asked.api.send('DELETE', pathOf(asked));
          return '/console/groups';
        },
      },
    },
  },
];
