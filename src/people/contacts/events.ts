// The kinds of events on a contact.
import { eventKind } from '../../history/events/kinds.ts';
import { deletedOutput } from '../../history/events/schema.ts';
import { type Contact, contactOutput, importCounts } from './schema.ts';

const sample: Contact = {
  id: 'contact_06dq2k0qz8h3v5m1r9t4w7xy',
  name: 'Ada',
  displayName: null,
  avatar: null,
  status: 'active',
  statusReason: null,
  externalId: null,
  identities: [
    {
      id: 'idn_06dq2k0qz8h3v5m1r9t4w7xy',
      channel: 'email',
      identifier: 'ada@example.com',
      verified: true,
    },
  ],
  profile: {
    firstName: 'Ada',
    lastName: null,
    company: null,
    jobTitle: null,
    location: { country: null, state: null, city: null, timezone: null },
    customFields: {},
    source: null,
  },
  preferences: {
    preferredChannels: ['email'],
    language: null,
    timezone: null,
    notifications: { email: true, quiet_hours: null },
  },
  tags: ['customer'],
  metadata: {},
  createdAt: '2026-01-05T12:00:00.000Z',
  updatedAt: '2026-01-05T12:00:00.000Z',
};

export const contactCreated = eventKind({
  type: 'contact.created',
  summary: 'A contact was created',
  schema: contactOutput,
  sample,
});

export const contactUpdated = eventKind({
  type: 'contact.updated',
  summary: 'A contact was changed',
  schema: contactOutput,
  sample,
});

export const contactDeleted = eventKind({
  type: 'contact.deleted',
  summary: 'A contact was deleted',
  schema: deletedOutput,
  sample: { id: sample.id, deleted: true },
});

export const contactImported = eventKind({
  type: 'contact.imported',
  summary: 'A file of contacts was imported',
  schema: importCounts,
  sample: {
    id: 'aud_06dq2k0qz8h3v5m1r9t4w7xy',
    format: 'mailchimp',
    created: 120,
    updated: 3,
    unchanged: 12,
    rejected: 1,
  },
});

/** Published when a recipient unsubscribes whose address belongs to a contact. */
export const contactUnsubscribed = eventKind({
  type: 'contact.unsubscribed',
  summary: 'A contact unsubscribed',
  schema: contactOutput,
  sample,
});
