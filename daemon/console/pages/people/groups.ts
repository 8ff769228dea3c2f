// Groups of contacts with their members, and the lists that people can leave. group-conditions.ts
// has the conditions of a group by query, unsubscribe-groups.ts the pages of a list.
import { unsubscribeGroupRoutes } from '../../../../src/consent/opt-in/group-routes.ts';
import type { ContactQuery } from '../../../../src/people/contacts/groups/query-schema.ts';
import { contactGroupRoutes } from '../../../../src/people/contacts/groups/routes.ts';
import type { ContactGroup } from '../../../../src/people/contacts/groups/schema.ts';
import type { Contact } from '../../../../src/people/contacts/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Action, Asked, Form, Page, View } from '../../page.ts';
import { calls } from '../../parts/calls.ts';
import { card, folded, foldedCard } from '../../parts/card.ts';
import { confirmed } from '../../parts/confirm.ts';
import { addressesIn, button, choice, field, form, jsonIn } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { emptyState, table } from '../../parts/table.ts';
import { counted } from '../../parts/times.ts';
import { contactColumns } from './contacts.ts';
import { findPeople } from './find-people.ts';
import { comparisons, formOfRows, queryOf, rowsIn, rowsOf, subjects } from './group-conditions.ts';
import { makeUnsubscribing, unsubscribePages, unsubscribeTable } from './unsubscribe-groups.ts';

/** A group as routes answer it. The query has no type: it was checked when it was stored. */
type Group = Omit<ContactGroup, 'query'> & { query: unknown };

const spareRows = 2;

const queryHint = 'JSON: {"all": [{"tag": "customer"}, {"not": {"any": […]}}]}';

const jsonField = ({ query }: Form): Part =>
  field({
    name: 'query',
    label: 'Conditions',
    type: 'textarea',
    rows: 6,
    value: query,
    hint: queryHint,
  });

/** Draws the conditions as rows, with two empty rows for more. */
function conditionRows(given: Form): Part {
  const { join } = rowsIn(given);
  const count = Object.keys(given).filter((name) => name.startsWith('what.')).length + spareRows;
  const rows = Array.from({ length: count }, (_, at) => {
    const value = (name: string) => given[`${name}.${at}`];
    return html`<div class="picks">
      ${choice({ name: `what.${at}`, label: at === 0 ? 'What' : 'And what', options: subjects, value: value('what'), empty: '–' })}
      ${choice({ name: `how.${at}`, label: 'How', options: comparisons, value: value('how'), empty: 'is' })}
      ${field({ name: `value.${at}`, label: 'Value', value: value('value') })}</div>`;
  });
  return html`<fieldset><legend>Conditions</legend>
    ${choice({ name: 'join', label: 'A person is a member if', options: [['any', 'any of them holds']], value: join, empty: 'all of them hold' })}
    ${rows}<p class="soft">Save to see how many people fit, and to get more rows.</p>
    ${folded('Nested conditions', jsonField(given), 'JSON, instead of the rows')}</fieldset>`;
}

/** Draws the fields of a group. `conditions` tells how its conditions are written. */
function fieldsOf(given: Form, conditions: 'rows' | 'json' | 'none'): Part {
  return html`
    ${field({ name: 'name', label: 'Name', value: given['name'], isRequired: true })}
    ${field({ name: 'description', label: 'Description', value: given['description'] })}
    ${conditions === 'rows' && conditionRows(given)}
    ${conditions === 'json' && jsonField(given)}
  `;
}

function bodyOf(given: Form): object {
  const { name = '', description = '', query } = given;
  const rows = rowsIn(given);
  const typed = jsonIn(query, 'The query');
  const conditions = typed ?? (rows.conditions.length > 0 ? queryOf(rows) : null);
  return {
    name: name.trim(),
    description: description.trim() || null,
    ...(conditions !== null && { query: conditions }),
  };
}

async function list(asked: Asked): Promise<View> {
  const { ask, query, may } = asked;
  const [groups, unsubscribing] = await Promise.all([
    ask(contactGroupRoutes.list, { query: { page: query['page'] } }),
    ask(unsubscribeGroupRoutes.list, { query: { limit: 100 } }),
  ]);
  const rows = table(
    asked,
    groups,
    [
      {
        head: 'Group',
        cell: ({ id, name, description }) =>
          html`<b>${link(`/groups/${id}`, name)}</b> <small>${description}</small>`,
      },
      {
        head: 'Members',
        isNumber: true,
        cell: ({ memberCount, query: by }) =>
          by ? 'by conditions' : memberCount === null ? 'many' : counted(memberCount),
      },
    ],
    emptyState('There is no group yet. A group is people whom a campaign can choose.'),
  );
  const making =
    may('contacts:write') &&
    html`<details><summary>Make a group</summary>${form(asked, 'make', 'Make the group', html`${fieldsOf({}, 'rows')}<p class="soft">Without a condition, you add the members.</p>`)}</details>`;
  return {
    title: 'Groups & consent',
    body: together(
      card('Groups', together(rows, making)),
      unsubscribeTable(asked, unsubscribing.items),
    ),
    command: 'svc groups list',
    request: 'GET /v1/contact-groups',
  };
}

function changing(asked: Asked, group: Group): Part {
  if (!asked.may('contacts:write')) return null;
  const rows = group.query === null ? null : rowsOf(group.query as ContactQuery);
  const conditions = group.query === null ? 'none' : rows ? 'rows' : 'json';
  const values: Form = {
    name: group.name,
    description: group.description ?? '',
    ...(rows ? formOfRows(rows) : { query: JSON.stringify(group.query, null, 2) }),
  };
  const fields = form(asked, 'change', 'Save', fieldsOf(values, conditions));
  if (group.query !== null) return card('Who belongs to it', fields);
  return foldedCard('Change', fields, 'name, description');
}

async function one(asked: Asked): Promise<View> {
  const { ask, may, query, params } = asked;
  const [group, members] = await Promise.all([
    ask(contactGroupRoutes.get, { params }),
    ask(contactGroupRoutes.members, { params, query: { page: query['page'] } }),
  ]);
  const byHand = group.query === null;
  const mayChange = byHand && may('contacts:write');
  const remove = ({ id }: Contact) =>
    button(asked, { action: 'remove', label: 'Remove', fields: { ids: id } });
  const columns = mayChange ? [...contactColumns, { head: '', cell: remove }] : contactColumns;
  const count = group.memberCount;
  const size =
    count === null ? 'Many people' : `${counted(count)} ${count === 1 ? 'person' : 'people'}`;
  return {
    title: group.name,
    crumb: link('/groups', 'Groups & consent'),
    below: html`${size}${byHand ? ' chosen by hand' : ` ${count === 1 ? 'fits' : 'fit'} the conditions now`}${group.description && html` · ${group.description}`}`,
    actions:
      may('contacts:delete') &&
      confirmed(asked, {
        action: 'delete',
        label: 'Delete',
        question: `Delete the group “${group.name}”?`,
        goes: 'Its members stay contacts. Campaigns that choose it choose nobody by it any more.',
      }),
    body: together(
      !byHand && changing(asked, group),
      card(
        'Members',
        together(
          mayChange && (await findPeople(asked, 'add', 'Add')),
          table(asked, members, columns, emptyState('It has no members yet.')),
        ),
      ),
      byHand && changing(asked, group),
    ),
    command: `svc groups members ${params['id']}`,
    request: `GET /v1/contact-groups/${params['id']}/members`,
  };
}

const verbs = { add: 'Added.', remove: 'Removed from the group.' };

const members = (verb: 'add' | 'remove'): Action => ({
  needs: 'contacts:write',
  run: async ({ ask, params, path }, { ids = '' }) => {
    await ask(contactGroupRoutes[verb], { params, body: { contactIds: addressesIn(ids) } });
    const undo = { path, action: verb === 'add' ? 'remove' : 'add', fields: { ids } };
    return { to: `/console${path}`, said: verbs[verb], undo };
  },
});

export const groupPages: readonly Page[] = [
  {
    path: '/groups',
    needs: 'contacts:read',
    show: list,
    actions: {
      make: {
        needs: 'contacts:write',
        run: async ({ ask }, given) => {
          const { id } = await ask(contactGroupRoutes.create, { body: bodyOf(given) });
          return { to: `/console/groups/${id}`, said: 'The group is made.' };
        },
      },
      makeUnsubscribing: { needs: 'contacts:write', run: makeUnsubscribing },
    },
  },
  {
    path: '/groups/:id',
    needs: 'contacts:read',
    show: one,
    actions: {
      add: members('add'),
      remove: members('remove'),
      change: calls(contactGroupRoutes.update, { body: bodyOf, said: 'Saved.' }),
      delete: calls(contactGroupRoutes.delete, {
        destroys: true,
        to: '/groups',
        said: 'The group is deleted.',
      }),
    },
  },
  ...unsubscribePages,
];
