// The first page: a verdict on the mail of a period, what needs a person, five figures beside those
// of the period before, mail by day with campaigns on it, and why mail did not arrive.
import { standingOf } from '../../../../src/campaigns/setup/run-words.ts';
import { messageRoutes } from '../../../../src/outbound/messages/routes.ts';
import { dayIn } from '../../../../src/platform/runtime/calendar.ts';
import { withQuery } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Page, View } from '../../page.ts';
import { card } from '../../parts/card.ts';
import { bars } from '../../parts/chart.ts';
import { icon } from '../../parts/icon.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { tiles } from '../../parts/tiles.ts';
import { change, counted, percent, share, time, timeWords } from '../../parts/times.ts';
import { state } from '../../states.ts';
import { type LatestRun, latestRuns, ofDelivered } from '../campaigns/latest-runs.ts';
import { byDay, namesOf } from './by-day.ts';
import {
  type Figures,
  figuresOf,
  type PeriodName,
  periodOf,
  periods,
  totalOf,
  verdictOn,
} from './figures.ts';
import { missingAddresses, type Need, needsOf, paused, stoppedRuns } from './needs.ts';
import { type Reasons, reasonsSince } from './reasons.ts';

const shownCampaigns = 5;
const shownReasons = 6;

/** All that the page shows; null for figures that the caller may not read. */
interface Seen {
  figures: Figures | null;
  reasons: Reasons | null;
  runs: LatestRun[];
  needs: Need[];
  /** Whether the organization never had mail. */
  isNew: boolean;
}

async function see(asked: Asked, period: PeriodName): Promise<Seen> {
  const { ask, may, now } = asked;
  const [figures, runs, needs, any] = await Promise.all([
    may('analytics:read') ? figuresOf(asked, period) : null,
    may('campaigns:read') ? latestRuns(asked, shownCampaigns) : [],
    needsOf(asked, (at) => timeWords(asked, at)),
    may('messages:read') ? ask(messageRoutes.list, { query: { limit: 1 } }) : null,
  ]);
  const start = figures?.now[0]?.start;
  const reasons = start && may('messages:read') ? await reasonsSince(asked, start) : null;
  const stopped = stoppedRuns(runs, ({ run }) => (run ? standingOf(run, now).because : ''));
  return {
    figures,
    reasons,
    runs,
    needs: [...stopped, ...needs, ...(reasons ? missingAddresses(reasons) : [])],
    isNew: any?.pagination.total === 0,
  };
}

const weekday = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' });

function verdictFor(asked: Asked, period: PeriodName, { figures, needs, isNew }: Seen): string {
  if (!figures) return isNew ? 'No mail yet.' : 'What needs you';
  const nameOf = ({ start }: { start: string }) => {
    const day = dayIn(asked.timezone, Date.parse(start));
    return period === '7d'
      ? weekday.format(new Date(`${day}T00:00:00Z`))
      : namesOf(asked, period, start)[1];
  };
  return verdictOn({
    now: figures.now,
    limit: asked.config.health.maxBounceRate,
    isPaused: needs.some(({ sentence }) => sentence === paused),
    isNew,
    words: periods[period].words,
    nameOf,
  });
}

function needsCard(needs: readonly Need[]): Part {
  const rows = needs.map(
    ({ tone, sentence, more, path, label }) =>
      html`<li>${icon(tone === 'info' ? 'approve' : 'warning', tone)}<span><b>${sentence}</b> <small>${more}</small></span>
        <a class="btn" href=${`/console${path}`}>${label}<span class="sr">: ${sentence}</span></a></li>`,
  );
  if (rows.length === 0) return null;
  return card('Needs you', html`<ul class="todo">${rows}</ul>`, { more: counted(rows.length) });
}

/** Returns the change of a rate in points; undefined unless both rates are known. */
function points(now: number | null, before: number | null, isGood: boolean) {
  if (now === null || before === null) return undefined;
  const by = Math.round((now - before) * 1000) / 10;
  if (by === 0) return undefined;
  const tone: 'up' | 'down' = by > 0 === isGood ? 'up' : 'down';
  return { by: `${by < 0 ? '−' : '+'}${Math.abs(by).toFixed(1)}`, tone };
}

function figureTiles({ config }: Asked, period: PeriodName, figures: Figures): Part {
  const { now, before, opens, opensBefore } = figures;
  const [total, old] = [totalOf(now), totalOf(before)];
  const lineOf = (of: (bucket: Figures['now'][number]) => number) => ({
    now: now.map(of),
    before: before.map(of),
  });
  const rate = (
    part: number,
    whole: number,
    partBefore: number,
    wholeBefore: number,
    isGood = true,
  ) => {
    const [value, valueBefore] = [share(part, whole), share(partBefore, wholeBefore)];
    return { value: percent(value), change: points(value, valueBefore, isGood) };
  };
  const engaged = (label: string, name: 'Opened' | 'Clicked') => {
    const of = (stats: Figures['opens']) =>
      name === 'Opened'
        ? ([stats.uniqueOpenedMessages, stats.openTrackingEligibleDeliveredMessages] as const)
        : ([stats.uniqueClickedMessages, stats.clickTrackingEligibleDeliveredMessages] as const);
    const [part, whole] = of(opens);
    const below =
      whole === 0
        ? 'not counted in this time'
        : `${counted(part)} of ${counted(whole)} that count it`;
    return { label, ...rate(part, whole, ...of(opensBefore)), below };
  };
  const limit = config.health.maxBounceRate;
  const bounceRate = share(total.bounced, total.attempted);
  return tiles([
    {
      label: 'Sent',
      value: counted(total.attempted),
      change: change(total.attempted, old.attempted),
      below: `${counted(old.attempted)} in ${periods[period].before}`,
      line: lineOf(({ attempted }) => attempted),
    },
    {
      label: 'Delivered',
      ...rate(total.delivered, total.attempted, old.delivered, old.attempted),
      below: `${counted(total.delivered)} of ${counted(total.attempted)} sent`,
      line: lineOf(({ delivered }) => delivered),
    },
    engaged('Opened', 'Opened'),
    engaged('Clicked', 'Clicked'),
    {
      label: 'Bounced',
      ...rate(total.bounced, total.attempted, old.bounced, old.attempted, false),
      below: `sending pauses at ${percent(limit)} hard bounces`,
      meter: { value: bounceRate ?? 0, limit },
    },
  ]);
}

function reasonsCard({ items, total, counted: looked }: Reasons): Part {
  const most = Math.max(1, ...items.map(({ count }) => count));
  const lines = items.slice(0, shownReasons).map(({ label, count, domains }) => ({
    label,
    soft: domains
      .slice(0, 2)
      .map(({ domain }) => domain)
      .join(', '),
    value: count,
    share: count / most,
  }));
  const body = html`<div>${
    lines.length === 0
      ? html`<p class="soft">All mail of this time arrived, or is on the way.</p>`
      : bars(lines)
  }${looked < total && html`<p class="soft">Of the newest ${counted(looked)} such messages.</p>`}</div>`;
  const more = total > 0 && link('/messages?status=bounced', `${counted(total)} messages →`);
  return card('Why mail did not arrive', body, { more });
}

function campaignsCard(asked: Asked, runs: readonly LatestRun[]): Part {
  const pathOf = ({ campaign, run }: LatestRun) =>
    run ? `/campaigns/${campaign.id}/runs/${run.id}` : `/campaigns/${campaign.id}`;
  const number = (head: string, cell: (run: NonNullable<LatestRun['run']>) => Part) => ({
    head,
    isNumber: true,
    cell: ({ run }: LatestRun) => (run?.startedAt ? cell(run) : '–'),
  });
  const rows = table<LatestRun>(
    asked,
    { items: runs },
    [
      {
        head: 'Name',
        cell: (one) => {
          const at = one.run?.startedAt ?? one.run?.scheduledFor;
          return html`<b>${link(pathOf(one), one.campaign.name)}</b> ${at && html`<small>${time(at)}</small>`}`;
        },
      },
      { head: 'State', isPlain: true, cell: ({ run }) => state(run?.status ?? 'draft') },
      number('Delivered', ({ stats }) => counted(stats.delivered)),
      number('Opened', ({ stats }) => ofDelivered(stats.opened, stats.delivered)),
      number('Clicked', ({ stats }) => ofDelivered(stats.clicked, stats.delivered)),
      number('Left the list', ({ stats }) => counted(stats.unsubscribed)),
    ],
    'No campaign yet.',
  );
  return card('Campaigns', rows, { more: link('/campaigns', 'All →') });
}

const steps = [
  {
    right: 'messages:send',
    path: '/messages/new',
    label: 'Send a test mail',
    text: 'It goes to a mailbox of this service, and you see each step of it.',
  },
  {
    right: 'domains:write',
    path: '/domains',
    label: 'Add your domain',
    text: 'The page lists the DNS records, and sees when they are right.',
  },
  {
    right: 'organization:read',
    path: '/keys',
    label: 'Make an API key',
    text: 'With it a program sends mail.',
  },
  {
    right: 'contacts:write',
    path: '/contacts/import',
    label: 'Bring your contacts',
    text: 'From a file of any other service.',
  },
] as const;

/** Draws the next steps of an organization without mail. */
function firstSteps({ may }: Asked): Part {
  const open = steps.filter(({ right }) => may(right));
  const rows = open.map(
    ({ path, label, text }) =>
      html`<li>${icon('next')}<span><b>${label}.</b> <small>${text}</small></span>
        <a class="btn" href=${`/console${path}`}>${label}</a></li>`,
  );
  return rows.length > 0 && card('First steps', html`<ul class="todo">${rows}</ul>`);
}

function choices(query: Asked['query']): Part {
  const here = periodOf(query);
  return html`<span class="seg" role="group" aria-label="Time">${Object.entries(periods).map(
    ([name, { words }]) =>
      html`<a href=${withQuery('/console', { period: name })} aria-current=${name === here ? 'true' : undefined}>${words}</a>`,
  )}</span>`;
}

async function show(asked: Asked): Promise<View> {
  const { may, query } = asked;
  const period = periodOf(query);
  const seen = await see(asked, period);
  const { figures, reasons, runs, needs, isNew } = seen;
  const hasFigures = figures && !isNew;
  return {
    title: 'Overview',
    heading: verdictFor(asked, period, seen),
    below:
      hasFigures &&
      `The last ${periods[period].words}, against ${periods[period].before} · ${asked.timezone}`,
    actions: together(
      hasFigures && choices(query),
      may('campaigns:write') &&
        html`<a class=${isNew ? 'btn' : 'btn first'} href="/console/campaigns/new">${icon('send')} Write a campaign</a>`,
      isNew &&
        may('messages:send') &&
        html`<a class="btn first" href="/console/messages/new">${icon('send')} Send a test mail</a>`,
    ),
    live: 'exchange',
    body: together(
      needsCard(needs),
      isNew && firstSteps(asked),
      hasFigures && figureTiles(asked, period, figures),
      hasFigures &&
        html`<div class="grid two">${card(
          `Sent by ${periods[period].interval}`,
          byDay(asked, period, figures, runs),
          { more: link('/reports', 'Reports →') },
        )}${reasons && reasonsCard(reasons)}</div>`,
      runs.length > 0 && campaignsCard(asked, runs),
    ),
    command: 'svc status',
    ...(may('analytics:read') && { request: 'GET /v1/analytics/timeseries' }),
  };
}

export const overviewPages: readonly Page[] = [{ path: '', needs: null, show }];
