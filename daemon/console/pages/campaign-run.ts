// One run of a campaign: its progress, what it waits for, and its recipients by outcome.
import { messageStatuses } from '../../../src/outbound/deliveries/status.ts';
import { newToken } from '../../../src/platform/runtime/tokens.ts';
import { html, type Part, together } from '../html.ts';
import type { Action, Asked, Page, View } from '../page.ts';
import {
  button,
  choice,
  facts,
  field,
  filters,
  form,
  type List,
  link,
  state,
  table,
} from '../parts.ts';

interface Run {
  status: string;
  totalRecipients: number | null;
  dispatchedCount: number;
  skippedCount: number;
  failedCount: number;
}

interface Recipient {
  contactId: string;
  outcome: string;
  reason: string | null;
  messageId: string | null;
  status: string | null;
}

const campaignPath = ({ params }: Asked) => `/v1/campaigns/${params['id']}`;
const runPath = (asked: Asked) => `${campaignPath(asked)}/runs/${asked.params['runId']}`;
const outcomes = ['dispatched', 'skipped', 'failed'];
const stopped = new Set(['paused', 'held']);

function moves(asked: Asked, { status, failedCount }: Run): Part {
  if (!asked.may('campaigns:run')) return null;
  const cancel = button(asked, { action: 'cancel', label: 'Cancel' });
  if (status === 'scheduled') return html`<div class="row">${cancel}</div>`;
  if (status === 'running') {
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
  const fields = { once: newToken(asked.app.random) };
  const retry = { action: 'retry', label: `Run again for the ${failedCount} that failed`, fields };
  return failedCount > 0 && html`<div class="row">${button(asked, retry)}</div>`;
}

async function show(asked: Asked): Promise<View> {
  const { api, query } = asked;
  const { outcome, reason, status, cursor } = query;
  const [run, recipients] = await Promise.all([
    api.get<Run>(runPath(asked)),
    api.get<List<Recipient>>(`${runPath(asked)}/recipients`, { outcome, reason, status, cursor }),
  ]);
  const done = run.dispatchedCount + run.skippedCount + run.failedCount;
  const body = together(
    moves(asked, run),
    html`<p>${state(run.status)} <label>${done.toLocaleString('en')} of ${run.totalRecipients?.toLocaleString('en') ?? '?'}${' '}
      <progress max=${run.totalRecipients ?? 1} value=${done}></progress></label></p>`,
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
      ['Starts', 'scheduledFor'],
      ['Waits for', 'waitReason'],
      ['Held because', 'holdDetail'],
      ['Failed because', 'failureReason'],
    ]),
    html`<h2>Recipients</h2>`,
    filters(html`
      ${choice({ name: 'outcome', label: 'Outcome', options: outcomes, value: outcome })}
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
      ],
      'Nobody has this outcome.',
    ),
    html`<p>${link(`/campaigns/${asked.params['id']}`, 'Back to the campaign')}</p>`,
  );
  return {
    title: 'Run of a campaign',
    live: 'exchange',
    about: asked.params['runId'],
    body,
    command: `svc campaigns recipients ${asked.params['runId']}`,
    request: `GET ${runPath(asked)}`,
  };
}

const move = (verb: 'pause' | 'resume' | 'cancel'): Action => ({
  needs: 'campaigns:run',
  async run(asked, { note = '' }) {
    const body = note.trim() === '' ? {} : { note: note.trim() };
    await asked.api.send('POST', `${runPath(asked)}/${verb}`, body);
    return `/console${asked.path}`;
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
        async run(asked, { once }) {
          const path = `${runPath(asked)}/retry`;
          const { id } = await asked.api.send<{ id: string }>('POST', path, {
            idempotencyKey: once,
          });
          return `/console/campaigns/${asked.params['id']}/runs/${id}`;
        },
      },
    },
  },
];
