// The estimate of a campaign, and the start of a run exactly as a person has seen it.
import { createHash } from 'node:crypto';
import { noUnsubscribeGroup } from '../../../../src/campaigns/setup/present-campaign.ts';
import { campaignRoutes, campaignRunRoutes } from '../../../../src/campaigns/setup/routes.ts';
import type { Estimate } from '../../../../src/campaigns/setup/run-schema.ts';
import type { Campaign } from '../../../../src/campaigns/setup/schema.ts';
import { timeIn } from '../../../../src/platform/runtime/calendar.ts';
import { withQuery } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { check, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { time } from '../../parts/times.ts';
import { drawCampaignMail } from '../campaign-mail.ts';
import { campaignFacts, warned } from './campaign-fields.ts';

const ownPath = ({ params }: Asked) => `/campaigns/${params['id']}`;
const counted = (count: number) => count.toLocaleString('en');

function estimated({ total, dispatch, skipped, firstAt, lastAt, limitedBy }: Estimate): Part {
  const left = Object.entries(skipped).filter(([, count]) => count > 0);
  return together(
    html`<p><strong>${counted(dispatch)}</strong> of ${counted(total)} contacts would get a mail${firstAt && html`, the first ${time(firstAt)}`}${lastAt && html`, the last ${time(lastAt)}`}${limitedBy && `, slowed by ${limitedBy}`}.</p>`,
    html`<ul>${left.map(([why, count]) => html`<li>${counted(count)} left out: ${why}</li>`)}</ul>`,
  );
}

interface Look {
  campaign: Campaign;
  estimate: Estimate;
  /** Digest of the campaign, the mail and the counts: a run starts only while they are the same. */
  digest: string;
}

async function look({ ask, params }: Asked, scheduledFor?: string): Promise<Look> {
  const [campaign, estimate] = await Promise.all([
    ask(campaignRoutes.get, { params }),
    ask(campaignRoutes.estimate, { params, query: { scheduledFor } }),
  ]);
  const { total, dispatch, skipped, mail } = estimate;
  const seen = JSON.stringify([campaign, scheduledFor, total, dispatch, skipped, mail?.digest]);
  return {
    campaign,
    estimate,
    digest: createHash('sha256').update(seen).digest('base64url'),
  };
}

/** Tells whether a run would be refused: the warnings of the page say why. */
function isRefused({ campaign, estimate }: Look): boolean {
  const isMissing = campaign.warnings.some(({ code }) => code === noUnsubscribeGroup.code);
  return isMissing || estimate.mail === null;
}

/** Draws the form that starts the run. */
function starting(asked: Asked, { estimate, digest }: Look, scheduledFor?: string): Part {
  const many = `${counted(estimate.dispatch)} ${estimate.dispatch === 1 ? 'mail' : 'mails'}`;
  return together(
    html`<p class="note">The run leaves with the mail, the sender and the rule of the audience of now: later changes do not reach it. Its members are read at the start.</p>`,
    form(
      asked,
      'run',
      scheduledFor ? `Schedule a run of ${many}` : `Start a run of ${many}`,
      html`
      <input type="hidden" name="digest" value=${digest} />
      <input type="hidden" name="once" value=${asked.newToken()} />
      <input type="hidden" name="scheduledFor" value=${scheduledFor} />
      ${check('onlyNew', 'leave out contacts of earlier runs, which the estimate counts')}
    `,
    ),
  );
}

/** Returns the instant of a local time in the zone of the organization; empty for now. */
function instantOf({ timezone }: Asked, at = ''): string | undefined {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d)/.exec(at);
  if (!parts) return at || undefined;
  const [, day = '', hours, minutes] = parts;
  const minute = Number(hours) * 60 + Number(minutes);
  return new Date(timeIn(timezone, day, minute)).toISOString();
}

async function show(asked: Asked): Promise<View> {
  const { may, query, params } = asked;
  const scheduledFor = instantOf(asked, query['at']);
  const seen = await look(asked, scheduledFor);
  const { campaign, estimate } = seen;
  const body = together(
    html`<form method="get" class="filters">${field({ name: 'at', label: `Start (${asked.timezone}); empty: now`, type: 'datetime-local', value: query['at'] })}<button>Estimate</button></form>`,
    warned([...campaign.warnings, ...estimate.warnings]),
    campaignFacts(campaign),
    estimated(estimate),
    estimate.mail && drawCampaignMail(asked, estimate.mail),
    may('campaigns:run') && !isRefused(seen) && starting(asked, seen, scheduledFor),
    html`<p>${link(ownPath(asked), 'Back to the campaign')}</p>`,
  );
  return {
    title: `Run “${campaign.name}”`,
    body,
    command: `svc campaigns estimate ${params['id']}`,
    request: `GET /v1/campaigns/${params['id']}/estimate`,
  };
}

/** Starts the run that the person has seen, unless the campaign or the counts have changed. */
async function run(asked: Asked, given: Form): Promise<string | View> {
  const scheduledFor = given['scheduledFor'] || undefined;
  const { digest } = await look(asked, scheduledFor);
  if (digest !== given['digest']) {
    const again = withQuery(`${ownPath(asked)}/estimate`, asked.query);
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
  return `/console${ownPath(asked)}/runs/${id}`;
}

export const estimatePage: Page = {
  path: '/campaigns/:id/estimate',
  needs: 'campaigns:read',
  show,
  actions: { run: { needs: 'campaigns:run', run } },
};
