// Exports contacts as CSV or JSON Lines, page by page, the oldest first, so that millions need
// little memory. An import restores the same people with their opt-outs of all mail. Blocks of
// groups are not exported.
import type { Caller, StreamedAnswer } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { csvRow } from '../../platform/csv/write-csv.ts';
import { sliceTurns } from '../../platform/runtime/fairness/loop-turns.ts';
import { selectContactsAfter } from './bulk-queries.ts';
import { presentContacts } from './present.ts';
import type { Contact, ExportContacts } from './schema.ts';

const rowsPerPage = 500;

const asJson = (value: object) => (Object.keys(value).length === 0 ? null : JSON.stringify(value));

/** Columns of the CSV, with the names that an import reads. A cell is null without a value. */
const columns: Readonly<Record<string, (contact: Contact) => string | null>> = {
  id: ({ id }) => id,
  email: ({ identities }) => identities[0]?.identifier ?? null,
  otherEmails: ({ identities }) =>
    identities
      .slice(1)
      .map(({ identifier }) => identifier)
      .join(','),
  name: ({ name }) => name,
  displayName: ({ displayName }) => displayName,
  avatar: ({ avatar }) => avatar,
  externalId: ({ externalId }) => externalId,
  status: ({ status }) => status,
  statusReason: ({ statusReason }) => statusReason,
  firstName: ({ profile }) => profile.firstName,
  lastName: ({ profile }) => profile.lastName,
  company: ({ profile }) => profile.company,
  jobTitle: ({ profile }) => profile.jobTitle,
  country: ({ profile }) => profile.location.country,
  state: ({ profile }) => profile.location.state,
  city: ({ profile }) => profile.location.city,
  timezone: ({ profile }) => profile.location.timezone,
  source: ({ profile }) => profile.source,
  language: ({ preferences }) => preferences.language,
  tags: ({ tags }) => tags.join(','),
  customFields: ({ profile }) => asJson(profile.customFields),
  metadata: ({ metadata }) => asJson(metadata),
  createdAt: ({ createdAt }) => createdAt,
  updatedAt: ({ updatedAt }) => updatedAt,
};

const csvLine = (contact: Contact) => csvRow(Object.values(columns).map((cell) => cell(contact)));

/** Yields the text of the export in pieces, with the number of contacts in each. */
export async function* exportContacts(
  app: App,
  { organizationId }: Caller,
  { format }: ExportContacts,
): AsyncGenerator<{ text: string; contacts: number }> {
  const { db } = app.store;
  if (format === 'csv') yield { text: csvRow(Object.keys(columns)), contacts: 0 };
  const lineOf = format === 'csv' ? csvLine : (one: Contact) => `${JSON.stringify(one)}\n`;
  let last: { created_at: number; id: string } | null = null;
  for (;;) {
    await sliceTurns('export contacts', organizationId);
    const rows = await selectContactsAfter(db, organizationId, last, rowsPerPage);
    if (rows.length === 0) return;
    const contacts = await presentContacts(db, organizationId, rows);
    yield { text: contacts.map(lineOf).join(''), contacts: rows.length };
    last = rows.at(-1) ?? null;
  }
}

/** Streams an export over HTTP. */
export async function exportStream(
  app: App,
  caller: Caller,
  query: ExportContacts,
): Promise<StreamedAnswer> {
  const texts = async function* () {
    for await (const { text } of exportContacts(app, caller, query)) yield text;
  };
  const type = query.format === 'csv' ? 'text/csv' : 'application/x-ndjson';
  return { type, texts: texts() };
}
