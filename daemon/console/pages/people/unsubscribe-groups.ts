// Groups to unsubscribe from, and the members of a group with double opt-in.

import { unsubscribeGroupRoutes } from '../../../../src/consent/opt-in/group-routes.ts';
import { memberStatuses } from '../../../../src/consent/opt-in/queries.ts';
import { memberRoutes } from '../../../../src/consent/opt-in/routes.ts';
import type { AddResult, Member } from '../../../../src/consent/opt-in/schema.ts';
import type { UnsubscribeGroup } from '../../../../src/people/unsubscribe-groups/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { facts } from '../../parts/facts.ts';
import { filters } from '../../parts/filter-row.ts';
import { addressesIn, button, check, choice, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { written } from '../../parts/written.ts';
import { state } from '../../states.ts';

const results: Readonly<Record<AddResult, string>> = {
  asked: 'a mail asks it to confirm',
  recent: 'it was asked less than an hour ago',
  limit: 'it was asked three times, and not again',
  confirmed: 'it has confirmed already',
  blocked: 'its address gets no mail',
};

function fieldsOf(given: Form): Part {
  return html`
    ${field({ name: 'name', label: 'Name', value: given['name'], isRequired: true, hint: 'Recipients read it when they unsubscribe' })}
    ${field({ name: 'description', label: 'Description', value: given['description'] })}
    ${check('public', 'shown to all recipients when they unsubscribe', given['public'] === '1')}
    ${check('confirm', 'double opt-in: contacts confirm it by mail', given['confirm'] === '1')}
  `;
}

const bodyOf = ({ name = '', description = '', ...given }: Form) => ({
  name: name.trim(),
  description: description.trim() || null,
  public: given['public'] === '1',
  confirm: given['confirm'] === '1',
});

export function unsubscribeTable(
  asked: Asked,
  items: readonly UnsubscribeGroup[],
  given: Form,
): Part {
  const isAgain = given['_action'] === 'makeUnsubscribing';
  return together(
    html`<h2>Groups to unsubscribe from</h2>`,
    table(
      asked,
      { items },
      [
        ['Name', ({ id, name }) => link(`/groups/unsubscribing/${id}`, name)],
        ['Description', ({ description }) => description],
        ['Shown to recipients', (group) => (group.public ? 'yes' : 'no')],
        ['Double opt-in', ({ confirm }) => (confirm ? 'yes' : 'no')],
      ],
      'There is no such group yet: "svc unsubscribe-groups create" makes one.',
    ),
    asked.may('contacts:write') &&
      html`<details open=${isAgain}><summary>Make a group to unsubscribe from</summary>${form(asked, 'makeUnsubscribing', 'Make the group', fieldsOf(isAgain ? given : {}))}</details>`,
  );
}

export async function makeUnsubscribing({ ask }: Asked, given: Form): Promise<string> {
  const { id } = await ask(unsubscribeGroupRoutes.create, { body: bodyOf(given) });
  return `/console/groups/unsubscribing/${id}`;
}

async function members(asked: Asked, given: Form): Promise<Part> {
  const { ask, may, params } = asked;
  const { status, cursor } = asked.query;
  const found = await ask(memberRoutes.members, { params, query: { status, cursor } });
  const remove = ({ contactId }: Member) =>
    may('contacts:write') &&
    button(asked, { action: 'remove', label: 'Remove', fields: { ids: contactId } });
  return together(
    html`<h2>Members</h2>`,
    filters(choice({ name: 'status', label: 'Status', options: memberStatuses, value: status })),
    table(
      asked,
      found,
      [
        ['Contact', ({ contactId }) => link(`/contacts/${contactId}`, contactId.slice(-8))],
        ['Status', ({ status: word }) => state(word)],
        ['Mails', ({ mails }) => mails],
        ['Last mail', ({ lastMailAt }) => lastMailAt && time(lastMailAt)],
        ['Actions', remove],
      ],
      'Nobody was asked to confirm it yet.',
    ),
    may('contacts:write') &&
      form(
        asked,
        'ask',
        'Ask them to confirm',
        field({
          name: 'ids',
          label: 'Ids of contacts',
          value: given['ids'],
          isRequired: true,
          hint: 'contact_…, divided by commas: each gets a mail',
        }),
      ),
  );
}

async function one(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, may, params } = asked;
  const group = await ask(unsubscribeGroupRoutes.get, { params });
  const isAgain = given['_action'] === 'change';
  const { name, description } = group;
  const values = isAgain
    ? given
    : {
        name,
        description: description ?? '',
        public: group.public ? '1' : '',
        confirm: group.confirm ? '1' : '',
      };
  const body = together(
    problem,
    facts(group, [
      ['Description', 'description'],
      ['Shown to recipients', 'public'],
      ['Double opt-in', 'confirm'],
      ['Id', 'id'],
    ]),
    group.confirm && (await members(asked, given)),
    may('contacts:write') &&
      html`<details open=${isAgain}><summary>Change the group</summary>${form(asked, 'change', 'Save', fieldsOf(values))}</details>`,
    may('contacts:delete') &&
      button(asked, { action: 'delete', label: 'Delete the group; its blocks stay' }),
  );
  return {
    title: name,
    body,
    command: `svc unsubscribe-groups show ${params['id']}`,
    request: `GET /v1/unsubscribe-groups/${params['id']}`,
  };
}

async function invite(asked: Asked, { ids }: Form): Promise<View> {
  const { ask, params } = asked;
  const found = await ask(memberRoutes.add, { params, body: { contactIds: addressesIn(ids) } });
  const body = together(
    table(
      asked,
      found,
      [
        ['Contact', ({ contactId }) => link(`/contacts/${contactId}`, contactId.slice(-8))],
        ['Result', ({ result }) => results[result]],
      ],
      'Nobody was asked.',
    ),
    html`<p>${link(asked.path, 'Back to the group')}</p>`,
  );
  return { title: 'Asked to confirm', body };
}

export const unsubscribePages: readonly Page[] = [
  {
    path: '/groups/unsubscribing/:id',
    needs: 'contacts:read',
    show: (asked) => one(asked, {}),
    actions: {
      ask: written('contacts:write', invite, one),
      remove: {
        needs: 'contacts:write',
        async run({ ask, params, path }, { ids }) {
          await ask(memberRoutes.remove, { params, body: { contactIds: addressesIn(ids) } });
          return `/console${path}`;
        },
      },
      change: written(
        'contacts:write',
        async ({ ask, params, path }, given) => {
          await ask(unsubscribeGroupRoutes.update, { params, body: bodyOf(given) });
          return `/console${path}`;
        },
        one,
      ),
      delete: {
        needs: 'contacts:delete',
        async run({ ask, params }) {
          await ask(unsubscribeGroupRoutes.delete, { params });
          return '/console/groups';
        },
      },
    },
  },
];
