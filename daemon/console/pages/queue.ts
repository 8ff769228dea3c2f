// The queue over all organizations, for the operator: lanes, holds, entries.
import { queueStates } from '../../../src/outbound/deliveries/queue-queries.ts';
import { waitReasons } from '../../../src/outbound/deliveries/status.ts';
import type { QueueEntry } from '../../../src/outbound/queue/desk/queue-schema.ts';
import { queueRoutes } from '../../../src/outbound/queue/desk/routes.ts';
import type { LaneView } from '../../../src/outbound/queue/lanes/lane-report.ts';
import { html, type Part, together } from '../html.ts';
import type { Action, Asked, Form, Page } from '../page.ts';
import { sparkline } from '../parts/chart.ts';
import { confirmed } from '../parts/confirm.ts';
import { filters } from '../parts/filter-row.ts';
import { button, choice, field, form } from '../parts/form.ts';
import { link } from '../parts/link.ts';
import { table } from '../parts/table.ts';
import { time } from '../parts/times.ts';
import { state } from '../states.ts';

const perPage = 50;

async function lanes({ ask }: Asked): Promise<Part> {
  const {
    counts,
    countedUpTo,
    workers,
    idleWorkers,
    takenPerSecond,
    pace,
    lanes: all,
  } = await ask(queueRoutes.show);
  const number = (count: number) =>
    `${count.toLocaleString('en')}${count >= countedUpTo ? '+' : ''}`;
  return together(
    html`<ul class="tiles">${Object.entries(counts).map(([name, count]) => html`<li><strong>${number(count)}</strong> ${name}</li>`)}
      <li><strong>${takenPerSecond.toLocaleString('en')}/s</strong> ${sparkline('Accepted by servers each second', pace)}</li>
      <li><strong>${workers - idleWorkers} of ${workers}</strong> daemons at work</li></ul>`,
    all.length > 0 && html`<h2>Lanes</h2>`,
    all.length > 0 && laneTable(all),
  );
}

function laneTable(all: readonly LaneView[]): Part {
  const heads = ['Lane', 'In flight', 'Waiting', 'A minute', 'A second', 'Pace', 'Closed until'];
  const rows = all.map(
    ({ lane, inFlight, window, waiting, perMinute, takenPerSecond, pace, closedUntil }) =>
      html`<tr><td>${lane}</td><td>${inFlight} of ${window}</td><td>${waiting}</td><td>${perMinute ?? 'no limit'}</td>
        <td>${takenPerSecond}</td><td>${sparkline('Pace', pace)}</td><td>${closedUntil && time(closedUntil)}</td></tr>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Lanes"><table>
    <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

async function entries(asked: Asked): Promise<Part> {
  const { state: wanted, waitReason, domain, page } = asked.query;
  const query = { state: wanted, waitReason, domain, page, limit: perPage };
  const found = await asked.ask(queueRoutes.list, { query });
  return together(
    html`<h2>Entries</h2>`,
    filters(html`
      ${choice({ name: 'state', label: 'State', options: queueStates, value: wanted })}
      ${choice({ name: 'waitReason', label: 'Waits for', options: waitReasons, value: waitReason })}
      ${field({ name: 'domain', label: 'Recipient domain', value: domain, type: 'search' })}
    `),
    table<QueueEntry>(
      asked,
      found,
      [
        ['Recipient', ({ recipient }) => recipient],
        ['State', (entry) => html`${state(entry.state)} ${entry.waitReason}`],
        ['Due', ({ dueAt }) => dueAt && time(dueAt)],
        ['Attempts', ({ attemptCount }) => attemptCount],
        ['Last words', ({ lastWords }) => lastWords],
        ['Organization', ({ organizationId }) => html`<code>${organizationId}</code>`],
        [
          'Actions',
          ({ id, recipient }) =>
            html`${button(asked, { action: 'retry', label: 'Retry now', fields: { id } })}
            ${confirmed(asked, { action: 'drop', label: 'Drop', question: `Send nothing to ${recipient}?`, goes: 'This recipient gets no more tries.', fields: { id }, look: '' })}`,
        ],
      ],
      'No entry fits: the queue has nothing of it.',
    ),
  );
}

async function holds(asked: Asked): Promise<Part> {
  const items = await asked.ask(queueRoutes.holds);
  return together(
    html`<h2>Holds</h2>`,
    table(
      asked,
      { items },
      [
        [
          'Holds',
          ({ domain, organizationId, messageId, deliveryId }) =>
            [domain, organizationId, messageId, deliveryId].filter(Boolean).join(', '),
        ],
        ['State', ({ state: word }) => state(word)],
        ['Set aside', ({ held }) => held],
        ['Note', ({ note }) => note],
        ['Since', ({ createdAt }) => time(createdAt)],
        [
          'Actions',
          ({ id }) => button(asked, { action: 'release', label: 'Release', fields: { id } }),
        ],
      ],
      'Nothing is held.',
    ),
    form(
      asked,
      'hold',
      'Hold',
      html`
      ${field({ name: 'domain', label: 'Recipient domain', isRequired: true })}
      ${field({ name: 'note', label: 'Note' })}
    `,
    ),
  );
}

const here = '/console/queue';
const act = (run: (asked: Asked, form: Form) => Promise<unknown>): Action => ({
  needs: 'operator',
  async run(asked, fields) {
    await run(asked, fields);
    return here;
  },
});

export const queuePages: readonly Page[] = [
  {
    path: '/queue',
    needs: 'operator',
    async show(asked) {
      const [first, ...parts] = await Promise.all([lanes(asked), holds(asked), entries(asked)]);
      return {
        title: 'Queue',
        live: 'often',
        body: together(
          html`<p class="note">Of all organizations. ${link('/messages', 'Messages of this one')}</p>`,
          first,
          ...parts,
        ),
        command: 'svc queue top',
      };
    },
    actions: {
      retry: act(({ ask }, { id = '' }) => ask(queueRoutes.retry, { body: { ids: [id] } })),
      drop: {
        ...act(({ ask }, { id = '' }) => ask(queueRoutes.drop, { body: { ids: [id] } })),
        destroys: true,
      },
      release: act(({ ask }, { id = '' }) => ask(queueRoutes.release, { body: { holdId: id } })),
      hold: act(({ ask }, { domain = '', note = '' }) => {
        const target = { domain: domain.trim() };
        return ask(queueRoutes.hold, { body: { target, note: note.trim() || undefined } });
      }),
    },
  },
];
