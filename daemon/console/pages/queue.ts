// The queue over all organizations, for the operator: what waits, for which receiver and why, and
// mail on hold.
import { queueStates } from '../../../src/outbound/deliveries/queue-queries.ts';
import { waitReasons } from '../../../src/outbound/deliveries/status.ts';
import type { Hold, QueueEntry } from '../../../src/outbound/queue/desk/queue-schema.ts';
import { queueRoutes } from '../../../src/outbound/queue/desk/routes.ts';
import type { LaneView, QueueSnapshot } from '../../../src/outbound/queue/lanes/lane-report.ts';
import { html, type Part, together } from '../html.ts';
import type { Action, Asked, Form, Page } from '../page.ts';
import { card, foldedCard } from '../parts/card.ts';
import { sparkline } from '../parts/chart.ts';
import { confirmed } from '../parts/confirm.ts';
import { filterRow } from '../parts/filter-row.ts';
import { button, field, form } from '../parts/form.ts';
import { link } from '../parts/link.ts';
import { emptyState, table } from '../parts/table.ts';
import { tiles } from '../parts/tiles.ts';
import { counted, time } from '../parts/times.ts';
import { addressPart } from '../parts/who.ts';
import { state, states } from '../states.ts';
import { delayOf } from './causes.ts';
import { whyWaiting } from './messages/verdict.ts';

const perPage = 50;
const reasonWords: Readonly<Record<(typeof waitReasons)[number], string>> = {
  rate: 'Much mail to one receiver',
  'daily-quota': 'Daily limit of the plan',
  'domain-health': 'Domain is held back',
  'tenant-health': 'Sending is paused',
  'provider-unavailable': 'Receiver asked for less mail',
  retry: 'Next try',
  'campaign-paused': 'Campaign is stopped',
};
const reasonOptions = waitReasons.map((name) => [name, reasonWords[name]] as const);

function figures({ counts, countedUpTo, ...snapshot }: QueueSnapshot): Part {
  const { workers, idleWorkers, takenPerSecond, pace } = snapshot;
  const number = (count: number) => `${counted(count)}${count >= countedUpTo ? '+' : ''}`;
  return tiles([
    ...Object.entries(counts).map(([name, count]) => ({
      label: states[name]?.[0] ?? name,
      value: number(count),
      ...(count > 0 && { path: `/queue?state=${name}` }),
    })),
    {
      label: 'Leave each second',
      value: counted(takenPerSecond),
      below: `${workers - idleWorkers} of ${workers} daemons at work`,
      line: { now: pace },
    },
  ]);
}

/** Draws the lanes in use: for each receiver, waiting mail and limits. */
function receivers(asked: Asked, lanes: readonly LaneView[]): Part {
  if (lanes.length === 0) return null;
  return card(
    'By receiver',
    table<LaneView>(
      asked,
      { items: lanes },
      [
        {
          head: 'Receiver',
          cell: ({ lane }) => html`<b>${addressPart(lane.replace(/^domain /, ''))}</b>`,
        },
        {
          head: 'State',
          isPlain: true,
          cell: ({ closedUntil }) =>
            closedUntil &&
            html`<span class="pill warn">Asked for less mail until ${time(closedUntil)}</span>`,
        },
        { head: 'Waiting', isNumber: true, cell: ({ waiting }) => counted(waiting) },
        {
          head: 'Leave now',
          isNumber: true,
          cell: ({ inFlight, window }) => `${inFlight} of ${window}`,
        },
        {
          head: 'Limit a minute',
          isNumber: true,
          cell: ({ perMinute }) => (perMinute === null ? 'none' : counted(perMinute)),
        },
        { head: 'Pace', cell: ({ pace }) => sparkline('Accepted each second', pace) },
      ],
      null,
    ),
  );
}

/** Returns the reason of a wait in words; null without a known reason. */
function reasonOf({ waitReason, errorCode, recipient, ...entry }: QueueEntry): string | null {
  if (entry.holdId !== null) return 'on hold';
  if (waitReason === 'retry') return delayOf(errorCode, recipient);
  return whyWaiting(waitReason, entry) ?? null;
}

function reasonPart(entry: QueueEntry): Part {
  const reason = reasonOf(entry);
  const { lastWords } = entry;
  return html`${state(entry.state)}${reason && html`<br />${reason}`}${lastWords && html`<br /><small>“${lastWords}”</small>`}`;
}

/** Returns the name of the caller's organization. A different organization stays unnamed. */
function organizationOf({ session, caller }: Asked, id: string | null): string {
  return id === caller.organizationId ? session.organization.name : 'another organization';
}

function recipientPart(asked: Asked, entry: QueueEntry): Part {
  const { messageId, organizationId, recipient, senderDomain } = entry;
  const name = html`<b>${addressPart(recipient)}</b>`;
  const isOwn = organizationId === asked.caller.organizationId;
  return html`${isOwn ? link(`/messages/${messageId}`, name) : name}<br /><small>from ${senderDomain} · ${organizationOf(asked, organizationId)}</small>`;
}

async function entries(asked: Asked): Promise<Part> {
  const { state: wanted, waitReason, domain, page } = asked.query;
  const query = { state: wanted, waitReason, domain, page, limit: perPage };
  const found = await asked.ask(queueRoutes.list, { query });
  const filtering = filterRow(asked, {
    search: { name: 'domain', label: 'Domain of the recipient' },
    chips: [
      { name: 'state', label: 'State', options: queueStates, value: wanted },
      { name: 'waitReason', label: 'Waits because', options: reasonOptions, value: waitReason },
    ],
  });
  const rows = table<QueueEntry>(
    asked,
    found,
    [
      { head: 'Recipient', cell: (entry) => recipientPart(asked, entry) },
      { head: 'State and reason', isPlain: true, cell: reasonPart },
      { head: 'Next try', isNumber: true, cell: ({ dueAt }) => dueAt && time(dueAt) },
      {
        head: 'Tries',
        isNumber: true,
        cell: ({ attemptCount, maxAttempts }) => `${attemptCount} of ${maxAttempts}`,
      },
      {
        head: '',
        cell: ({ id, recipient }) =>
          html`<span class="row">${button(asked, { action: 'retry', label: 'Try now', fields: { id } })}
            ${confirmed(asked, { action: 'drop', label: 'Drop', question: `Send nothing to ${recipient}?`, goes: 'This recipient gets no more tries.', fields: { id }, look: '' })}</span>`,
      },
    ],
    wanted || waitReason || domain ? 'No mail fits.' : emptyState('No mail waits.'),
  );
  return card('Mail that waits', html`${filtering}${rows}`, { id: 'entries' });
}

/** Returns the target of a hold in words. */
function targetOf(asked: Asked, { domain, organizationId, messageId, deliveryId }: Hold): string {
  if (messageId !== null) return 'One mail';
  if (deliveryId !== null) return 'One recipient of a mail';
  const from = organizationId === null ? '' : ` of ${organizationOf(asked, organizationId)}`;
  return domain === null ? `All mail${from}` : `Mail${from} to ${domain}`;
}

async function holds(asked: Asked): Promise<Part> {
  const items = await asked.ask(queueRoutes.holds);
  const list = table<Hold>(
    asked,
    { items },
    [
      {
        head: 'On hold',
        cell: (hold) =>
          html`<b>${targetOf(asked, hold)}</b>${hold.note !== null && html`<br /><small>${hold.note}</small>`}`,
      },
      { head: 'State', isPlain: true, cell: ({ state: word }) => state(word) },
      { head: 'Set aside', isNumber: true, cell: ({ held }) => counted(held) },
      { head: 'Since', isNumber: true, cell: ({ createdAt }) => time(createdAt) },
      {
        head: '',
        cell: ({ id }) => button(asked, { action: 'release', label: 'Release', fields: { id } }),
      },
    ],
    null,
  );
  const fields = html`
    ${field({ name: 'domain', label: 'Domain of the recipients', isRequired: true })}
    ${field({ name: 'note', label: 'Note', hint: 'Such as why, and until when' })}`;
  return together(
    items.length > 0 && card('On hold', list),
    foldedCard(
      'Hold mail to a domain',
      form(asked, 'hold', 'Hold it', fields),
      'it waits until you release it',
    ),
  );
}

const act = (said: string, run: (asked: Asked, form: Form) => Promise<unknown>): Action => ({
  needs: 'operator',
  async run(asked, fields) {
    await run(asked, fields);
    return { to: '/console/queue', said };
  },
});

export const queuePages: readonly Page[] = [
  {
    path: '/queue',
    needs: 'operator',
    async show(asked) {
      const [snapshot, held, list] = await Promise.all([
        asked.ask(queueRoutes.show),
        holds(asked),
        entries(asked),
      ]);
      return {
        title: 'Queue',
        below: 'Mail of all organizations that has not left yet',
        live: 'often',
        body: together(figures(snapshot), receivers(asked, snapshot.lanes), list, held),
        command: 'svc queue top',
      };
    },
    actions: {
      retry: act('It is tried now.', ({ ask }, { id = '' }) =>
        ask(queueRoutes.retry, { body: { ids: [id] } }),
      ),
      drop: {
        ...act('It is dropped: the recipient gets no more tries.', ({ ask }, { id = '' }) =>
          ask(queueRoutes.drop, { body: { ids: [id] } }),
        ),
        destroys: true,
      },
      release: act('It continues.', ({ ask }, { id = '' }) =>
        ask(queueRoutes.release, { body: { holdId: id } }),
      ),
      hold: {
        needs: 'operator',
        async run({ ask, path }, { domain = '', note = '' }) {
          const target = { domain: domain.trim() };
          const body = { target, note: note.trim() || undefined };
          const { id } = await ask(queueRoutes.hold, { body });
          const undo = { path, action: 'release', fields: { id } };
          return { to: `/console${path}`, said: 'It waits until you release it.', undo };
        },
      },
    },
  },
];
