// Contacts, one contact, and the import of a file.
import { withQuery } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Form, Page, View } from '../page.ts';
import {
  addressesIn,
  button,
  choice,
  facts,
  field,
  filters,
  form,
  inWords,
  type List,
  link,
  orAgain,
  state,
  table,
  time,
  written,
} from '../parts.ts';

interface Contact {
  id: string;
  name: string | null;
  displayName: string | null;
  status: string;
  externalId: string | null;
  identities: readonly { identifier?: string }[];
  tags: readonly string[];
  updatedAt: string;
}

interface Imported {
  dryRun: boolean;
  format: string;
  map: Readonly<Record<string, string>>;
  created: number;
  updated: number;
  unchanged: number;
  rejected: number;
  rows: readonly { line: number; field: string | null; reason: string }[];
}

const statuses = ['active', 'archived', 'bounced', 'complained', 'unsubscribed'];
const mostRejected = 100;
const pathOf = ({ params }: Asked) => `/v1/contacts/${params['id']}`;

const nameOf = ({ displayName, name, identities, id }: Contact) =>
  displayName || name || identities[0]?.identifier || id;

/** Columns of a list of contacts. */
export const contactColumns = [
  ['Name', (contact: Contact) => link(`/contacts/${contact.id}`, nameOf(contact))],
  ['Status', ({ status }: Contact) => state(status)],
  ['Tags', ({ tags }: Contact) => tags.join(', ')],
  ['Changed', ({ updatedAt }: Contact) => time(updatedAt)],
] as const;

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { api, query, may } = asked;
  const { q, tag, email, externalId, status, page } = query;
  const found = await api.get<List<Contact>>('/v1/contacts', {
    ...{ q, tag, email, externalId, status, page },
  });
  const body = together(
    problem,
    may('contacts:write') && html`<p>${link('/contacts/import', 'Import a file')}</p>`,
    filters(html`
      ${field({ name: 'q', label: 'Search', value: q, type: 'search' })}
      ${field({ name: 'email', label: 'Address', value: email })}
      ${field({ name: 'tag', label: 'Tag', value: tag })}
      ${field({ name: 'externalId', label: 'External id', value: externalId })}
      ${choice({ name: 'status', label: 'Status', options: statuses, value: status })}
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

async function make({ api }: Asked, { address = '', name = '', tags }: Form): Promise<string> {
  const body = { email: address.trim(), name: name.trim() || null, tags: addressesIn(tags) };
  const { id } = await api.send<Contact>('POST', '/v1/contacts', body);
  return `/console/contacts/${id}`;
}

async function one(asked: Asked, given: Form | null, problem: Part = null): Promise<View> {
  const { api, may, params } = asked;
  const contact = await api.get<Contact>(pathOf(asked));
  const values = given ?? {
    name: contact.name ?? '',
    tags: contact.tags.join(', '),
    externalId: contact.externalId ?? '',
    status: contact.status,
  };
  const body = together(
    problem,
    html`<p>${state(contact.status)} ${may('messages:read') && link(withQuery('/messages', { contactId: contact.id }), 'Messages of the contact')}</p>`,
    facts(contact, [
      ['Reason', 'statusReason'],
      ['Identities', 'identities'],
      ['Tags', 'tags'],
      ['External id', 'externalId'],
      ['Profile', 'profile'],
      ['Preferences', 'preferences'],
      ['Created', 'createdAt'],
      ['Changed', 'updatedAt'],
      ['Id', 'id'],
    ]),
    may('contacts:write') && html`<h2>Change</h2>`,
    may('contacts:write') &&
      form(
        asked,
        'change',
        'Save',
        html`
        ${field({ name: 'name', label: 'Name', value: values['name'] })}
        ${field({ name: 'tags', label: 'Tags', value: values['tags'] })}
        ${field({ name: 'externalId', label: 'External id', value: values['externalId'] })}
        ${choice({ name: 'status', label: 'Status', options: ['active', 'archived'], value: values['status'] })}
      `,
      ),
    may('contacts:delete') &&
      button(asked, { action: 'delete', label: 'Delete with all that is known' }),
  );
  return {
    title: nameOf(contact),
    body,
    command: `svc contacts show ${params['id']}`,
    request: `GET ${pathOf(asked)}`,
  };
}

async function change(asked: Asked, given: Form): Promise<string> {
  const { name = '', tags, externalId = '', status } = given;
  await asked.api.send('PATCH', pathOf(asked), {
    name: name.trim() || null,
    tags: addressesIn(tags),
    externalId: externalId.trim() || null,
    ...(status && { status }),
  });
  return `/console${asked.path}`;
}

function importPage(asked: Asked, given: Form, ...above: Part[]): View {
  return {
    title: 'Import contacts',
    body: together(
      ...above,
      form(
        asked,
        'preview',
        'Show what would change',
        field({
          name: 'file',
          label: 'Text of a CSV file',
          type: 'textarea',
          value: given['file'],
          rows: 14,
          isRequired: true,
          hint: 'Its first line names the columns: email, name, tags and others. "svc contacts import" reads larger files.',
        }),
        given['file'] !== undefined && above.length > 0
          ? [{ action: 'import', label: 'Import this text' }]
          : [],
      ),
    ),
    command: 'svc contacts import contacts.csv --dry-run',
    request: 'POST /v1/contacts/import',
  };
}

function report({ dryRun, format, map, created, updated, unchanged, rejected, rows }: Imported) {
  const number = (count: number) => count.toLocaleString('en');
  return html`<section aria-label="Result" class="mail">
    <p><strong>${dryRun ? 'Nothing was changed yet.' : 'Done.'}</strong> Format ${format}: ${number(created)} new, ${number(updated)} changed,
      ${number(unchanged)} as they are, ${number(rejected)} refused.</p>
    <p>Columns: ${inWords(Object.entries(map).map(([column, use]) => `${column} → ${use}`))}</p>
    <ul>${rows.slice(0, mostRejected).map(({ line, field: name, reason }) => html`<li>Line ${line}: ${name} ${reason}</li>`)}</ul>
  </section>`;
}

const importer = (dryRun: boolean) => ({
  needs: 'contacts:write' as const,
  run: (asked: Asked, given: Form) =>
    orAgain(
      async () => {
        const path = withQuery('/v1/contacts/import', { dryRun });
        const done = await asked.api.upload<Imported>(path, 'text/csv', given['file'] ?? '');
        return importPage(asked, dryRun ? given : {}, report(done));
      },
      (problem) => importPage(asked, given, problem),
    ),
});

export const contactPages: readonly Page[] = [
  {
    path: '/contacts',
    label: 'Contacts',
    needs: 'contacts:read',
    show: (asked) => list(asked, {}),
    actions: {
      make: written('contacts:write', make, list),
    },
  },
  {
    path: '/contacts/import',
    needs: 'contacts:write',
    show: async (asked) => importPage(asked, {}),
    actions: { preview: importer(true), import: importer(false) },
  },
  {
    path: '/contacts/:id',
    needs: 'contacts:read',
    show: (asked) => one(asked, null),
    actions: {
      change: written('contacts:write', change, one),
      delete: {
        needs: 'contacts:delete',
        async run(asked) {
          await asked.api.send('DELETE', pathOf(asked));
          return '/console/contacts';
        },
      },
    },
  },
];
