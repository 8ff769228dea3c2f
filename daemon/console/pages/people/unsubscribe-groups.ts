// Lists that people can leave, and the members of a list with double opt-in.

import { unsubscribeGroupRoutes } from '../../../../src/consent/opt-in/group-routes.ts';
import { memberStatuses } from '../../../../src/consent/opt-in/queries.ts';
import { memberRoutes } from '../../../../src/consent/opt-in/routes.ts';
import type { AddResult, Member } from '../../../../src/consent/opt-in/schema.ts';
import type { UnsubscribeGroup } from '../../../../src/people/unsubscribe-groups/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Done, Form, Page, View } from '../../page.ts';
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

export function unsubscribeTable(
  asked: Asked,
  items: readonly UnsubscribeGroup[],
  given: Form,
): Part {
  const isAgain = given['_action'] === 'makeUnsubscribing';
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
    html`<details open=${isAgain}><summary>Make a list</summary>${form(asked, 'makeUnsubscribing', 'Make the list', fieldsOf(isAgain ? given : {}))}</details>`;
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
      problem,
      card(
        'How people leave it',
        facts(group, [
          ['Shown to all who leave', 'public'],
          ['Confirmed by mail', 'confirm'],
        ]),
      ),
      group.confirm && (await members(asked)),
      may('contacts:write') &&
        foldedCard('Change', change, 'name, description, confirmation', isAgain),
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
    show: (asked) => one(asked, {}),
    actions: {
      ask: { needs: 'contacts:write', run: invite },
      remove: {
        needs: 'contacts:write',
        destroys: true,
        async run({ ask, params, path }, { ids }) {
          await ask(memberRoutes.remove, { params, body: { contactIds: addressesIn(ids) } });
          return { to: `/console${path}`, said: 'Removed from the list.' };
        },
      },
      change: {
        needs: 'contacts:write',
        run: async ({ ask, params, path }, given) => {
          await ask(unsubscribeGroupRoutes.update, { params, body: bodyOf(given) });
          return { to: `/console${path}`, said: 'Saved.' };
        },
      },
      delete: {
        needs: 'contacts:delete',
        destroys: true,
        async run({ ask, params }) {
          await ask(unsubscribeGroupRoutes.delete, { params });
          return { to: '/console/groups', said: 'The list is deleted.' };
        },
      },
    },
  },
];
