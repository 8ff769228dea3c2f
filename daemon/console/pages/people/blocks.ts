// Blocked addresses, and the import of another service's list.
import { unsubscribeGroupRoutes } from '../../../../src/consent/opt-in/group-routes.ts';
import { blockRoutes } from '../../../../src/people/blocks/routes.ts';
import { type Block, blockReasons } from '../../../../src/people/blocks/schema.ts';
import type { ImportReport } from '../../../../src/people/imports/blocks.ts';
import { blockImportRoutes } from '../../../../src/people/imports/routes.ts';
import { html, type Part, together } from '../../html.ts';
import { chunksOf, importPage, linesCard } from '../../imports.ts';
import type { Asked, Done, Form, Page, View } from '../../page.ts';
import { foldedCard } from '../../parts/card.ts';
import { confirmed } from '../../parts/confirm.ts';
import { filterRow } from '../../parts/filter-row.ts';
import { choice, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { emptyState, table } from '../../parts/table.ts';
import { tiles } from '../../parts/tiles.ts';
import { counted, time } from '../../parts/times.ts';
import { addressPart } from '../../parts/who.ts';
import { blockLabel, isRecipientsWish } from '../causes.ts';

/** Draws the mail that a block stops: all mail, or the mail of a list. */
function scopeOf({ may }: Asked, id: string | null, lists: ReadonlyMap<string, string>): Part {
  if (id === null) return 'All mail';
  const name = lists.get(id);
  if (name === undefined) return 'Mail of a list';
  return html`“${may('contacts:read') ? link(`/groups/unsubscribing/${id}`, name) : name}”`;
}

function lifting(asked: Asked, { id, address, reason }: Block): Part {
  if (!asked.may('blocks:delete')) return null;
  const goes = isRecipientsWish(reason)
    ? 'The person wanted no more of this mail. Lift it only if the person asked for it.'
    : 'Mail is sent to this address again. If it bounces once more, it is blocked once more.';
  const question = `Lift the block of ${address}?`;
  return confirmed(asked, {
    action: 'delete',
    label: 'Lift',
    question,
    goes,
    fields: { id },
    look: '',
  });
}

const reasons = blockReasons.map((reason) => [reason, blockLabel(reason)] as const);

function blocking(asked: Asked, given: Form): Part {
  if (!asked.may('blocks:write')) return null;
  const fields = html`
    ${field({ name: 'address', label: 'Address', value: given['address'], isRequired: true })}
    ${choice({ name: 'reason', label: 'Why', options: reasons, value: given['reason'], empty: 'by hand' })}`;
  return foldedCard(
    'Block an address',
    form(asked, 'add', 'Block', fields),
    'it gets no mail until the block is lifted',
    given['_action'] === 'add',
  );
}

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, may } = asked;
  const { address, reason, page } = asked.query;
  const [found, lists] = await Promise.all([
    ask(blockRoutes.list, { query: { address, reason, page } }),
    may('contacts:read')
      ? ask(unsubscribeGroupRoutes.list, { query: { limit: 100 } })
      : { items: [] },
  ]);
  const names = new Map(lists.items.map(({ id, name }) => [id, name]));
  const empty =
    address || reason
      ? emptyState(
          'No block fits.',
          html`<a class="btn" href="/console/blocks">Clear all filters</a>`,
        )
      : emptyState(
          'No address is blocked. Addresses that bounce or complain are blocked by themselves.',
        );
  const rows = table<Block>(
    asked,
    found,
    [
      { head: 'Address', cell: (block) => addressPart(block.address) },
      {
        head: 'Why',
        cell: ({ reason: why, messageId }) =>
          html`${blockLabel(why)}${messageId !== null && may('messages:read') && html` <small>${link(`/messages/${messageId}`, 'that mail')}</small>`}`,
      },
      { head: 'Keeps back', cell: ({ unsubscribeGroupId: id }) => scopeOf(asked, id, names) },
      { head: 'Since', isNumber: true, cell: ({ createdAt }) => time(createdAt) },
      { head: '', cell: (block) => lifting(asked, block) },
    ],
    empty,
  );
  const filtering = filterRow(asked, {
    search: { name: 'address', label: 'Address' },
    chips: [{ name: 'reason', label: 'Why', options: reasons, value: reason }],
  });
  return {
    title: 'Blocked',
    below: 'addresses that get no mail',
    actions:
      may('blocks:write') && html`<a class="btn" href="/console/blocks/import">Bring a list</a>`,
    body: together(
      problem,
      html`<section class="card" aria-label="List">${filtering}${rows}</section>`,
      blocking(asked, given),
    ),
    command: 'svc blocks list',
    request: 'GET /v1/email/blocks',
  };
}

function linesOf(title: string, { count, first }: ImportReport['added' | 'rejected']): Part {
  const lines = first.map(({ line, address, reason }) => ({ line, words: `${address} ${reason}` }));
  return linesCard(title, count, lines);
}

function lookOf({ added, existing, skipped, rejected }: ImportReport) {
  const report = together(
    tiles([
      { label: 'New', value: counted(added.count) },
      { label: 'Blocked already', value: counted(existing.count) },
      { label: 'No blocks', value: counted(skipped.count) },
      { label: 'Refused', value: counted(rejected.count) },
    ]),
    html`<p class="soft">Nothing was changed yet.</p>`,
    linesOf('New blocks', added),
    linesOf('Lines that are no blocks', skipped),
    linesOf('Refused lines', rejected),
  );
  return { report, label: added.count > 0 ? `Block ${counted(added.count)}` : null };
}

function doneOf({ added, rejected }: ImportReport): Done {
  const refused = rejected.count > 0 ? `, ${counted(rejected.count)} refused` : '';
  return { to: '/console/blocks', said: `Blocked: ${counted(added.count)} new${refused}.` };
}

const blockImport = importPage({
  path: '/blocks/import',
  title: 'Import blocked addresses',
  needs: 'blocks:write',
  command: 'svc blocks import list.csv --dry-run',
  label: 'Text of a list',
  hint: 'Addresses, or the export of another service. "svc blocks import" reads larger files.',
  prepare({ ask }, { file = '', reason: chosen = '' }) {
    const reason = blockReasons.find((one) => one === chosen) ?? 'manual';
    // The same route as `svc blocks import`, so both read a list alike.
    const asking = (dryRun: boolean) => {
      const stream = { type: 'text/plain', chunks: chunksOf(file) };
      return ask(blockImportRoutes.run, { query: { reason, dryRun }, stream });
    };
    const label = 'Reason, where the list has none';
    return {
      given: { file, reason: chosen },
      fields: choice({ name: 'reason', label, options: reasons, value: chosen, empty: 'by hand' }),
      look: async () => lookOf(await asking(true)),
      run: async () => doneOf(await asking(false)),
    };
  },
});

export const blockPages: readonly Page[] = [
  {
    path: '/blocks',
    needs: 'blocks:read',
    show: (asked) => list(asked, {}),
    actions: {
      add: {
        needs: 'blocks:write',
        run: async (asked, given) => {
          const { address = '', reason } = given;
          const body = { address: address.trim(), ...(reason && { reason }) };
          const { id } = await asked.ask(blockRoutes.create, { body });
          const undo = { path: '/blocks', action: 'delete', fields: { id } };
          return { to: '/console/blocks', said: `${address.trim()} is blocked.`, undo };
        },
      },
      delete: {
        needs: 'blocks:delete',
        destroys: true,
        async run({ ask }: Asked, { id = '' }: Form) {
          const { address, reason, unsubscribeGroupId } = await ask(blockRoutes.get, {
            params: { id },
          });
          await ask(blockRoutes.delete, { params: { id } });
          const undo = { path: '/blocks', action: 'add', fields: { address, reason } };
          return {
            to: '/console/blocks',
            said: `The block of ${address} is lifted.`,
            ...(unsubscribeGroupId === null && { undo }),
          };
        },
      },
    },
  },
  blockImport,
];
