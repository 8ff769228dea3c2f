// Groups of contacts with their members. unsubscribe-groups.ts has the groups to unsubscribe from.

import { unsubscribeGroupRoutes } from '../../../../src/consent/opt-in/group-routes.ts';
import { contactGroupRoutes } from '../../../../src/people/contacts/groups/routes.ts';
import type { Contact } from '../../../../src/people/contacts/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { facts } from '../../parts/facts.ts';
import { addressesIn, button, field, form, jsonIn } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { written } from '../../parts/written.ts';
import { contactColumns } from './contacts.ts';
import { makeUnsubscribing, unsubscribePages, unsubscribeTable } from './unsubscribe-groups.ts';

const queryHint =
  'JSON: {"all": [{"tag": "customer"}, {"status": "active"}]}. Empty: members are added by hand';

function fieldsOf(given: Form, hasQuery: boolean): Part {
  return html`
    ${field({ name: 'name', label: 'Name', value: given['name'], isRequired: true })}
    ${field({ name: 'description', label: 'Description', value: given['description'] })}
    ${hasQuery && field({ name: 'query', label: 'Query', type: 'textarea', value: given['query'], hint: queryHint })}
  `;
}

function bodyOf({ name = '', description = '', query }: Form): object {
  const conditions = jsonIn(query, 'The query');
  return {
    name: name.trim(),
    description: description.trim() || null,
    ...(conditions !== null && { query: conditions }),
  };
}

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, query, may } = asked;
  const [groups, unsubscribing] = await Promise.all([
    ask(contactGroupRoutes.list, { query: { page: query['page'] } }),
    ask(unsubscribeGroupRoutes.list, { query: { limit: 100 } }),
  ]);
  const body = together(
    problem,
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
      html`<details open=${given['_action'] === 'make'}><summary>Make a group</summary>${form(asked, 'make', 'Make the group', fieldsOf(given, true))}</details>`,
    unsubscribeTable(asked, unsubscribing.items, given),
  );
  return { title: 'Groups', body, command: 'svc groups list', request: 'GET /v1/contact-groups' };
}

function addMembers(asked: Asked, given: Form): Part {
  const ids = field({
    name: 'ids',
    label: 'Ids of contacts',
    value: given['ids'],
    isRequired: true,
    hint: 'contact_…, divided by commas',
  });
  return form(asked, 'add', 'Add members', ids, [{ action: 'remove', label: 'Remove members' }]);
}

async function one(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, may, query, params } = asked;
  const [group, members] = await Promise.all([
    ask(contactGroupRoutes.get, { params }),
    ask(contactGroupRoutes.members, { params, query: { page: query['page'] } }),
  ]);
  const byHand = group.query === null;
  const remove = ({ id }: Contact) =>
    button(asked, { action: 'remove', label: 'Remove', fields: { ids: id } });
  const mayChange = byHand && may('contacts:write');
  const columns = mayChange ? [...contactColumns, ['Actions', remove] as const] : contactColumns;
  const values =
    given['_action'] === 'change'
      ? given
      : {
          name: group.name,
          description: group.description ?? '',
          query: JSON.stringify(group.query, null, 2),
        };
  const body = together(
    problem,
    facts(group, [
      ['Description', 'description'],
      ['Members', 'memberCount'],
      ['Id', 'id'],
    ]),
    !byHand &&
      html`<p>A contact that fits this query is a member:</p><pre>${JSON.stringify(group.query, null, 2)}</pre>`,
    table(asked, members, columns, 'It has no members yet.'),
    mayChange && addMembers(asked, given),
    may('contacts:write') &&
      html`<details open=${given['_action'] === 'change'}><summary>Change the group</summary>${form(asked, 'change', 'Save', fieldsOf(values, !byHand))}</details>`,
    may('contacts:delete') && button(asked, { action: 'delete', label: 'Delete the group' }),
  );
  return {
    title: group.name,
    body,
    command: `svc groups members ${params['id']}`,
    request: `GET /v1/contact-groups/${params['id']}/members`,
  };
}

const members = (verb: 'add' | 'remove') =>
  written(
    'contacts:write',
    async ({ ask, params, path }, { ids }) => {
      await ask(contactGroupRoutes[verb], { params, body: { contactIds: addressesIn(ids) } });
      return `/console${path}`;
    },
    one,
  );

export const groupPages: readonly Page[] = [
  {
    path: '/groups',
    needs: 'contacts:read',
    show: (asked) => list(asked, {}),
    actions: {
      make: written(
        'contacts:write',
        async ({ ask }, given) => {
          const { id } = await ask(contactGroupRoutes.create, { body: bodyOf(given) });
          return `/console/groups/${id}`;
        },
        list,
      ),
      makeUnsubscribing: written('contacts:write', makeUnsubscribing, list),
    },
  },
  {
    path: '/groups/:id',
    needs: 'contacts:read',
    show: (asked) => one(asked, {}),
    actions: {
      add: members('add'),
      remove: members('remove'),
      change: written(
        'contacts:write',
        async ({ ask, params, path }, given) => {
          await ask(contactGroupRoutes.update, { params, body: bodyOf(given) });
          return `/console${path}`;
        },
        one,
      ),
      delete: {
        needs: 'contacts:delete',
        async run({ ask, params }) {
          await ask(contactGroupRoutes.delete, { params });
          return '/console/groups';
        },
      },
    },
  },
  ...unsubscribePages,
];
