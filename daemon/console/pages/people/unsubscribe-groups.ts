// Lists that people can leave, and the members of a list with double opt-in.

import { unsubscribeGroupRoutes } from '../../../../src/consent/opt-in/group-routes.ts';
import { memberStatuses } from '../../../../src/consent/opt-in/queries.ts';
import { memberRoutes } from '../../../../src/consent/opt-in/routes.ts';
import type { AddResult, Member } from '../../../../src/consent/opt-in/schema.ts';
import type { UnsubscribeGroup } from '../../../../src/people/unsubscribe-groups/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Done, Form, Page, View } from '../../page.ts';
import { calls } from '../../parts/calls.ts';
import { card, foldedCard } from '../../parts/card.ts';
import { confirmed } from '../../parts/confirm.ts';
import { facts } from '../../parts/facts.ts';
import { filterRow } from '../../parts/filter-row.ts';
import { addressesIn, check, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { emptyState, table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { who } from '../../parts/who.ts';
import { state, states } from '../../states.ts';
import { findPeople } from './find-people.ts';
import { contactsBy, nameOf } from './names.ts';

const results: Readonly<Record<AddResult, string>> = {
  asked: 'A mail asks to confirm.',
  recent: 'Asked less than an hour ago.',
  limit: 'Asked three times already, and not again.',
  confirmed: 'Confirmed already.',
  blocked: 'The address gets no mail.',
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

export function unsubscribeTable(asked: Asked, items: readonly UnsubscribeGroup[]): Part {
  const rows = table<UnsubscribeGroup>(
    asked,
    { items },
    [
      {
        head: 'List',
        cell: ({ id, name, description }) =>
          html`<b>${link(`/groups/unsubscribing/${id}`, name)}</b> <small>${description}</small>`,
      },
      { head: 'Shown to all who leave', cell: (group) => (group.public ? 'yes' : 'no') },
      { head: 'Confirmed by mail', cell: ({ confirm }) => (confirm ? 'yes' : 'no') },
    ],
    emptyState(
      'There is no list yet. A list is a kind of mail that people can leave with one click.',
    ),
  );
  const making =
    asked.may('contacts:write') &&
    html`<details><summary>Make a list</summary>${form(asked, 'makeUnsubscribing', 'Make the list', fieldsOf({}))}</details>`;
  return card('Lists that people can leave', together(rows, making));
}

export async function makeUnsubscribing({ ask }: Asked, given: Form): Promise<Done> {
  const { id } = await ask(unsubscribeGroupRoutes.create, { body: bodyOf(given) });
  return { to: `/console/groups/unsubscribing/${id}`, said: 'The list is made.' };
}

/** Draws the members of a list with double opt-in. */
async function members(asked: Asked): Promise<Part> {
  const { ask, may, params } = asked;
  const { status, cursor } = asked.query;
  const found = await ask(memberRoutes.members, { params, query: { status, cursor } });
  const contacts = await contactsBy(
    asked,
    found.items.map(({ contactId }) => contactId),
  );
  const person = ({ contactId }: Member) => {
    const contact = contacts.get(contactId);
    if (!contact) return html`<span class="soft">a contact that is gone</span>`;
    const email = contact.identities[0]?.identifier ?? '';
    const name = nameOf(contact);
    return who({ name: name === email ? null : name, email }, `/contacts/${contactId}`);
  };
  const remove = ({ contactId }: Member) =>
    may('contacts:write') &&
    confirmed(asked, {
      action: 'remove',
      label: 'Remove',
      question: 'Take this person off the list?',
      goes: 'The list is sent there no more, until the person confirms anew.',
      fields: { ids: contactId },
      look: 'plain',
    });
  const options = memberStatuses.map((value) => [value, states[value]?.[0] ?? value] as const);
  return card(
    'Members',
    together(
      may('contacts:write') && (await findPeople(asked, 'ask', 'Ask to confirm')),
      filterRow(asked, { chips: [{ name: 'status', label: 'State', options, value: status }] }),
      table<Member>(
        asked,
        found,
        [
          { head: 'Person', cell: person },
          { head: 'State', isPlain: true, cell: ({ status: word }) => state(word) },
          { head: 'Mails', isNumber: true, cell: ({ mails }) => mails },
          {
            head: 'Last mail',
            isNumber: true,
            cell: ({ lastMailAt }) => lastMailAt && time(lastMailAt),
          },
          { head: '', cell: remove },
        ],
        emptyState('Nobody was asked to confirm it yet.'),
      ),
    ),
  );
}

async function one(asked: Asked): Promise<View> {
  const { ask, may, params } = asked;
  const group = await ask(unsubscribeGroupRoutes.get, { params });
  const { name, description } = group;
  const values = {
    name,
    description: description ?? '',
    public: group.public ? '1' : '',
    confirm: group.confirm ? '1' : '',
  };
  const change = form(asked, 'change', 'Save', fieldsOf(values));
  return {
    title: name,
    crumb: link('/groups', 'Groups & consent'),
    below: description ?? 'a list that people can leave with one click',
    actions:
      may('contacts:delete') &&
      confirmed(asked, {
        action: 'delete',
        label: 'Delete',
        question: `Delete the list “${name}”?`,
        goes: 'The list goes with its confirmations. Who left it stays blocked for its mail.',
      }),
    body: together(
      card(
        'How people leave it',
        facts(group, [
          ['Shown to all who leave', 'public'],
          ['Confirmed by mail', 'confirm'],
        ]),
      ),
      group.confirm && (await members(asked)),
      may('contacts:write') && foldedCard('Change', change, 'name, description, confirmation'),
      foldedCard('For developers', facts(group, [['Id', 'id']]), 'id'),
    ),
    command: `svc unsubscribe-groups show ${params['id']}`,
    request: `GET /v1/unsubscribe-groups/${params['id']}`,
  };
}

/** Asks contacts to confirm the list. */
async function invite(asked: Asked, { ids }: Form): Promise<Done> {
  const { ask, params, path } = asked;
  const found = await ask(memberRoutes.add, { params, body: { contactIds: addressesIn(ids) } });
  const words = found.items.map(({ result }) => results[result]);
  return { to: `/console${path}`, said: [...new Set(words)].join(' ') };
}

export const unsubscribePages: readonly Page[] = [
  {
    path: '/groups/unsubscribing/:id',
    needs: 'contacts:read',
    show: one,
    actions: {
      ask: { needs: 'contacts:write', run: invite },
      remove: calls(memberRoutes.remove, {
        destroys: true,
        body: ({ ids }) => ({ contactIds: addressesIn(ids) }),
        said: 'Removed from the list.',
      }),
      change: calls(unsubscribeGroupRoutes.update, { body: bodyOf, said: 'Saved.' }),
      delete: calls(unsubscribeGroupRoutes.delete, {
        destroys: true,
        to: '/groups',
        said: 'The list is deleted.',
      }),
    },
  },
];
