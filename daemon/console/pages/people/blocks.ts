// Blocked addresses, and the import of another service's list.
import { blockRoutes } from '../../../../src/people/blocks/routes.ts';
import { blockReasons } from '../../../../src/people/blocks/schema.ts';
import type { ImportReport } from '../../../../src/people/imports/blocks.ts';
import { blockImportRoutes } from '../../../../src/people/imports/routes.ts';
import { html, type Part, together } from '../../html.ts';
import { chunksOf, importPage } from '../../imports.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { filters } from '../../parts/filter-row.ts';
import { button, choice, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { written } from '../../parts/written.ts';

const groupLink = ({ may }: Asked, id: string): Part =>
  may('contacts:read') ? link(`/groups/unsubscribing/${id}`, 'mail of a group') : 'mail of a group';

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { address, reason, page } = asked.query;
  const found = await asked.ask(blockRoutes.list, { query: { address, reason, page } });
  const body = together(
    problem,
    asked.may('blocks:write') && html`<p>${link('/blocks/import', 'Import a list')}</p>`,
    filters(html`
      ${field({ name: 'address', label: 'Address', value: address, type: 'search' })}
      ${choice({ name: 'reason', label: 'Reason', options: blockReasons, value: reason })}
    `),
    table(
      asked,
      found,
      [
        ['Address', (block) => block.address],
        [
          'Reason',
          ({ reason: why, messageId }) => (messageId ? link(`/messages/${messageId}`, why) : why),
        ],
        ['Blocks', ({ unsubscribeGroupId: id }) => (id ? groupLink(asked, id) : 'all mail')],
        ['Since', ({ createdAt }) => time(createdAt)],
        [
          'Actions',
          ({ id }) =>
            asked.may('blocks:delete') &&
            button(asked, { action: 'delete', label: 'Remove', fields: { id } }),
        ],
      ],
      'No address is blocked. Hard bounces and complaints are blocked by themselves.',
    ),
    asked.may('blocks:write') &&
      form(
        asked,
        'add',
        'Block',
        html`
        ${field({ name: 'address', label: 'Address', value: given['address'], isRequired: true })}
        ${choice({ name: 'reason', label: 'Reason', options: blockReasons, value: given['reason'], empty: 'manual, as by hand' })}
      `,
      ),
  );
  return {
    title: 'Blocked addresses',
    body,
    command: 'svc blocks list',
    request: 'GET /v1/email/blocks',
  };
}

function group(title: string, { count, first }: ImportReport['added' | 'rejected']): Part {
  if (count === 0) return null;
  return html`<h2>${title}: ${count.toLocaleString('en')}</h2>
    <ul>${first.map(({ line, address, reason }) => html`<li>Line ${line}: ${address} ${reason}</li>`)}</ul>`;
}

function report({ dryRun, title, rows, added, existing, skipped, rejected }: ImportReport): Part {
  return html`<section aria-label="Result" class="mail">
    <p><strong>${dryRun ? 'Nothing was changed yet.' : 'Done.'}</strong> ${title}: ${rows.toLocaleString('en')} rows,
      ${existing.count.toLocaleString('en')} exist already.</p>
    ${group(dryRun ? 'Would be added' : 'Added', added)} ${group('Skipped: no blocks', skipped)} ${group('Rejected', rejected)}
  </section>`;
}

/** Imports as `svc blocks import` does. */
async function run({ ask }: Asked, given: Form, dryRun: boolean): Promise<Part> {
  const reason = blockReasons.find((one) => one === given['reason']) ?? 'manual';
  const stream = { type: 'text/plain', chunks: chunksOf(given['file'] ?? '') };
  return report(await ask(blockImportRoutes.run, { query: { reason, dryRun }, stream }));
}

const blockImport = importPage({
  path: '/blocks/import',
  title: 'Import blocked addresses',
  needs: 'blocks:write',
  command: 'svc blocks import list.csv --dry-run',
  label: 'Text of a list',
  hint: 'Addresses, or the export of another service. "svc blocks import" reads larger files.',
  fields: (given) =>
    choice({
      name: 'reason',
      label: 'Reason, where the list has none',
      options: blockReasons,
      value: given['reason'],
      empty: 'manual, as by hand',
    }),
  run,
});

export const blockPages: readonly Page[] = [
  {
    path: '/blocks',
    needs: 'blocks:read',
    show: (asked) => list(asked, {}),
    actions: {
      add: written(
        'blocks:write',
        async (asked, given) => {
          const { address = '', reason } = given;
          const body = { address: address.trim(), ...(reason && { reason }) };
          await asked.ask(blockRoutes.create, { body });
          return '/console/blocks';
        },
        list,
      ),
      delete: {
        needs: 'blocks:delete',
        async run({ ask }: Asked, { id = '' }: Form) {
          await ask(blockRoutes.delete, { params: { id } });
          return '/console/blocks';
        },
      },
    },
  },
  blockImport,
];
