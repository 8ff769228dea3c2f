// Contacts, their import, and a single contact. contact-fields.ts has the fields
// of a contact.

import { importRoutes } from '../../../../src/consent/opt-in/import-routes.ts';
import { forgetRoutes } from '../../../../src/outbound/messages/forget/contact-routes.ts';
import { contactRoutes } from '../../../../src/people/contacts/routes.ts';
import {
  type Contact,
  contactStatuses,
  type ImportReport,
} from '../../../../src/people/contacts/schema.ts';
import { startOfDayIn } from '../../../../src/platform/runtime/calendar.ts';
import { withQuery } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import { chunksOf, importPage } from '../../imports.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { facts, inWords } from '../../parts/facts.ts';
import { filters } from '../../parts/filter-row.ts';
import { addressesIn, button, choice, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { type Column, table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { written } from '../../parts/written.ts';
import { state } from '../../states.ts';
import { profileFacts, profileFields, profileForm, profileIn } from './contact-fields.ts';

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

const nameOf = ({ displayName, name, identities, id }: Contact) =>
  displayName || name || identities[0]?.identifier || id;

const addressesOf = ({ identities }: Contact) => identities.map(({ identifier }) => identifier);

/** Columns of a list of contacts. */
export const contactColumns: readonly Column<Contact>[] = [
  ['Name', (contact) => link(`/contacts/${contact.id}`, nameOf(contact))],
  ['Status', ({ status }) => state(status)],
  ['Tags', ({ tags }) => tags.join(', ')],
  ['Changed', ({ updatedAt }) => time(updatedAt)],
];

/** Returns the start of a day in the zone of the organization; the API refuses any other text. */
function dayStart({ timezone }: Asked, day: string): string {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day));
  return isDay ? new Date(startOfDayIn(timezone, day)).toISOString() : day;
}

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, may } = asked;
  const { q, tag, email, externalId, status, since, page } = asked.query;
  const updatedSince = since && dayStart(asked, since);
  const query = { q, tag, email, externalId, status, updatedSince, page };
  const found = await ask(contactRoutes.list, { query });
  const body = together(
    problem,
    may('contacts:write') && html`<p>${link('/contacts/import', 'Import a file')}</p>`,
    filters(html`
      ${field({ name: 'q', label: 'Search', value: q, type: 'search' })}
      ${field({ name: 'email', label: 'Address', value: email })}
      ${field({ name: 'tag', label: 'Tag', value: tag })}
      ${field({ name: 'externalId', label: 'External id', value: externalId })}
      ${choice({ name: 'status', label: 'Status', options: contactStatuses, value: status })}
      ${field({ name: 'since', label: 'Changed since', type: 'date', value: since })}
    `),
    table(asked, found, contactColumns, 'No contact fits. "svc contacts import" reads a file.'),
    may('contacts:write') && html`<h2>Make a contact</h2>`,
    may('contacts:write') &&
      form(
        asked,
        'make',
        'Make the contact',
        html`
        ${field({ name: 'address', label: 'Address', value: given['address'], isRequired: true })}
        ${field({ name: 'name', label: 'Name', value: given['name'] })}
        ${field({ name: 'tags', label: 'Tags', value: given['tags'], hint: 'Divided by commas' })}
      `,
      ),
  );
  return { title: 'Contacts', body, command: 'svc contacts list', request: 'GET /v1/contacts' };
}

async function make({ ask }: Asked, { address = '', name = '', tags }: Form): Promise<string> {
  const body = { email: address.trim(), name: name.trim() || null, tags: addressesIn(tags) };
  const { id } = await ask(contactRoutes.create, { body });
  return `/console/contacts/${id}`;
}

async function one(asked: Asked, given: Form | null, problem: Part = null): Promise<View> {
  const { ask, may, params } = asked;
  const contact = await ask(contactRoutes.get, { params });
  const values = given ?? {
    name: contact.name ?? '',
    displayName: contact.displayName ?? '',
    tags: contact.tags.join(', '),
    externalId: contact.externalId ?? '',
    status: contact.status,
    ...profileForm(contact),
  };
  const body = together(
    problem,
    html`<p>${state(contact.status)}
      ${may('messages:read') && addressesOf(contact).map((recipient) => html`${link(withQuery('/messages', { recipient }), `Mail to ${recipient}`)} `)}
      ${may('messages:read') && link(withQuery('/messages', { contactId: contact.id }), 'Messages that name the contact')}
      ${may('conversations:read') && link(withQuery('/conversations', { contactId: contact.id }), 'Its conversations')}</p>`,
    facts(contact, [
      ['Reason', 'statusReason'],
      ['Identities', 'identities'],
      ['Tags', 'tags'],
      ['External id', 'externalId'],
      ['Language', 'preferences.language'],
      ['Time zone', 'preferences.timezone'],
      ['Wants email', 'preferences.notifications.email'],
      ['Created', 'createdAt'],
      ['Changed', 'updatedAt'],
      ['Id', 'id'],
    ]),
    profileFacts(contact),
    may('contacts:write') && html`<h2>Change</h2>`,
    may('contacts:write') &&
      form(
        asked,
        'change',
        'Save',
        html`
        ${field({ name: 'name', label: 'Name', value: values['name'] })}
        ${field({ name: 'displayName', label: 'Name to show', value: values['displayName'] })}
        ${field({ name: 'tags', label: 'Tags', value: values['tags'], hint: 'Divided by commas' })}
        ${field({ name: 'externalId', label: 'External id', value: values['externalId'] })}
        ${choice({ name: 'status', label: 'Status', options: ['active', 'archived'], value: values['status'], empty: 'as it is' })}
        <fieldset><legend>Profile</legend>${profileFields(values)}</fieldset>
      `,
      ),
    may('contacts:delete') &&
      button(asked, { action: 'delete', label: 'Delete with all that is known' }),
  );
  return {
    title: nameOf(contact),
    body,
    command: `svc contacts show ${params['id']}`,
    request: `GET /v1/contacts/${params['id']}`,
  };
}

async function change({ ask, params, path }: Asked, given: Form): Promise<string> {
  const { name = '', displayName = '', tags, externalId = '', status } = given;
  const body = {
    name: name.trim() || null,
    displayName: displayName.trim() || null,
    tags: addressesIn(tags),
    externalId: externalId.trim() || null,
    ...(status && { status }),
    profile: profileIn(given),
  };
  await ask(contactRoutes.update, { params, body });
  return `/console${path}`;
}

export const contactPages: readonly Page[] = [
  {
    path: '/contacts',
    needs: 'contacts:read',
    show: (asked) => list(asked, {}),
    actions: {
      make: written('contacts:write', make, list),
    },
  },
  contactImport,
  {
    path: '/contacts/:id',
    needs: 'contacts:read',
    show: (asked) => one(asked, null),
    actions: {
      change: written('contacts:write', change, one),
      delete: {
        needs: 'contacts:delete',
        async run({ ask, params }) {
          await ask(forgetRoutes.delete, { params });
          return '/console/contacts';
        },
      },
    },
  },
];
