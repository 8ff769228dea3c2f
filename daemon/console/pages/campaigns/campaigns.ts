// The list of campaigns, each with the figures of its latest run. editor.ts writes and starts a
// campaign, run.ts shows a run.
import { campaignRoutes } from '../../../../src/campaigns/setup/routes.ts';
import { html } from '../../html.ts';
import type { Asked, Page, View } from '../../page.ts';
import { icon } from '../../parts/icon.ts';
import { link } from '../../parts/link.ts';
import { emptyState, table } from '../../parts/table.ts';
import { counted, time } from '../../parts/times.ts';
import { state } from '../../states.ts';
import { mailPage } from './campaign-mail.ts';
import { editorPage, newPage } from './editor.ts';
import { type LatestRun, ofDelivered, withRuns } from './latest-runs.ts';
import { runPages } from './run.ts';

async function list(asked: Asked): Promise<View> {
  const { ask, query, may } = asked;
  const found = await ask(campaignRoutes.list, { query: { page: query['page'] } });
  const write =
    may('campaigns:write') &&
    html`<a class="btn first" href="/console/campaigns/new">${icon('send')} Write a campaign</a>`;
  const items = await withRuns(asked, found.items);
  const figure = (head: string, cell: (run: NonNullable<LatestRun['run']>) => string) => ({
    head,
    isNumber: true,
    cell: ({ run }: LatestRun) => (run?.startedAt ? cell(run) : '–'),
  });
  const rows = table<LatestRun>(
    asked,
    { ...found, items },
    [
      {
        head: 'Name',
        cell: ({ campaign: { id, name, email } }) =>
          html`<b>${link(`/campaigns/${id}`, name)}</b> <small>${email.subject ?? email.templateSlug}</small>`,
      },
      {
        head: 'State',
        isPlain: true,
        cell: ({ campaign, run }) =>
          run
            ? link(`/campaigns/${campaign.id}/runs/${run.id}`, state(run.status))
            : state('draft'),
      },
      figure('People', ({ dispatchedCount }) => counted(dispatchedCount)),
      figure('Opened', ({ stats }) => ofDelivered(stats.opened, stats.delivered)),
      figure('Clicked', ({ stats }) => ofDelivered(stats.clicked, stats.delivered)),
      {
        head: 'Time',
        isNumber: true,
        cell: ({ campaign, run }) =>
          time(run?.startedAt ?? run?.scheduledFor ?? campaign.updatedAt),
      },
    ],
    emptyState('There is no campaign yet. A campaign is mail to a group of people.', write),
  );
  return {
    title: 'Campaigns',
    actions: items.length > 0 && write,
    body: html`<section class="card" aria-label="List">${rows}</section>`,
    command: 'svc campaigns list',
    request: 'GET /v1/campaigns',
  };
}

export const campaignPages: readonly Page[] = [
  { path: '/campaigns', needs: 'campaigns:read', show: list },
  newPage,
  editorPage,
  mailPage,
  ...runPages,
];
