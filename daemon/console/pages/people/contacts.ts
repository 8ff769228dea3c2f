// The list of contacts. contact.ts has the page of a single contact, contact-import.ts the import.

import { contactRoutes } from '../../../../src/people/contacts/routes.ts';
import { type Contact, contactStatuses } from '../../../../src/people/contacts/schema.ts';
import { startOfDayIn } from '../../../../src/platform/runtime/calendar.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Done, Form, Page, View } from '../../page.ts';
import { foldedCard } from '../../parts/card.ts';
import { filterRow } from '../../parts/filter-row.ts';
import { addressesIn, field, form } from '../../parts/form.ts';
import { type Column, emptyState, table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { who } from '../../parts/who.ts';
import { state } from '../../states.ts';
import { contactPage } from './contact.ts';
import { contactImport } from './contact-import.ts';
import { nameOf } from './names.ts';

/** Columns of a list of contacts. */
export const contactColumns: readonly Column<Contact>[] = [
  {
    head: 'Person',
    cell: (contact) => {
      const email = contact.identities[0]?.identifier ?? '';
      const name = nameOf(contact);
      return who({ name: name === email ? null : name, email }, `/contacts/${contact.id}`);
    },
  },
  { head: 'State', isPlain: true, cell: ({ status }) => state(status) },
  { head: 'Tags', cell: ({ tags }) => tags.map((tag) => html`<span class="tag">${tag}</span> `) },
  { head: 'Changed', isNumber: true, cell: ({ updatedAt }) => time(updatedAt) },
];

/** Returns the start of a day in the zone of the organization; the API refuses any other text. */
function dayStart({ timezone }: Asked, day: string): string {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day));
  return isDay ? new Date(startOfDayIn(timezone, day)).toISOString() : day;
}

/** Draws the form of a new contact: open after a refusal, else folded. */
function making(asked: Asked, given: Form): Part {
  if (!asked.may('contacts:write')) return null;
  const fields = html`
    ${field({ name: 'address', label: 'Address', value: given['address'], isRequired: true })}
    ${field({ name: 'name', label: 'Name', value: given['name'] })}
    ${field({ name: 'tags', label: 'Tags', value: given['tags'], hint: 'Divided by commas' })}`;
  return foldedCard(
    'Add a person',
    form(asked, 'make', 'Add', fields),
    'address, name, tags',
    given['_action'] === 'make',
  );
}

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, may } = asked;
  const { q, tag, email, externalId, status, since, page } = asked.query;
  const updatedSince = since && dayStart(asked, since);
  const query = { q, tag, email, externalId, status, updatedSince, page };
  const found = await ask(contactRoutes.list, { query });
  const isFiltered = [q, tag, email, externalId, status, since].some(Boolean);
  const bring =
    may('contacts:write') && html`<a class="btn" href="/console/contacts/import">Import</a>`;
  const empty = isFiltered
    ? emptyState(
        'Nobody fits these filters.',
        html`<a class="btn" href="/console/contacts">Clear all filters</a>`,
      )
    : emptyState('No contact yet. A file of another service brings them.', bring);
  const filtering = filterRow(asked, {
    search: { name: 'q', label: 'Name, or beginning of the address' },
    chips: [
      { name: 'status', label: 'State', options: contactStatuses, value: status },
      { name: 'tag', label: 'Tag', value: tag },
      { name: 'email', label: 'Address', value: email },
      { name: 'externalId', label: 'External id', value: externalId },
      { name: 'since', label: 'Changed since', type: 'date', value: since },
    ],
  });
  return {
    title: 'Contacts',
    actions: together(may('conversations:read') && bring),
    body: together(
      problem,
      html`<section class="card" aria-label="List">${filtering}${table(asked, found, contactColumns, empty)}</section>`,
      making(asked, given),
    ),
    command: 'svc contacts list',
    request: 'GET /v1/contacts',
  };
}

async function make({ ask }: Asked, { address = '', name = '', tags }: Form): Promise<Done> {
  const body = { email: address.trim(), name: name.trim() || null, tags: addressesIn(tags) };
  const { id } = await ask(contactRoutes.create, { body });
  return { to: `/console/contacts/${id}`, said: 'Added.' };
}

export const contactPages: readonly Page[] = [
  {
    path: '/contacts',
    needs: 'contacts:read',
    show: (asked) => list(asked, {}),
    actions: {
      make: { needs: 'contacts:write', run: make },
    },
  },
  contactImport,
  contactPage,
];
