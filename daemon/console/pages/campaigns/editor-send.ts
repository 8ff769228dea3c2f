// The fourth part of the editor: the time of a run, its people, and the start of exactly the run
// that a person has seen.
import { createHash } from 'node:crypto';
import { campaignRoutes, campaignRunRoutes } from '../../../../src/campaigns/setup/routes.ts';
import type { Estimate } from '../../../../src/campaigns/setup/run-schema.ts';
import type { Campaign } from '../../../../src/campaigns/setup/schema.ts';
import { timeIn } from '../../../../src/platform/runtime/calendar.ts';
import type { SkipReason } from '../../../../src/run-ledger/schema.ts';
import { withQuery } from '../../api.ts';
import { html, type Part } from '../../html.ts';
import type { Asked, Form, Outcome } from '../../page.ts';
import { confirmed } from '../../parts/confirm.ts';
import { check } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { counted, timeWords } from '../../parts/times.ts';
import { isRefused } from './editor-check.ts';

/** Reasons for which people are left out, as text after the number. */
const leftOut: Readonly<Record<SkipReason, string>> = {
  excluded: 'have a tag that is left out',
  archived: 'are archived',
  'no-address': 'have no address',
  blocked: 'are blocked',
  unsubscribed: 'left the list, or all mail',
  pending: 'have not confirmed the list yet',
  preference: 'want no campaigns',
  duplicate: 'share an address that gets it already',
};

const limits = {
  rate: 'The rate of your plan limits it.',
  'daily-quota': 'The daily limit of your plan slows it.',
  warming: 'The warming of the domain slows it.',
} as const;

/** Formats a number of people: "1 person", "1,234 people". */
const peopleIn = (count: number) => `${counted(count)} ${count === 1 ? 'person' : 'people'}`;

/** Returns the number of recipients as text: "386 people" or "Nobody gets it". */
export const peopleLine = (dispatch: number) =>
  dispatch === 0 ? 'Nobody gets it' : peopleIn(dispatch);

/** Returns the headline of a run before it is made: "386 people, done at 09:31". */
export function headline({ dispatch, lastAt }: Estimate, when: (at: string) => string): string {
  const people = peopleLine(dispatch);
  return dispatch === 0 || lastAt === null ? people : `${people}, done ${when(lastAt)}`;
}

/** Draws the people who are left out, by reason. */
export function leftOutList({ skipped }: Pick<Estimate, 'skipped'>): Part {
  const left = Object.entries(skipped).filter(([, count]) => count > 0);
  return html`<ul>${left.map(([why, count]) => html`<li><b>${counted(count)}</b> ${leftOut[why as SkipReason] ?? why}</li>`)}</ul>`;
}

/** Converts a local time of the organization to an instant; undefined for "at once". */
export function instantOf({ timezone }: Pick<Asked, 'timezone'>, at = ''): string | undefined {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d)/.exec(at);
  if (!parts) return at || undefined;
  const [, day = '', hours, minutes] = parts;
  return new Date(timeIn(timezone, day, Number(hours) * 60 + Number(minutes))).toISOString();
}

/** A campaign with its estimate, as a person sees both. */
export interface Look {
  campaign: Campaign;
  estimate: Estimate;
  /** Digest of the campaign, the mail and the counts: a run starts only while they are the same. */
  digest: string;
}

/** Reads a campaign, and the estimate of a run at `scheduledFor`, or now if it is left out. */
export async function readRunEstimate(
  { ask, params }: Asked,
  scheduledFor?: string,
): Promise<Look> {
  const [campaign, estimate] = await Promise.all([
    ask(campaignRoutes.get, { params }),
    ask(campaignRoutes.estimate, { params, query: { scheduledFor } }),
  ]);
  const { total, dispatch, skipped, mail } = estimate;
  const seen = JSON.stringify([campaign, scheduledFor, total, dispatch, skipped, mail?.digest]);
  return { campaign, estimate, digest: createHash('sha256').update(seen).digest('base64url') };
}

/** Draws the button that starts the run, with the question before it. */
function starting(asked: Asked, { campaign, estimate, digest }: Look, at?: string): Part {
  const many = peopleIn(estimate.dispatch);
  const label = at ? `Schedule for ${many}` : `Send to ${many}`;
  const question = at ? `Send to ${many} ${timeWords(asked, at)}?` : `Send to ${many} now?`;
  return confirmed(asked, {
    action: 'run',
    label,
    question,
    goes: html`“${estimate.mail?.subject ?? campaign.name}”, from ${estimate.mail?.from.email}. The text is fixed from now on: later changes do not reach this run.`,
    fields: { digest, once: asked.newToken(), scheduledFor: at ?? '' },
    more: check('onlyNew', 'leave out people of earlier runs, whom the number counts'),
    look: 'first',
  });
}

/** Draws the part of the editor that sends: the time, the number of people and the button. */
export function sendPart(asked: Asked, look: Look, at?: string): Part {
  const { campaign, estimate } = look;
  const { firstAt, limitedBy, dispatch } = estimate;
  const when = (time: string) => timeWords(asked, time);
  const typed = asked.query['at'];
  const start = at ? `It starts ${when(at)}.` : firstAt && 'It starts at once.';
  const isOffered = asked.may('campaigns:run') && !isRefused(look) && dispatch > 0;
  return html`<div class="parts"><div class="in">
      <form method="get" class="fields" action=${`/console/campaigns/${campaign.id}#send`}>
        <label class="field"><span>Start (${asked.timezone})</span> <input type="datetime-local" name="at" value=${typed} /> <small>Empty: now</small></label>
        <div class="row"><button class="btn">Count again</button></div></form>
      <p class="soft">Whoever joins until then gets it too. If too much of it bounces, sending stops on its own.</p>
    </div><div class="in sum" role="status"><p class="big">${headline(estimate, when)}</p>
      <p>${start} ${limitedBy !== null && html`<span class="soft">${limits[limitedBy]}</span>`}</p>
      ${isOffered && starting(asked, look, at)}
      ${isRefused(look) && html`<p class="soft">It cannot be sent yet: see part 3.</p>`}</div></div>`;
}

/** Starts the run that the person has seen, unless the campaign or the counts have changed. */
export async function startRun(asked: Asked, given: Form): Promise<Outcome> {
  const scheduledFor = given['scheduledFor'] || undefined;
  const { digest } = await readRunEstimate(asked, scheduledFor);
  const path = `/campaigns/${asked.params['id']}`;
  if (digest !== given['digest']) {
    const again = withQuery(path, asked.query);
    return {
      status: 409,
      title: 'The campaign was changed',
      body: html`<p class="problem" role="alert">The campaign, its mail or its contacts changed after you looked, so nothing was started.</p><p>${link(again, 'Look again')}</p>`,
    };
  }
  const body = {
    idempotencyKey: given['once'],
    scheduledFor: scheduledFor ?? null,
    ...(given['onlyNew'] === '1' && { onlyNew: true }),
  };
  const { id } = await asked.ask(campaignRunRoutes.create, { params: asked.params, body });
  const said = scheduledFor ? 'The run is scheduled.' : 'The run has started.';
  return { to: `/console${path}/runs/${id}`, said };
}
