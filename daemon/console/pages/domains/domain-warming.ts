// The warming of a domain: the ramp against the sent mail, the evidence, the holds, and the
// decisions of a person.
import type { Doorway } from '../../../../src/core/api/route.ts';
import { warmingRoutes } from '../../../../src/identity/warming/routes.ts';
import type { Warming } from '../../../../src/identity/warming/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Action, Asked } from '../../page.ts';
import { calls } from '../../parts/calls.ts';
import { columnChart } from '../../parts/chart.ts';
import { facts } from '../../parts/facts.ts';
import { choice, field, form } from '../../parts/form.ts';
import { emptyState } from '../../parts/table.ts';
import { percent, share, time } from '../../parts/times.ts';
import { state } from '../../states.ts';

const shownDecisions = 10;

function decide(asked: Asked, { plan }: Warming): Part {
  if (!asked.may('domains:write')) return null;
  const note = field({ name: 'note', label: 'Note' });
  const isHeld = plan.status === 'held';
  const findings = field({ name: 'note', label: 'Findings of the review', isRequired: true });
  if (plan.status === 'active') {
    const others = [{ action: 'stopWarming', label: 'Cancel the plan' }];
    return form(asked, 'pauseWarming', 'Pause the plan', note, others);
  }
  if (isHeld || plan.status === 'paused') {
    return form(asked, 'resumeWarming', 'Resume the plan', isHeld ? findings : note);
  }
  return null;
}

/** Draws the form that starts a plan. */
function start(asked: Asked): Part {
  if (!asked.may('domains:write')) return null;
  const number = (name: string, label: string, value: string) =>
    field({ name, label, value, type: 'number', isRequired: true });
  return html`<details><summary>Warm the domain</summary>${form(
    asked,
    'startWarming',
    'Start the plan',
    html`
    ${choice({ name: 'identity', label: 'The domain is', options: ['new', 'migrating', 'returning'], value: 'new' })}
    ${number('initialDailyRecipients', 'Recipients on the first day', '200')}
    ${number('dailyGrowthPercent', 'Growth a day, in percent', '30')}
    ${number('targetDailyRecipients', 'Recipients a day at the end', '10000')}
    ${choice({ name: 'direct', label: 'Direct mail above the allowance', options: ['count', 'defer'], value: 'count' })}
  `,
  )}</details>`;
}

/** Draws the plan of a domain, or the form of a new plan. */
export function warmingPart(asked: Asked, warming: Warming | null): Part {
  const isOver = !warming || ['completed', 'cancelled'].includes(warming.plan.status);
  return together(
    warming ? planPart(asked, warming) : emptyState('The domain has no warming plan.'),
    isOver && start(asked),
  );
}

function planPart(asked: Asked, warming: Warming): Part {
  const { plan, batches, decisions, evidence, holds } = warming;
  const { sent, bounced, complained, verdict } = evidence;
  const rateOf = (count: number) => percent(share(count, sent));
  return together(
    html`<p>${state(plan.status)}</p>`,
    facts(plan, [
      ['First day', 'initialDailyRecipients'],
      ['Growth in percent', 'dailyGrowthPercent'],
      ['Target', 'targetDailyRecipients'],
      ['Direct mail', 'direct'],
      ['Held because', 'holdReason'],
    ]),
    html`<p>Evidence: ${state(verdict)} ${sent.toLocaleString('en')} sent, ${rateOf(bounced)} bounced, ${rateOf(complained)} complaints.
      Sending of the domain: ${state(holds.sendingStatus)} ${holds.workspacePauseReason}</p>`,
    batches.length > 0 &&
      columnChart({
        title: 'Recipients by day',
        columns: batches.map(({ startsAt, acceptedRecipients, allowanceRecipients }) => ({
          label: startsAt.slice(0, 10),
          shortLabel: startsAt.slice(5, 10),
          value: acceptedRecipients,
          before: allowanceRecipients,
        })),
        words: { value: 'accepted', before: 'allowance' },
      }),
    decide(asked, warming),
    html`<h3>Decisions</h3><ol class="timeline">${decisions
      .slice(-shownDecisions)
      .map(
        ({ kind, actor, note, createdAt }) =>
          html`<li>${time(createdAt)} <strong>${kind}</strong> by ${actor} ${note && html`<small>${note}</small>`}</li>`,
      )}</ol>`,
  );
}

const numbers = ['initialDailyRecipients', 'dailyGrowthPercent', 'targetDailyRecipients'];

const move = (way: Doorway, said: string, undo?: string) =>
  calls(way, {
    body: ({ note = '' }) => ({ note: note || undefined }),
    said,
    ...(undo && { undo: [undo] }),
  });

export const warmingActions: Readonly<Record<string, Action>> = {
  startWarming: calls(warmingRoutes.start, {
    body: (given) => ({
      identity: given['identity'],
      direct: given['direct'] || undefined,
      ...Object.fromEntries(numbers.map((name) => [name, Number(given[name])])),
    }),
  }),
  pauseWarming: move(warmingRoutes.pause, 'The plan is paused.', 'resumeWarming'),
  resumeWarming: move(warmingRoutes.resume, 'The plan continues.', 'pauseWarming'),
  stopWarming: move(warmingRoutes.cancel, 'The plan has ended.'),
};
