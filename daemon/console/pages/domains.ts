// Sending domains: each record as it should be and as it was found, with its diagnosis.
import { Refusal } from '../api.ts';
import { barChart } from '../charts.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Form, Page, Titled } from '../page.ts';
import { button, facts, field, form, type List, link, state, table, time } from '../parts.ts';

interface DnsRecord {
  purpose: string;
  type: string;
  name: string;
  value: string;
  required: boolean;
  status: string;
  found: readonly string[] | null;
  error: string | null;
  diagnosis?: { code: string; remedy: string } | null;
  keepUntil?: string | null;
}

interface Domain {
  id: string;
  domain: string;
  status: string;
  sendingStatus: string;
  lastCheckedAt: string | null;
  dnsRecords: readonly DnsRecord[];
}

const pathOf = ({ params }: Asked) => `/v1/email/domains/${params['id']}`;
const ownPath = ({ params }: Asked) => `/console/domains/${params['id']}`;

async function list(asked: Asked): Promise<Part> {
  const { api, query, may } = asked;
  const found = await api.get<List<Domain>>('/v1/email/domains', { page: query['page'] });
  return together(
    table(
      asked,
      found,
      [
        ['Domain', ({ id, domain }) => link(`/domains/${id}`, domain)],
        ['Status', ({ status }) => state(status)],
        ['Sending', ({ sendingStatus }) => state(sendingStatus)],
        ['Checked', ({ lastCheckedAt }) => (lastCheckedAt ? time(lastCheckedAt) : 'never')],
      ],
      'There is no sending domain yet.',
    ),
    may('domains:write') && html`<h2>Add a domain</h2>`,
    may('domains:write') &&
      form(asked, 'add', 'Add', field({ name: 'domain', label: 'Domain', isRequired: true })),
  );
}

function record({
  purpose,
  type,
  name,
  value,
  required,
  status,
  found,
  error,
  diagnosis,
  keepUntil,
}: DnsRecord): Part {
  return html`<article class="mail">
    <p>${state(status)} <strong>${type} ${name}</strong> <small>${purpose}${required && ', required'}</small></p>
    <pre data-copy="">${value}</pre>
    ${found && found.length > 0 && html`<p>Found:</p><pre>${found.join('\n')}</pre>`}
    ${error && html`<p class="problem">${error}</p>`}
    ${diagnosis && html`<p>${diagnosis.remedy} <small>(${diagnosis.code})</small></p>`}
    ${keepUntil && html`<p>Keep it until ${time(keepUntil)}.</p>`}
  </article>`;
}

interface Warming {
  plan: { status: string };
  batches: readonly { startsAt: string; allowanceRecipients: number; acceptedRecipients: number }[];
}

/** Returns an answer of the API, or null for a 404. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return null;
    throw error;
  }
}

/** Draws the ramp of a warming plan: what a day allows, and what was accepted. */
function ramp({ plan, batches }: Warming): Part {
  const barsOf = (count: (one: Warming['batches'][number]) => number) =>
    batches.map((one) => ({ label: one.startsAt.slice(0, 10), value: count(one) }));
  return together(
    html`<h2>Warming</h2><p>${state(plan.status)}</p>`,
    facts(plan, [
      ['First day', 'initialDailyRecipients'],
      ['Growth in percent', 'dailyGrowthPercent'],
      ['Target', 'targetDailyRecipients'],
      ['Held because', 'holdReason'],
    ]),
    batches.length > 0 &&
      barChart(
        'Recipients allowed, by day',
        barsOf(({ allowanceRecipients }) => allowanceRecipients),
      ),
    batches.length > 0 &&
      barChart(
        'Recipients accepted, by day',
        barsOf(({ acceptedRecipients }) => acceptedRecipients),
      ),
  );
}

interface Tracking {
  enabled: boolean;
  customTracking: { status: string } | null;
}

function trackingHost({ customTracking }: Tracking): Part {
  if (!customTracking) return null;
  return together(
    html`<h2>Tracking host</h2><p>${state(customTracking.status)}</p>`,
    facts(customTracking, [
      ['Host', 'hostname'],
      ['Certificate', 'sslStatus'],
      ['Expires', 'certificate.expiresAt'],
      ['Problem', 'verificationErrors'],
    ]),
  );
}

async function one(asked: Asked): Promise<Titled> {
  const { api, may } = asked;
  const [domain, warming, tracking] = await Promise.all([
    api.get<Domain>(pathOf(asked)),
    orNull(api.get<Warming>(`${pathOf(asked)}/warming`)),
    may('tracking:read') ? orNull(api.get<Tracking>(`${pathOf(asked)}/custom-tracking`)) : null,
  ]);
  const body = together(
    html`<div class="row">
      ${may('domains:write') && button(asked, { action: 'verify', label: 'Check now', isFirst: true })}
      ${may('domains:write') && button(asked, { action: 'rotate', label: 'Create new DKIM keys' })}
      ${may('domains:delete') && button(asked, { action: 'delete', label: 'Delete' })}
    </div>`,
    html`<p>${state(domain.status)} ${state(domain.sendingStatus)}</p>`,
    facts(domain, [
      ['Return path', 'returnPath'],
      ['Verified', 'verifiedAt'],
      ['Checked', 'lastCheckedAt'],
      ['Held because', 'holdReason'],
      ['Id', 'id'],
    ]),
    html`<h2>DNS records</h2>`,
    domain.dnsRecords.map(record),
    warming && ramp(warming),
    tracking && trackingHost(tracking),
  );
  return { title: domain.domain, body };
}

const act = (verb: string, body?: object) => async (asked: Asked) => {
  await asked.api.send('POST', `${pathOf(asked)}/${verb}`, body);
  return ownPath(asked);
};

export const domainPages: readonly Page[] = [
  {
    path: '/domains',
    label: 'Domains',
    needs: 'domains:read',
    show: async (asked) => ({
      title: 'Domains',
      body: await list(asked),
      command: 'svc domains list',
      request: 'GET /v1/email/domains',
    }),
    actions: {
      add: {
        needs: 'domains:write',
        async run({ api }: Asked, { domain = '' }: Form) {
          const { id } = await api.send<Domain>('POST', '/v1/email/domains', {
            domain: domain.trim(),
          });
          return `/console/domains/${id}`;
        },
      },
    },
  },
  {
    path: '/domains/:id',
    needs: 'domains:read',
    async show(asked) {
      const view = await one(asked);
      return {
        ...view,
        command: `svc domains dns ${view.title}`,
        request: `GET ${pathOf(asked)}`,
      };
    },
    actions: {
      verify: { needs: 'domains:write', run: act('verify') },
      rotate: { needs: 'domains:write', run: act('dkim/rotate', {}) },
      delete: {
        needs: 'domains:delete',
        async run(asked) {
          await asked.api.send('DELETE', pathOf(asked));
          return '/console/domains';
        },
      },
    },
  },
];
