// A run of a campaign: the finding first, the funnel with the run before it, the mail itself, and
// the people by outcome.
import { campaignRoutes, campaignRunRoutes } from '../../../../src/campaigns/setup/routes.ts';
import type { Run, RunSummary } from '../../../../src/campaigns/setup/run-schema.ts';
import { standingOf } from '../../../../src/campaigns/setup/run-words.ts';
import { spanInWords } from '../../../../src/outbound/explain/time-words.ts';
import { messageRoutes } from '../../../../src/outbound/messages/routes.ts';
import { runStatuses } from '../../../../src/run-ledger/schema.ts';
import { orNone } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Action, Asked, Page, View } from '../../page.ts';
import { card } from '../../parts/card.ts';
import { confirmed } from '../../parts/confirm.ts';
import { button, field, form } from '../../parts/form.ts';
import { icon } from '../../parts/icon.ts';
import { link } from '../../parts/link.ts';
import { counted, percent, share, time } from '../../parts/times.ts';
import { state } from '../../states.ts';
import { mailCard } from '../messages/preview.ts';
import { latestRuns, ofDelivered } from './latest-runs.ts';
import { bouncesOf, findingOn } from './run-finding.ts';
import { exportPage, peopleCard } from './run-people.ts';
import { resultCards } from './run-results.ts';

const isKnown = ({ status }: RunSummary) => runStatuses.includes(status);
const stopped = new Set(['paused', 'held']);

/** Draws the buttons for the status of the run: cancel, pause, or run again for failures. */
function moves(asked: Asked, run: RunSummary, hasQueued: boolean): Part {
  const { status, failedCount, stats } = run;
  if (!asked.may('campaigns:run')) return null;
  const cancel = confirmed(asked, {
    action: 'cancel',
    label: 'Cancel the run',
    question: 'Cancel this run for good?',
    goes: 'Who has no mail yet gets none. Mail that left stays.',
  });
  if (status === 'scheduled' || stopped.has(status)) return cancel;
  if (status === 'running' || (status === 'completed' && hasQueued)) {
    return together(button(asked, { action: 'pause', label: 'Pause' }), cancel);
  }
  const fields = { once: asked.newToken() };
  const failed = failedCount + stats.failed;
  const label = `Run again for the ${failed} that failed`;
  return failed > 0 && button(asked, { action: 'retry', label, fields });
}

/** Draws the form that resumes a stopped run. */
function resuming(asked: Asked, { status }: RunSummary): Part {
  if (!stopped.has(status) || !asked.may('campaigns:run')) return null;
  const isRequired = status === 'held';
  const note = field({ name: 'note', label: 'Findings of the review', isRequired });
  return card('Resume the run', form(asked, 'resume', 'Resume', note));
}

const queuedStatuses = ['pending', 'processing'] as const;

/** Tells whether mail of a completed run is queued, so that it can be stopped. */
async function hasQueuedMail({ ask, params }: Asked, { status }: RunSummary): Promise<boolean> {
  if (status !== 'completed') return false;
  const pages = await Promise.all(
    queuedStatuses.map((queued) =>
      ask(campaignRunRoutes.recipients, { params, query: { status: queued, limit: 1 } }),
    ),
  );
  return pages.some(({ items }) => items.length > 0);
}

const minuteMs = 60_000;

/** Returns a sentence with the mails per minute and the remaining time; empty before any mail. */
function pace(run: RunSummary, checked: number, now: number): string {
  const { status, startedAt, completedAt, updatedAt, dispatchedCount, totalRecipients } = run;
  if (startedAt === null || dispatchedCount === 0) return '';
  const end = status === 'running' ? now : Date.parse(completedAt ?? updatedAt);
  const tookMs = Math.max(1_000, end - Date.parse(startedAt));
  const perMinute = Math.round((dispatchedCount / tookMs) * minuteMs * 10) / 10;
  const leftMs = (Math.max(0, totalRecipients - checked) * tookMs) / checked;
  const rest = status === 'running' && leftMs > 0 ? `, about ${spanInWords(leftMs)} left` : '';
  return `${perMinute.toLocaleString('en')} mails a minute over ${spanInWords(tookMs)}${rest}.`;
}

interface Stage {
  label: string;
  value: number;
  /** Value of the stage of which `value` is a share. */
  whole: number;
  /** The same share in the run before; null without such a run. */
  before: number | null;
  soft?: string;
  hint?: string;
}

/**
 * Returns counts in which each stage includes the next: a bounced message was tried, a clicked
 * message was opened, and an opened message was delivered.
 */
function wholesOf(stats: RunSummary['stats']) {
  const opened = Math.max(stats.opened, stats.clicked);
  const delivered = Math.max(stats.delivered, opened);
  return { opened, delivered, sent: Math.max(stats.sent, delivered + stats.bounced) };
}

/** Returns the stages of a run, with the shares of the run before. */
export function stagesOf(run: RunSummary, before: RunSummary | null): Stage[] {
  const { stats, dispatchedCount, skippedCount, failedCount, totalRecipients } = run;
  const { sent, delivered, opened } = wholesOf(stats);
  const chosen = Math.max(totalRecipients, dispatchedCount + skippedCount + failedCount, sent);
  const waiting = Math.max(0, dispatchedCount - sent - stats.failed);
  const old = before && wholesOf(before.stats);
  const left = `${counted(skippedCount)} left out`;
  return [
    { label: 'Chosen', value: chosen, whole: chosen, before: null, soft: left },
    {
      label: 'Sent',
      value: sent,
      whole: chosen,
      before: null,
      hint: `dispatchedCount (accepted): ${counted(dispatchedCount)}`,
      ...(waiting > 0 && { soft: `${counted(waiting)} waiting` }),
    },
    {
      label: 'Delivered',
      value: delivered,
      whole: sent,
      before: old && share(old.delivered, old.sent),
    },
    {
      label: 'Opened',
      value: opened,
      whole: delivered,
      before: old && share(old.opened, old.delivered),
    },
    {
      label: 'Clicked',
      value: stats.clicked,
      whole: delivered,
      before: old && before && share(before.stats.clicked, old.delivered),
    },
  ];
}

function stagePart({ label, value, whole, before, soft, hint }: Stage): Part {
  const part = share(value, whole);
  const by = part === null || before === null ? 0 : Math.round((part - before) * 1000) / 10;
  const change =
    by !== 0 &&
    html` <span class=${by > 0 ? 'up' : 'down'}>${by < 0 ? '−' : '+'}${Math.abs(by).toFixed(1)}</span>`;
  return html`<li title=${hint}><small>${label}</small><div class="v">${counted(value)}</div>
    <small>${soft ?? percent(part)}${change}</small>
    <svg viewBox="0 0 100 26" preserveAspectRatio="none" aria-hidden="true"><rect class="t" width="100" height="26" /><rect class="f" y=${26 - 26 * (part ?? 0)} width="100" height=${26 * (part ?? 0)} /></svg></li>`;
}

/** Returns the latest of some runs that started before an instant. */
function latestBefore<Item extends { run: RunSummary }>(found: readonly Item[], at: string) {
  const started = ({ run }: Item) => run.startedAt ?? '';
  return found
    .filter((item) => started(item) !== '' && started(item) < at)
    .toSorted((a, b) => (started(a) < started(b) ? 1 : -1))[0];
}

/** Returns the run before a run: of the same campaign, else of the newest campaigns. */
async function runBefore(asked: Asked, { startedAt }: RunSummary) {
  if (startedAt === null) return null;
  const { items } = await asked.ask(campaignRunRoutes.list, {
    params: { id: asked.params['id'] },
    query: { limit: 5 },
  });
  const own = items.map((run) => ({ run, name: 'the run before' }));
  const found = latestBefore(own, startedAt);
  if (found) return found;
  const all = await latestRuns(asked, 5);
  const named = all.flatMap(({ run, campaign: { name } }) =>
    run ? [{ run, name: `“${name}”` }] : [],
  );
  return latestBefore(named, startedAt) ?? null;
}

/** Draws a mail of the run as the recipient got it; nothing if the caller may not read messages. */
async function mailOf(asked: Asked, messageId: string | null): Promise<Part> {
  const input = { params: { id: messageId }, query: { includeStorageUrls: true } };
  const found = await orNone(messageId !== null && asked.may('messages:read'), () =>
    asked.ask(messageRoutes.email, input),
  );
  return found && mailCard(asked, found, found.toEmails[0] ?? '');
}

function findingPart(sentence: string, more: Part, tone: 'warn' | 'info'): Part {
  return html`<aside class=${`find-out ${tone}`} aria-label="Finding">${icon(tone === 'warn' ? 'warning' : 'approve', tone)}<p><b>${sentence}</b> ${more}</p></aside>`;
}

/**
 * Draws the finding on bounces, and the state of the run. Leaves out the state of a completed run
 * beside a finding.
 */
async function finding(asked: Asked, run: Run): Promise<Part> {
  const found = findingOn(await bouncesOf(asked, run), run.stats.bounced);
  const because = isKnown(run) ? standingOf(run, asked.now).because : '';
  const standing =
    because !== '' &&
    findingPart(because, '', stopped.has(run.status) || run.status === 'failed' ? 'warn' : 'info');
  const bounces =
    found &&
    findingPart(
      found.sentence,
      html`${found.more} <a href=${`/console${asked.path}?status=bounced#people`}>Show them</a>`,
      'warn',
    );
  return together(bounces, (run.status !== 'completed' || !bounces) && standing);
}

async function show(asked: Asked): Promise<View> {
  const { ask, params } = asked;
  const [run, campaign] = await Promise.all([
    ask(campaignRunRoutes.get, { params }),
    ask(campaignRoutes.get, { params: { id: params['id'] } }),
  ]);
  const checked = run.dispatchedCount + run.skippedCount + run.failedCount;
  const total = Math.max(run.totalRecipients, checked);
  const [people, before, found, hasQueued, results] = await Promise.all([
    peopleCard(asked, run),
    runBefore(asked, run),
    finding(asked, run),
    hasQueuedMail(asked, run),
    resultCards(asked, checked),
  ]);
  const { stats, startedAt, scheduledFor, createdAt, actorEmail } = run;
  const facts = [
    before && `Compared with ${before.name}`,
    `${counted(stats.unsubscribed)} left the list (${ofDelivered(stats.unsubscribed, stats.delivered)})`,
    `${counted(stats.complained)} reported as spam`,
    `${counted(stats.bounced)} bounced`,
    pace(run, checked, asked.now),
  ].filter(Boolean);
  const isOpen = run.status === 'running' || stopped.has(run.status);
  return {
    title: campaign.name,
    crumb: html`${link('/campaigns', 'Campaigns')} / ${link(`/campaigns/${params['id']}`, campaign.name)} / Run`,
    below: html`${state(run.status)} ${time(startedAt ?? scheduledFor ?? createdAt)}${actorEmail && ` · by ${actorEmail}`}`,
    actions: moves(asked, run, hasQueued),
    // Figures change with events of the messages of the run, so the page follows all events.
    live: 'exchange',
    body: together(
      found,
      isOpen &&
        html`<p><label>${counted(checked)} of ${counted(total)} checked <progress max=${Math.max(1, total)} value=${checked}></progress></label></p>`,
      resuming(asked, run),
      html`<section class="card" aria-label="Result"><ul class="funnel">${stagesOf(run, before?.run ?? null).map(stagePart)}</ul><p class="pager">${facts.join(' · ')}</p></section>`,
      results,
      html`<div class="grid two">${people.card}${await mailOf(asked, people.firstMessage)}</div>`,
    ),
    command: `svc campaigns recipients ${params['runId']}`,
    request: `GET /v1/campaigns/${params['id']}/runs/${params['runId']}`,
  };
}

const words = { pause: 'Paused.', resume: 'It continues.', cancel: 'The run is cancelled.' };

const move = (verb: 'pause' | 'resume' | 'cancel'): Action => ({
  needs: 'campaigns:run',
  async run({ ask, params, path }, { note = '' }) {
    const body = note.trim() === '' ? {} : { note: note.trim() };
    await ask(campaignRunRoutes[verb], { params, body });
    const done = { to: `/console${path}`, said: words[verb] };
    if (verb === 'cancel') return done;
    const action = verb === 'pause' ? 'resume' : 'pause';
    return { ...done, undo: { path, action, fields: {} } };
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
          return {
            to: `/console/campaigns/${params['id']}/runs/${id}`,
            said: 'A new run has started.',
          };
        },
      },
    },
  },
  exportPage,
];
