// Contacts and their import. contact.ts has the page of a single contact.

import { importRoutes } from '../../../../src/consent/opt-in/import-routes.ts';
import { contactRoutes } from '../../../../src/people/contacts/routes.ts';
import {
  type Contact,
  contactStatuses,
  type ImportReport,
} from '../../../../src/people/contacts/schema.ts';
import { startOfDayIn } from '../../../../src/platform/runtime/calendar.ts';
import { html, type Part, together } from '../../html.ts';
import { chunksOf, importPage } from '../../imports.ts';
import type { Asked, Done, Form, Page, View } from '../../page.ts';
import { foldedCard } from '../../parts/card.ts';
import { inWords } from '../../parts/facts.ts';
import { filterRow } from '../../parts/filter-row.ts';
import { addressesIn, field, form } from '../../parts/form.ts';
import { type Column, emptyState, table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { who } from '../../parts/who.ts';
import { state, states } from '../../states.ts';
import { contactPage } from './contact.ts';
import { nameOf } from './names.ts';

// The import of contacts.

const mostRejected = 100;
const counted = (count: number) => count.toLocaleString('en');

function report({ dryRun, format, map, rows, pending, ...counts }: ImportReport): Part {
  const columns = Object.entries(map).map(([column, use]) => `${column} → ${use}`);
  const more = counts.rejected - mostRejected;
  return html`<section aria-label="Result" class="mail">
    <p><strong>${dryRun ? 'Nothing was changed yet.' : 'Done.'}</strong> Format ${format}: ${counted(counts.created)} new, ${counted(counts.updated)} changed,
      ${counted(counts.unchanged)} as they are, ${counted(counts.rejected)} refused${pending !== undefined && `, ${counted(pending)} asked to confirm`}.</p>
    <p>Columns: ${inWords(columns)}</p>
    <ul>${rows.slice(0, mostRejected).map(({ line, field: name, reason }) => html`<li>Line ${line}: ${name} ${reason}</li>`)}
      ${more > 0 && html`<li>… and ${counted(more)} more</li>`}</ul>
  </section>`;
}

async function run({ ask }: Asked, given: Form, dryRun: boolean): Promise<Part> {
  const { file = '', map = '', requireConfirmation = '' } = given;
  const query = {
    dryRun,
    map: map.split('\n').filter((line) => line.trim() !== ''),
    requireConfirmation: requireConfirmation.trim(),
  };
  const stream = { type: 'text/csv', chunks: chunksOf(file) };
  return report(await ask(importRoutes.import, { query, stream }));
}

const contactImport = importPage({
  path: '/contacts/import',
  title: 'Import contacts',
  needs: 'contacts:write',
  command: 'svc contacts import contacts.csv --dry-run',
  request: 'POST /v1/contacts/import',
  label: 'Text of a CSV file',
  hint: 'Its first line names the columns: email, name, tags and others. "svc contacts import" reads larger files.',
  fields: (given) => html`
    ${field({ name: 'map', label: 'Meaning of columns', type: 'textarea', value: given['map'], rows: 3, hint: 'One in a line: COLUMN=FIELD, such as Opt-in=subscribed or Notes=ignore' })}
    ${field({ name: 'requireConfirmation', label: 'Group to confirm', value: given['requireConfirmation'], hint: 'usg_… of a group with double opt-in: each contact is asked by mail' })}
  `,
  run,
});

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

/** Draws the form of a new contact, folded unless it came back. */
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
    may('contacts:write') && html`<a class="btn" href="/console/contacts/import">Bring a file</a>`;
  const empty = isFiltered
    ? emptyState(
        'Nobody fits these filters.',
        html`<a class="btn" href="/console/contacts">Clear all filters</a>`,
      )
    : emptyState('No contact yet. A file of another service brings them.', bring);
  const statuses = contactStatuses.map((value) => [value, states[value]?.[0] ?? value] as const);
  const filtering = filterRow(asked, {
    search: { name: 'q', label: 'Name, or beginning of the address' },
    chips: [
      { name: 'status', label: 'State', options: statuses, value: status },
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
