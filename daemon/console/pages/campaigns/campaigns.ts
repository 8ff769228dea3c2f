// Campaigns: made, changed, tested. campaign-estimate.ts estimates and starts a run,
// campaign-run.ts shows a run.
import { campaignRoutes, campaignRunRoutes } from '../../../../src/campaigns/setup/routes.ts';
import type { RunSummary } from '../../../../src/campaigns/setup/run-schema.ts';
import type { Campaign } from '../../../../src/campaigns/setup/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { addressesIn, button, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { type List, table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { written } from '../../parts/written.ts';
import { state } from '../../states.ts';
import { campaignMail, mailPage } from '../campaign-mail.ts';
import { estimatePage } from './campaign-estimate.ts';
import { bodyOf, campaignFacts, fieldsOf, formOf, warned } from './campaign-fields.ts';
import { runPages } from './campaign-run.ts';

const ownPath = ({ params }: Asked) => `/campaigns/${params['id']}`;

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, query, may } = asked;
  const found = await ask(campaignRoutes.list, { query: { page: query['page'] } });
  const body = together(
    problem,
    table(
      asked,
      found,
      [
        ['Name', ({ id, name }) => link(`/campaigns/${id}`, name)],
        ['Subject', ({ email }) => email.subject ?? email.templateSlug],
        ['Changed', ({ updatedAt }) => time(updatedAt)],
      ],
      'There is no campaign yet: "svc campaigns create" makes one, and so does the form below.',
    ),
    may('campaigns:write') && html`<h2>Make a campaign</h2>`,
    may('campaigns:write') && form(asked, 'make', 'Make the campaign', fieldsOf(given)),
  );
  return { title: 'Campaigns', body, command: 'svc campaigns list', request: 'GET /v1/campaigns' };
}

function testing(asked: Asked, { _action, to = 'inbox@sandbox.test' }: Form): Part {
  const address = field({
    name: 'to',
    label: 'To',
    value: to,
    isRequired: true,
    hint: 'Divided by commas',
  });
  return html`<details open=${_action === 'test'}><summary>Send a test</summary>${form(asked, 'test', 'Send the test', address)}</details>`;
}

function editing(asked: Asked, campaign: Campaign, given: Form): Part {
  if (!asked.may('campaigns:write')) return null;
  const isAgain = given['_action'] === 'change';
  return html`<details open=${isAgain}><summary>Change it</summary>${form(asked, 'change', 'Save', fieldsOf(isAgain ? given : formOf(campaign)))}</details>`;
}

function runs(asked: Asked, found: List<RunSummary>): Part {
  return together(
    html`<h2>Runs</h2>`,
    table(
      asked,
      found,
      [
        ['Run', ({ id }) => link(`${ownPath(asked)}/runs/${id}`, id.slice(-8))],
        ['Status', ({ status }) => state(status)],
        [
          'Sent',
          ({ dispatchedCount, totalRecipients }) => `${dispatchedCount} of ${totalRecipients}`,
        ],
        ['Skipped', ({ skippedCount }) => skippedCount],
        ['Failed', ({ failedCount }) => failedCount],
        ['Made', ({ createdAt }) => time(createdAt)],
      ],
      'There was no run yet.',
    ),
  );
}

async function one(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, may, query, params } = asked;
  const [campaign, found] = await Promise.all([
    ask(campaignRoutes.get, { params }),
    ask(campaignRunRoutes.list, { params, query: { cursor: query['cursor'] } }),
  ]);
  const body = together(
    problem,
    html`<div class="row">
      ${link(`${ownPath(asked)}/estimate`, may('campaigns:run') ? 'Estimate and run' : 'Estimate a run')}
      ${may('campaigns:write') && button(asked, { action: 'duplicate', label: 'Copy' })}
      ${may('campaigns:delete') && button(asked, { action: 'delete', label: 'Delete' })}
    </div>`,
    warned(campaign.warnings),
    campaignFacts(campaign),
    await campaignMail(asked),
    may('campaigns:run') && testing(asked, given),
    editing(asked, campaign, given),
    runs(asked, found),
  );
  return {
    title: campaign.name,
    body,
    command: `svc campaigns runs ${params['id']}`,
    request: `GET /v1/campaigns/${params['id']}`,
  };
}

/** Sends a test, and shows the outcome of each mail. */
async function test(asked: Asked, given: Form): Promise<View> {
  const { ask, may, params } = asked;
  const to = addressesIn(given['to']);
  const results = await ask(campaignRoutes.test, { params, body: { to } });
  const lines = results.map((result, at) =>
    'message' in result
      ? html`<li>${to[at]}: ${may('messages:read') ? link(`/messages/${result.message.id}`, 'accepted') : 'accepted'}</li>`
      : html`<li>${to[at]}: ${state('failed')} ${result.error['message']}</li>`,
  );
  return {
    title: 'Test',
    body: together(
      html`<ul>${lines}</ul>`,
      html`<p>${link(ownPath(asked), 'Back to the campaign')}</p>`,
    ),
    command: `svc campaigns test ${params['id']} --to ${to[0]}`,
  };
}

export const campaignPages: readonly Page[] = [
  {
    path: '/campaigns',
    needs: 'campaigns:read',
    show: (asked) => list(asked, {}),
    actions: {
      make: written(
        'campaigns:write',
        async (asked, given) => {
          const body = { channel: 'email', ...bodyOf(given) };
          const { id } = await asked.ask(campaignRoutes.create, { body });
          return `/console/campaigns/${id}`;
        },
        list,
      ),
    },
  },
  {
    path: '/campaigns/:id',
    needs: 'campaigns:read',
    show: (asked) => one(asked, {}),
    actions: {
      change: written(
        'campaigns:write',
        async ({ ask, params, path }, given) => {
          const before = await ask(campaignRoutes.get, { params });
          await ask(campaignRoutes.update, { params, body: bodyOf(given, before) });
          return `/console${path}`;
        },
        one,
      ),
      duplicate: {
        needs: 'campaigns:write',
        async run({ ask, params }) {
          const { id } = await ask(campaignRoutes.duplicate, { params });
          return `/console/campaigns/${id}`;
        },
      },
      test: written('campaigns:run', test, one),
      delete: {
        needs: 'campaigns:delete',
        async run({ ask, params }) {
          await ask(campaignRoutes.delete, { params });
          return '/console/campaigns';
        },
      },
    },
  },
  estimatePage,
  mailPage,
  ...runPages,
];
