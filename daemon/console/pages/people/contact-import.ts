// The import of contacts: the columns of a file with their meanings, which a person can change, and
// the counts of changes.
import { unsubscribeGroupRoutes } from '../../../../src/consent/opt-in/group-routes.ts';
import { importRoutes } from '../../../../src/consent/opt-in/import-routes.ts';
import type { ImportReport } from '../../../../src/people/contacts/schema.ts';
import { contactColumnRoutes } from '../../../../src/people/imports/routes.ts';
import type { SeenColumn } from '../../../../src/people/imports/rows.ts';
import type { ColumnUse } from '../../../../src/people/imports/services.ts';
import { orNone } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import { chunksOf, importPage, linesCard } from '../../imports.ts';
import type { Asked, Done, Form } from '../../page.ts';
import { card } from '../../parts/card.ts';
import { choice } from '../../parts/form.ts';
import { table } from '../../parts/table.ts';
import { tiles } from '../../parts/tiles.ts';
import { counted } from '../../parts/times.ts';

/** Uses of a column as people say them. */
const meanings: Readonly<Record<ColumnUse, string>> = {
  email: 'Address',
  name: 'Full name',
  firstName: 'First name',
  lastName: 'Last name',
  tags: 'Tags',
  language: 'Language',
  company: 'Company',
  jobTitle: 'Job title',
  country: 'Country',
  state: 'State or province',
  city: 'City',
  timezone: 'Time zone',
  externalId: 'Your own id',
  otherEmails: 'Further addresses',
  displayName: 'Name in the mail program',
  source: 'Where the person came from',
  avatar: 'Link to a picture',
  custom: 'A field of its own',
  ignore: 'Leave it out',
  subscribed: 'Wants mail: yes or no',
  unsubscribed: 'Left: yes or no',
  status: 'May get mail: in words',
  unsubscribedAt: 'Left, if it has any value',
  bounced: 'Bounced: yes or no',
  bouncedAt: 'Bounced, if it has any value',
  complained: 'Reported as spam: yes or no',
  complainedAt: 'Reported as spam, if it has any value',
  blocked: 'Blocked: yes or no',
  blockedAt: 'Blocked, if it has any value',
  customFields: 'Fields of its own, as JSON',
  metadata: 'Data for programs, as JSON',
};
const offered = Object.entries(meanings);

/** Most columns with a choice; further columns keep their recognized meaning. */
const mostChoices = 60;
const prefix = 'column.';

const typeOf = (file: string) =>
  file.trimStart().startsWith('{') ? 'application/x-ndjson' : 'text/csv';

const streamOf = ({ file = '' }: Form) => ({ type: typeOf(file), chunks: chunksOf(file) });

function columnsCard(asked: Asked, columns: readonly SeenColumn[], given: Form): Part {
  const shown = columns.slice(0, mostChoices);
  const more = columns.length - shown.length;
  const meaningOf = ({ name }: SeenColumn) =>
    choice({
      name: prefix + name,
      label: `Meaning of ${name}`,
      options: offered,
      value: given[prefix + name],
      empty: 'Choose its meaning',
      isInTable: true,
    });
  const rows = table(
    asked,
    { items: shown },
    [
      { head: 'Column', cell: ({ name }) => html`<b>${name || 'without a name'}</b>` },
      { head: 'First values', cell: ({ samples }) => samples.join(', '), isWide: true },
      { head: 'Meaning', cell: meaningOf, isWide: true },
    ],
    '',
  );
  const rest =
    more > 0 && html`<p class="soft">${counted(more)} more columns are read by their names.</p>`;
  return card('Columns', together(rows, rest));
}

/** Returns the values of the form, with the recognized meaning of each column not yet chosen. */
function valuesOf(given: Form, columns: readonly SeenColumn[]): Form {
  const meant = columns.slice(0, mostChoices).map(({ name, use }) => {
    const field = prefix + name;
    return [field, given[field] ?? use ?? ''] as const;
  });
  const { file = '', requireConfirmation = '' } = given;
  return { file, requireConfirmation, ...Object.fromEntries(meant) };
}

/** Returns the chosen meanings that differ from the recognized meanings, as `COLUMN=MEANING`. */
function mapOf(values: Form, columns: readonly SeenColumn[]): string[] {
  return columns.flatMap(({ name, use }) => {
    const chosen = values[prefix + name];
    return chosen && chosen !== use ? [`${name}=${chosen}`] : [];
  });
}

/** Draws the choice of the list that asks people to confirm; nothing without such a list. */
async function asking({ ask, may }: Asked, value: string | undefined): Promise<Part> {
  const query = { limit: 100 };
  const lists = await orNone(may('contacts:read'), () =>
    ask(unsubscribeGroupRoutes.list, { query }),
  );
  const options = (lists?.items ?? []).flatMap(({ id, name, confirm }) =>
    confirm ? [[id, name] as const] : [],
  );
  if (options.length === 0) return null;
  const label = 'Ask them by mail to confirm a list';
  return choice({ name: 'requireConfirmation', label, options, value, empty: 'no' });
}

const peopleIn = (count: number) => `${counted(count)} ${count === 1 ? 'person' : 'people'}`;

function lookOf({ created, updated, unchanged, rejected, rows }: ImportReport) {
  const lines = rows.map(({ line, field, reason }) => ({
    line,
    words: `${field ?? ''} ${reason}`,
  }));
  const report = together(
    tiles([
      { label: 'New', value: counted(created) },
      { label: 'Changed', value: counted(updated) },
      { label: 'As they are', value: counted(unchanged) },
      { label: 'Refused', value: counted(rejected) },
    ]),
    html`<p class="soft">Nothing was changed yet.</p>`,
    linesCard('Refused lines', rejected, lines),
  );
  const changing = created + updated;
  return { report, label: changing + unchanged > 0 ? `Import ${peopleIn(changing)}` : null };
}

function doneOf({ created, updated, rejected, pending }: ImportReport): Done {
  const parts = [`${counted(created)} new`, `${counted(updated)} changed`];
  if (rejected > 0) parts.push(`${counted(rejected)} refused`);
  if (pending !== undefined) parts.push(`${counted(pending)} asked to confirm`);
  return { to: '/console/contacts', said: `Imported: ${parts.join(', ')}.` };
}

export const contactImport = importPage({
  path: '/contacts/import',
  title: 'Import contacts',
  needs: 'contacts:write',
  command: 'svc contacts import contacts.csv --dry-run',
  request: 'POST /v1/contacts/import',
  label: 'Or the text of a CSV file',
  hint: 'The first line names the columns: address, name, tags and others.',
  async prepare(asked, given) {
    const hasFile = Boolean(given['file']);
    const [columns, list] = await Promise.all([
      orNone(hasFile, () => asked.ask(contactColumnRoutes.read, { stream: streamOf(given) })),
      hasFile ? asking(asked, given['requireConfirmation']) : null,
    ]);
    const seen = columns ?? [];
    const values = valuesOf(given, seen);
    const ask = (dryRun: boolean) => {
      const { requireConfirmation } = values;
      const query = { dryRun, map: mapOf(values, seen), requireConfirmation };
      return asked.ask(importRoutes.import, { query, stream: streamOf(values) });
    };
    return {
      given: values,
      fields: together(columns && columnsCard(asked, columns, values), list),
      look: async () => lookOf(await ask(true)),
      run: async () => doneOf(await ask(false)),
    };
  },
});
