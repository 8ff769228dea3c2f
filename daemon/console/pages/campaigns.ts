// Campaigns: made, changed, estimated and run. campaign-run.ts shows one run.
import { createHash } from 'node:crypto';
import { newToken } from '../../../src/platform/runtime/tokens.ts';
import { withQuery } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Form, Page, View } from '../page.ts';
import {
  addressesIn,
  button,
  facts,
  field,
  form,
  type List,
  link,
  state,
  table,
  time,
  written,
} from '../parts.ts';
import { runPages } from './campaign-run.ts';

interface Campaign {
  id: string;
  name: string;
  email: {
    subject?: string;
    html?: string;
    text?: string;
    templateSlug?: string;
    unsubscribeGroupId?: string;
  };
  from: { email: string } | null;
  audience: {
    includeTags: readonly string[];
    excludeTags: readonly string[];
    groupIds: readonly string[];
    contactIds: readonly string[];
  };
  transactional: boolean;
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

interface Estimate {
  total: number;
  dispatch: number;
  skipped: Record<string, number>;
  firstAt: string | null;
  lastAt: string | null;
  limitedBy: string | null;
}

const pathOf = ({ params }: Asked) => `/v1/campaigns/${params['id']}`;
const ownPath = ({ params }: Asked) => `/campaigns/${params['id']}`;
const counted = (count: number) => count.toLocaleString('en');

function fieldsOf(given: Form): Part {
  const line = (name: string, label: string, hint?: string) =>
    field({ name, label, value: given[name], ...(hint !== undefined && { hint }) });
  return html`
    ${field({ name: 'name', label: 'Name', value: given['name'], isRequired: true })}
    ${line('from', 'From', 'Empty: the default sender')}
    ${line('subject', 'Subject')}
    ${field({ name: 'html', label: 'HTML', type: 'textarea', value: given['html'], rows: 8 })}
    ${line('templateSlug', 'Template', 'Its slug, instead of subject and HTML')}
    ${line('includeTags', 'Contacts with one of these tags')}
    ${line('excludeTags', 'But none of these tags')}
    ${line('groupIds', 'Members of these groups', 'grp_…, divided by commas')}
    ${line('unsubscribeGroupId', 'Group to unsubscribe from')}
    <label><span><input type="checkbox" name="transactional" value="1" checked=${given['transactional'] === '1'} /> mail that everybody must get, without a group to unsubscribe from</span></label>
  `;
}

function bodyOf(given: Form): object {
  const text = (name: string) => given[name]?.trim() || undefined;
  const { html: page } = given;
  const from = text('from');
  return {
    name: text('name'),
    email: {
      subject: text('subject'),
      ...(page && { html: page }),
      templateSlug: text('templateSlug'),
      unsubscribeGroupId: text('unsubscribeGroupId'),
    },
    from: from ? { email: from } : null,
    audience: {
      includeTags: addressesIn(given['includeTags']),
      excludeTags: addressesIn(given['excludeTags']),
      groupIds: addressesIn(given['groupIds']),
    },
    transactional: given['transactional'] === '1',
  };
}

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { api, query, may } = asked;
  const found = await api.get<List<Campaign>>('/v1/campaigns', { page: query['page'] });
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

/** Fields of the content that the form has; others would be lost by it. */
const formFields = new Set(['subject', 'html', 'templateSlug', 'unsubscribeGroupId']);

function isPlain({ email, audience }: Campaign): boolean {
  return (
    audience.contactIds.length === 0 && Object.keys(email).every((name) => formFields.has(name))
  );
}

/** Returns a campaign as its form has it. */
function formOf({ name, email, from, audience, transactional }: Campaign): Form {
  return {
    name,
    from: from?.email ?? '',
    subject: email.subject ?? '',
    html: email.html ?? '',
    templateSlug: email.templateSlug ?? '',
    unsubscribeGroupId: email.unsubscribeGroupId ?? '',
    includeTags: audience.includeTags.join(', '),
    excludeTags: audience.excludeTags.join(', '),
    groupIds: audience.groupIds.join(', '),
    transactional: transactional ? '1' : '',
  };
}

function editing(asked: Asked, campaign: Campaign, given: Form | null): Part {
  if (!asked.may('campaigns:write')) return null;
  if (!isPlain(campaign)) {
    return html`<p class="note">It has more than a form shows. To change it: <code>${`svc campaigns update ${campaign.id}`}</code></p>`;
  }
  return html`<details open=${given !== null}><summary>Change it</summary>${form(asked, 'change', 'Save', fieldsOf(given ?? formOf(campaign)))}</details>`;
}

function runs(asked: Asked, found: List<Run>): Part {
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
}

async function one(asked: Asked, given: Form | null, problem: Part = null): Promise<View> {
  const { api, may, query, params } = asked;
  const [campaign, found] = await Promise.all([
    api.get<Campaign>(pathOf(asked)),
    api.get<List<Run>>(`${pathOf(asked)}/runs`, { cursor: query['cursor'] }),
  ]);
  const body = together(
    problem,
    html`<div class="row">
      ${link(`${ownPath(asked)}/estimate`, may('campaigns:run') ? 'Estimate and run' : 'Estimate a run')}
      ${may('campaigns:write') && button(asked, { action: 'duplicate', label: 'Copy' })}
      ${may('campaigns:delete') && button(asked, { action: 'delete', label: 'Delete' })}
    </div>`,
    facts(campaign, [
      ['Subject', 'email.subject'],
      ['Template', 'email.templateSlug'],
      ['From', 'from.email'],
      ['Tags', 'audience.includeTags'],
      ['Without tags', 'audience.excludeTags'],
      ['Groups', 'audience.groupIds'],
      ['Single contacts', 'audience.contactIds.length'],
      ['Group to unsubscribe from', 'email.unsubscribeGroupId'],
      ['Id', 'id'],
    ]),
    campaign.email.html !== undefined &&
      html`<details><summary>Its HTML</summary><pre>${campaign.email.html}</pre></details>`,
    may('campaigns:run') &&
      html`<details><summary>Send a test</summary>${form(asked, 'test', 'Send the test', field({ name: 'to', label: 'To', value: 'inbox@sandbox.test', isRequired: true }))}</details>`,
    editing(asked, campaign, given),
    runs(asked, found),
  );
  return {
    title: campaign.name,
    body,
    command: `svc campaigns runs ${params['id']}`,
    request: `GET ${pathOf(asked)}`,
  };
}

function estimated({ total, dispatch, skipped, firstAt, lastAt, limitedBy }: Estimate): Part {
  const left = Object.entries(skipped).filter(([, count]) => count > 0);
  return together(
    html`<p><strong>${counted(dispatch)}</strong> of ${counted(total)} contacts would get a mail,
      ${firstAt && html` the first ${time(firstAt)}`}${lastAt && html`, the last ${time(lastAt)}`}${limitedBy && `, slowed by ${limitedBy}`}.</p>`,
    html`<ul>${left.map(([why, count]) => html`<li>${counted(count)} left out: ${why}</li>`)}</ul>`,
  );
}

/** Draws an estimate, and the form that runs exactly this campaign at that time. */
async function estimate(asked: Asked): Promise<View> {
  const { api, may, query, app } = asked;
  const scheduledFor = query['at'] ? `${query['at']}:00Z` : undefined;
  const [campaign, found] = await Promise.all([
    api.get<Campaign>(pathOf(asked)),
    api.get<Estimate>(`${pathOf(asked)}/estimate`, { scheduledFor }),
  ]);
  const body = together(
    html`<form method="get" class="filters">${field({ name: 'at', label: 'Start (UTC); empty: now', type: 'datetime-local', value: query['at'] })}<button>Estimate</button></form>`,
    estimated(found),
    may('campaigns:run') &&
      form(
        asked,
        'run',
        scheduledFor ? 'Schedule the run' : 'Start the run',
        html`
        <input type="hidden" name="digest" value=${digestOf(campaign)} />
        <input type="hidden" name="once" value=${newToken(app.random)} />
        <input type="hidden" name="scheduledFor" value=${scheduledFor} />
        <label><span><input type="checkbox" name="onlyNew" value="1" /> leave out contacts of earlier runs</span></label>
      `,
      ),
    html`<p>${link(ownPath(asked), 'Back to the campaign')}</p>`,
  );
  return {
    title: `Run “${campaign.name}”`,
    body,
    command: `svc campaigns estimate ${asked.params['id']}`,
    request: `GET ${pathOf(asked)}/estimate`,
  };
}

/** Returns a digest of all that a person sees and confirms. */
function digestOf(campaign: Campaign): string {
  return createHash('sha256').update(JSON.stringify(campaign)).digest('base64url');
}

/** Runs a campaign, unless it was changed after the look. */
async function run(asked: Asked, given: Form): Promise<string | View> {
  const campaign = await asked.api.get<Campaign>(pathOf(asked));
  if (digestOf(campaign) !== given['digest']) {
    const again = withQuery(`${ownPath(asked)}/estimate`, asked.query);
    return {
      status: 409,
      title: 'The campaign was changed',
      body: html`<p class="problem" role="alert">Somebody changed it after you looked, so nothing was started.</p><p>${link(again, 'Look again')}</p>`,
    };
  }
  const { id } = await asked.api.send<Run>('POST', `${pathOf(asked)}/runs`, {
    idempotencyKey: given['once'],
    scheduledFor: given['scheduledFor'] || null,
    ...(given['onlyNew'] === '1' && { onlyNew: true }),
  });
  return `/console${ownPath(asked)}/runs/${id}`;
}

export const campaignPages: readonly Page[] = [
  {
    path: '/campaigns',
    label: 'Campaigns',
    needs: 'campaigns:read',
    show: (asked) => list(asked, {}),
    actions: {
      make: written(
        'campaigns:write',
        async (asked, given) => {
          const body = { channel: 'email', ...bodyOf(given) };
          const { id } = await asked.api.send<Campaign>('POST', '/v1/campaigns', body);
          return `/console/campaigns/${id}`;
        },
        list,
      ),
    },
  },
  {
    path: '/campaigns/:id',
    needs: 'campaigns:read',
    show: (asked) => one(asked, null),
    actions: {
      change: written(
        'campaigns:write',
        async (asked, given) => {
          await asked.api.send('PATCH', pathOf(asked), bodyOf(given));
          return `/console${asked.path}`;
        },
        one,
      ),
      duplicate: {
        needs: 'campaigns:write',
        async run(asked) {
          const { id } = await asked.api.send<Campaign>('POST', `${pathOf(asked)}/duplicate`, {});
          return `/console/campaigns/${id}`;
        },
      },
      test: {
        needs: 'campaigns:run',
        async run(asked, { to }) {
          await asked.api.send('POST', `${pathOf(asked)}/test`, { to: addressesIn(to) });
          return `/console${asked.path}`;
        },
      },
      delete: {
        needs: 'campaigns:delete',
        async run(asked) {
          await asked.api.send('DELETE', pathOf(asked));
          return '/console/campaigns';
        },
      },
    },
  },
  {
    path: '/campaigns/:id/estimate',
    needs: 'campaigns:read',
    show: estimate,
    actions: { run: { needs: 'campaigns:run', run } },
  },
  ...runPages,
];
