// Campaigns, their runs, and what a run did.
import { html, type Part, together } from '../html.ts';
import type { Asked, Page, Titled } from '../page.ts';
import { button, choice, facts, filters, type List, link, state, table, time } from '../parts.ts';

interface Campaign {
  id: string;
  name: string;
  email: { subject: string | null };
  updatedAt: string;
}

interface Run {
  id: string;
  status: string;
  totalRecipients: number | null;
  dispatchedCount: number;
  skippedCount: number;
  failedCount: number;
  createdAt: string;
}

interface Recipient {
  contactId: string;
  outcome: string;
  reason: string | null;
  messageId: string | null;
  status: string | null;
}

interface Estimate {
  total: number;
  dispatch: number;
  skipped: Record<string, number>;
}

const campaignPath = ({ params }: Asked) => `/v1/campaigns/${params['id']}`;
const runPath = (asked: Asked) => `${campaignPath(asked)}/runs/${asked.params['runId']}`;
const moves: ReadonlyMap<string, readonly string[]> = new Map([
  ['running', ['pause', 'cancel']],
  ['scheduled', ['pause', 'cancel']],
  ['paused', ['resume', 'cancel']],
  ['held', ['resume', 'cancel']],
]);
const outcomes = ['dispatched', 'skipped', 'failed'];

async function one(asked: Asked): Promise<Titled> {
  const { api, may, query } = asked;
  const path = campaignPath(asked);
  const [campaign, runs] = await Promise.all([
    api.get<Campaign>(path),
    api.get<List<Run>>(`${path}/runs`, { cursor: query['cursor'] }),
  ]);
  const body = together(
    facts(campaign, [
      ['Subject', 'email.subject'],
      ['From', 'from.email'],
      ['Tags', 'audience.includeTags'],
      ['Without tags', 'audience.excludeTags'],
      ['Groups', 'audience.groupIds'],
      ['Id', 'id'],
    ]),
    html`<div class="row">${button(asked, { action: 'estimate', label: 'Estimate a run' })}</div>`,
    may('campaigns:run') &&
      html`<p class="note">"svc campaigns run" starts a run after its estimate.</p>`,
    html`<h2>Runs</h2>`,
    table(
      asked,
      runs,
      [
        ['Run', ({ id }) => link(`/campaigns/${asked.params['id']}/runs/${id}`, id.slice(-8))],
        ['Status', ({ status }) => state(status)],
        [
          'Sent',
          ({ dispatchedCount, totalRecipients }) =>
            `${dispatchedCount} of ${totalRecipients ?? '?'}`,
        ],
        ['Skipped', ({ skippedCount }) => skippedCount],
        ['Failed', ({ failedCount }) => failedCount],
        ['Made', ({ createdAt }) => time(createdAt)],
      ],
      'There was no run yet.',
    ),
  );
  return { title: campaign.name, body };
}

async function oneRun(asked: Asked): Promise<Part> {
  const { api, may, query } = asked;
  const { outcome, cursor } = query;
  const [run, recipients] = await Promise.all([
    api.get<Run>(runPath(asked)),
    api.get<List<Recipient>>(`${runPath(asked)}/recipients`, { outcome, cursor }),
  ]);
  return together(
    may('campaigns:run') &&
      html`<div class="row">${(moves.get(run.status) ?? []).map((move) => button(asked, { action: move, label: move }))}</div>`,
    html`<p>${state(run.status)}</p><progress max=${run.totalRecipients ?? 1} value=${run.dispatchedCount + run.skippedCount + run.failedCount}></progress>`,
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
      ['Waits for', 'waitReason'],
      ['Held because', 'holdDetail'],
    ]),
    html`<h2>Recipients</h2>`,
    filters(choice({ name: 'outcome', label: 'Outcome', options: outcomes, value: outcome })),
    table(
      asked,
      recipients,
      [
        ['Contact', ({ contactId }) => link(`/contacts/${contactId}`, contactId.slice(-8))],
        ['Outcome', (one) => state(one.outcome)],
        ['Reason', ({ reason }) => reason],
        ['Message', ({ messageId, status }) => messageId && link(`/messages/${messageId}`, status)],
      ],
      'Nobody has this outcome.',
    ),
  );
}

const move = (verb: string) => ({
  needs: 'campaigns:run' as const,
  async run(asked: Asked) {
    await asked.api.send('POST', `${runPath(asked)}/${verb}`, {});
    return `/console/campaigns/${asked.params['id']}/runs/${asked.params['runId']}`;
  },
});

export const campaignPages: readonly Page[] = [
  {
    path: '/campaigns',
    label: 'Campaigns',
    needs: 'campaigns:read',
    async show(asked) {
      const found = await asked.api.get<List<Campaign>>('/v1/campaigns', {
        page: asked.query['page'],
      });
      return {
        title: 'Campaigns',
        body: table(
          asked,
          found,
          [
            ['Name', ({ id, name }) => link(`/campaigns/${id}`, name)],
            ['Subject', ({ email }) => email.subject],
            ['Changed', ({ updatedAt }) => time(updatedAt)],
          ],
          'There is no campaign yet: "svc campaigns create" makes one.',
        ),
        command: 'svc campaigns list',
        request: 'GET /v1/campaigns',
      };
    },
  },
  {
    path: '/campaigns/:id',
    needs: 'campaigns:read',
    async show(asked) {
      return {
        ...(await one(asked)),
        command: `svc campaigns runs ${asked.params['id']}`,
        request: `GET ${campaignPath(asked)}`,
      };
    },
    actions: {
      estimate: {
        needs: 'campaigns:read',
        async run(asked) {
          const found = await asked.api.get<Estimate>(`${campaignPath(asked)}/estimate`);
          const skipped = Object.entries(found.skipped).filter(([, count]) => count > 0);
          return {
            title: 'Estimate',
            body: html`<p>${found.dispatch.toLocaleString('en')} of ${found.total.toLocaleString('en')} contacts would get it now.</p>
              <ul>${skipped.map(([why, count]) => html`<li>${count.toLocaleString('en')} skipped: ${why}</li>`)}</ul>
              <p>${link(`/campaigns/${asked.params['id']}`, 'Back to the campaign')}</p>`,
            command: `svc campaigns estimate ${asked.params['id']}`,
            request: `GET ${campaignPath(asked)}/estimate`,
          };
        },
      },
    },
  },
  {
    path: '/campaigns/:id/runs/:runId',
    needs: 'campaigns:read',
    show: async (asked) => ({
      title: 'Run of a campaign',
      live: 'exchange',
      body: await oneRun(asked),
      request: `GET ${runPath(asked)}`,
    }),
    actions: { pause: move('pause'), resume: move('resume'), cancel: move('cancel') },
  },
];
