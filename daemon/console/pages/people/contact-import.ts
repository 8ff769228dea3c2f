// The import of contacts.
import { importRoutes } from '../../../../src/consent/opt-in/import-routes.ts';
import type { ImportReport } from '../../../../src/people/contacts/schema.ts';
import { html, type Part } from '../../html.ts';
import { chunksOf, importPage } from '../../imports.ts';
import type { Asked, Form } from '../../page.ts';
import { field, inWords } from '../../parts.ts';

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

export const contactImport = importPage({
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
