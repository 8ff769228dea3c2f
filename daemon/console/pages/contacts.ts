// Contacts, and one contact.
import { html, together } from '../html.ts';
import type { Page } from '../page.ts';
import { facts, field, filters, type List, link, state, table, time } from '../parts.ts';

interface Contact {
  id: string;
  name: string | null;
  displayName: string | null;
  status: string;
  identities: readonly { value?: string; address?: string }[];
  tags: readonly string[];
  updatedAt: string;
}

const nameOf = ({ displayName, name, identities, id }: Contact) =>
  displayName || name || identities[0]?.value || identities[0]?.address || id;

export const contactPages: readonly Page[] = [
  {
    path: '/contacts',
    label: 'Contacts',
    needs: 'contacts:read',
    async show(asked) {
      const { q, tag, page } = asked.query;
      const found = await asked.api.get<List<Contact>>('/v1/contacts', { q, tag, page });
      return {
        title: 'Contacts',
        body: together(
          filters(html`
            ${field({ name: 'q', label: 'Search', value: q, type: 'search' })}
            ${field({ name: 'tag', label: 'Tag', value: tag })}
          `),
          table(
            asked,
            found,
            [
              ['Name', (contact) => link(`/contacts/${contact.id}`, nameOf(contact))],
              ['Status', ({ status }) => state(status)],
              ['Tags', ({ tags }) => tags.join(', ')],
              ['Changed', ({ updatedAt }) => time(updatedAt)],
            ],
            'No contact fits. "svc contacts import" reads a file.',
          ),
        ),
        command: 'svc contacts list',
        request: 'GET /v1/contacts',
      };
    },
  },
  {
    path: '/contacts/:id',
    needs: 'contacts:read',
    async show({ api, params }) {
      const path = `/v1/contacts/${params['id']}`;
      const contact = await api.get<Contact>(path);
      return {
        title: nameOf(contact),
        body: facts(contact, [
          ['Status', 'status'],
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
        command: `svc contacts show ${params['id']}`,
        request: `GET ${path}`,
      };
    },
  },
];
