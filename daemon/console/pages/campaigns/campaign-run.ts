// A run of a campaign: the progress, the reason for a wait, and the recipients by outcome.
import { campaignRunRoutes } from '../../../../src/campaigns/setup/routes.ts';
import type { RunSummary } from '../../../../src/campaigns/setup/run-schema.ts';
import { standingOf } from '../../../../src/campaigns/setup/run-words.ts';
import { messageStatuses } from '../../../../src/outbound/deliveries/status.ts';
import { spanInWords } from '../../../../src/outbound/explain/time-words.ts';
import { runOutcomes, runStatuses } from '../../../../src/run-ledger/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Action, Asked, Page, View } from '../../page.ts';
import { facts } from '../../parts/facts.ts';
import { filters } from '../../parts/filter-row.ts';
import { button, choice, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { state } from '../../states.ts';

const counted = (count: number) => count.toLocaleString('en');
const isKnown = ({ status }: RunSummary) => runStatuses.includes(status);
const stopped = new Set(['paused', 'held']);

function moves(asked: Asked, { status, failedCount, stats }: RunSummary, hasQueued: boolean): Part {
  if (!asked.may('campaigns:run')) return null;
  const cancel = button(asked, { action: 'cancel', label: 'Cancel' });
  if (status === 'scheduled') return html`<div class="row">${cancel}</div>`;
  if (status === 'running' || (status === 'completed' && hasQueued)) {
    return html`<div class="row">${button(asked, { action: 'pause', label: 'Pause' })} ${cancel}</div>`;
  }
  if (stopped.has(status)) {
    const note = field({
      name: 'note',
      label: 'Findings of the review',
      isRequired: status === 'held',
    });
    return html`${form(asked, 'resume', 'Resume', note)}<div class="row">${cancel}</div>`;
  }
  const fields = { once: asked.newToken() };
  const failed = failedCount + stats.failed;
  const retry = { action: 'retry', label: `Run again for the ${failed} that failed`, fields };
  return failed > 0 && html`<div class="row">${button(asked, retry)}</div>`;
}

const queuedStatuses = ['pending', 'processing'] as const;

/** Tells whether mail of a completed run is queued, so that it can be stopped. */
async function hasQueuedMail({ ask, params }: Asked, { status }: RunSummary): Promise<boolean> {
  if (status !== 'completed') return false;
  const pages = await Promise.all(
    queuedStatuses.map((one) =>
      ask(campaignRunRoutes.recipients, { params, query: { status: one, limit: 1 } }),
    ),
  );
  return pages.some(({ items }) => items.length > 0);
}

const minuteMs = 60_000;

/** Returns the number of mails made per minute, and the remaining time at that pace. */
function pace(run: RunSummary, judged: number, now: number): Part {
  const { status, startedAt, completedAt, updatedAt, dispatchedCount, totalRecipients } = run;
  if (startedAt === null || dispatchedCount === 0) return null;
  const end = status === 'running' ? now : Date.parse(completedAt ?? updatedAt);
  const tookMs = Math.max(1_000, end - Date.parse(startedAt));
  const perMinute = Math.round((dispatchedCount / tookMs) * minuteMs * 10) / 10;
  const leftMs = (Math.max(0, totalRecipients - judged) * tookMs) / judged;
  const rest = status === 'running' && leftMs > 0 && `, about ${spanInWords(leftMs)} left`;
  return html`<p>${perMinute.toLocaleString('en')} mails a minute over ${spanInWords(tookMs)}${rest}.</p>`;
}

async function show(asked: Asked): Promise<View> {
  const { ask, params } = asked;
  const { outcome, reason, status, cursor } = asked.query;
  const query = { outcome, reason, status, cursor };
  const [run, recipients] = await Promise.all([
    ask(campaignRunRoutes.get, { params }),
    ask(campaignRunRoutes.recipients, { params, query }),
  ]);
  const done = run.dispatchedCount + run.skippedCount + run.failedCount;
  const total = Math.max(run.totalRecipients, done);
  const body = together(
    moves(asked, run, await hasQueuedMail(asked, run)),
    html`<p>${state(run.status)} ${isKnown(run) && standingOf(run, asked.now).because}</p>
      <p><label>${counted(done)} of ${counted(total)} judged <progress max=${Math.max(1, total)} value=${done}></progress></label></p>`,
    pace(run, done, asked.now),
    facts(run, [
      ['Recipients', 'totalRecipients'],
      ['Sent', 'dispatchedCount'],
      ['Skipped', 'skippedCount'],
      ['Failed', 'failedCount'],
      ['Delivered', 'stats.delivered'],
      ['Opened', 'stats.opened'],
      ['Clicked', 'stats.clicked'],
      ['Bounced', 'stats.bounced'],
      ['Complaints', 'stats.complained'],
      ['Unsubscribed', 'stats.unsubscribed'],
      ['Mails that failed', 'stats.failed'],
      ['Starts', 'scheduledFor'],
      ['Started', 'startedAt'],
      ['Ended', 'completedAt'],
      ['Waits for', 'waitReason'],
      ['Goes on', 'nextDispatchAt'],
      ['Held for', 'holdReason'],
      ['Held because', 'holdDetail'],
      ['Failed because', 'failureReason'],
    ]),
    html`<h2>Recipients</h2>`,
    filters(html`
      ${choice({ name: 'outcome', label: 'Outcome', options: runOutcomes, value: outcome })}
      ${choice({ name: 'status', label: 'Status of the message', options: messageStatuses, value: status })}
      ${field({ name: 'reason', label: 'Reason', value: reason, type: 'search' })}
    `),
    table(
      asked,
      recipients,
      [
        ['Contact', ({ contactId }) => link(`/contacts/${contactId}`, contactId.slice(-8))],
        ['Outcome', (one) => state(one.outcome)],
        ['Reason', (one) => one.reason],
        ['Message', (one) => one.messageId && link(`/messages/${one.messageId}`, one.status)],
        ['Opened', (one) => one.openedAt && time(one.openedAt)],
        ['Clicked', (one) => one.clickedAt && time(one.clickedAt)],
      ],
      'Nobody has this outcome.',
    ),
    html`<p>${link(`/campaigns/${params['id']}`, 'Back to the campaign')}</p>`,
  );
  return {
    title: 'Run of a campaign',
    // Figures change with events of the messages of the run, so the page follows all events.
    live: 'exchange',
    body,
    command: `svc campaigns recipients ${params['runId']}`,
    request: `GET /v1/campaigns/${params['id']}/runs/${params['runId']}`,
  };
}

const move = (verb: 'pause' | 'resume' | 'cancel'): Action => ({
  needs: 'campaigns:run',
  async run({ ask, params, path }, { note = '' }) {
    const body = note.trim() === '' ? {} : { note: note.trim() };
    await ask(campaignRunRoutes[verb], { params, body });
    return `/console${path}`;
  },
});

export const runPages: readonly Page[] = [
  {
    path: '/campaigns/:id/runs/:runId',
    needs: 'campaigns:read',
    show,
    actions: {
      pause: move('pause'),
      resume: move('resume'),
      cancel: move('cancel'),
      retry: {
        needs: 'campaigns:run',
        async run({ ask, params }, { once }) {
          const body = { idempotencyKey: once };
          const { id } = await ask(campaignRunRoutes.retry, { params, body });
          return `/console/campaigns/${params['id']}/runs/${id}`;
        },
      },
    },
  },
];
