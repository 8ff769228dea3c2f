// Sending domains: each record as it should be and as it was found, with a diagnosis.
import type { Doorway } from '../../../../src/core/api/route.ts';
import { dnsForms, dnsText } from '../../../../src/identity/domains/dns-forms.ts';
import { domainRoutes } from '../../../../src/identity/domains/routes.ts';
import type { DnsRecord, Domain } from '../../../../src/identity/domains/schema.ts';
import { warmingRoutes } from '../../../../src/identity/warming/routes.ts';
import { customTrackingRoutes } from '../../../../src/outbound/tracking/custom/routes.ts';
import { ResourceNotFoundError } from '../../../../src/platform/errors.ts';
import { type Download, Refusal } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Page, View } from '../../page.ts';
import { facts } from '../../parts/facts.ts';
import { button, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { state } from '../../states.ts';
import { trackingActions, trackingPart } from './domain-tracking.ts';
import { warmingActions, warmingPart } from './domain-warming.ts';

const pathOf = ({ params }: Asked) => `/v1/email/domains/${params['id']}`;
const ownPath = ({ params }: Asked) => `/console/domains/${params['id']}`;

async function list(asked: Asked): Promise<Part> {
  const { ask, query, may } = asked;
  const found = await ask(domainRoutes.list, { query: { page: query['page'] } });
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
    ${found.length > 0 && html`<p>Found:</p><pre>${found.join('\n')}</pre>`}
    ${error && html`<p class="problem">${error}</p>`}
    ${diagnosis && html`<p>${diagnosis.remedy} <small>(${diagnosis.code})</small></p>`}
    ${keepUntil && html`<p>Keep it until ${time(keepUntil)}.</p>`}
  </article>`;
}

/** Returns an answer of the API, or null for a 404. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ResourceNotFoundError) return null;
    throw error;
  }
}

const forms = dnsForms.filter((form) => form !== 'table');

function records(asked: Asked, { dnsRecords }: Domain): Part {
  return together(
    html`<h2>DNS records</h2>`,
    html`<p class="row">${link(`/domains/${asked.params['id']}/registrar`, 'Where are they edited?')}
      <span>Save as</span> ${forms.map((form) => link(`/domains/${asked.params['id']}/records/${form}`, form))}</p>`,
    dnsRecords.map(record),
  );
}

async function one(asked: Asked): Promise<View> {
  const { ask, params, may } = asked;
  const [domain, warming, tracking] = await Promise.all([
    ask(domainRoutes.get, { params }),
    orNull(ask(warmingRoutes.get, { params })),
    may('tracking:read') ? orNull(ask(customTrackingRoutes.get, { params })) : null,
  ]);
  const body = together(
    html`<div class="row">
      ${may('domains:write') && button(asked, { action: 'verify', label: 'Check now', isFirst: true })}
      ${may('domains:write') && button(asked, { action: 'rotate', label: 'Create new DKIM keys' })}
      ${may('domains:delete') && button(asked, { action: 'delete', label: 'Delete' })}
    </div>`,
    html`<p>${state(domain.status)}, sending ${state(domain.sendingStatus)}</p>`,
    facts(domain, [
      ['Return path', 'returnPath'],
      ['Verified', 'verifiedAt'],
      ['Checked', 'lastCheckedAt'],
      ['Held because', 'holdReason'],
      ['Id', 'id'],
    ]),
    records(asked, domain),
    warmingPart(asked, warming),
    may('tracking:read') && trackingPart(asked, tracking),
  );
  return {
    title: domain.domain,
    body,
    command: `svc domains dns ${domain.domain}`,
    request: `GET ${pathOf(asked)}`,
  };
}

async function registrar(asked: Asked): Promise<View> {
  const found = await asked.ask(domainRoutes.getRegistrar, { params: asked.params });
  const url = found.dnsHost?.recordsUrl;
  return {
    title: 'Where are the records edited?',
    body: together(
      facts(found, [
        ['Registrar', 'registrar.name'],
        ['DNS host', 'dnsHost.name'],
        ['Name servers', 'dnsHost.nameServers'],
        ['Found by', 'source'],
        ['Checked', 'checkedAt'],
      ]),
      url && html`<p><a href=${url} rel="noreferrer">Edit the records at the DNS host</a></p>`,
      html`<p>${link(`/domains/${asked.params['id']}`, 'Back to the domain')}</p>`,
    ),
    request: `GET ${pathOf(asked)}/registrar`,
  };
}

/** Returns the records as a file that programs can read. */
async function recordsAs({ ask, params: { id, form: wanted } }: Asked): Promise<Download> {
  const form = forms.find((one) => one === wanted);
  if (!form) throw new Refusal(404, { message: `The forms are: ${forms.join(', ')}` }, '');
  const [{ domain }, { items }] = await Promise.all([
    ask(domainRoutes.get, { params: { id } }),
    ask(domainRoutes.listDns, { params: { id } }),
  ]);
  return {
    contentType: 'text/plain; charset=utf-8',
    disposition: `attachment; filename="${domain}.${form}.txt"`,
    bytes: `${dnsText(form, items, { domain, isRelative: false })}\n`,
  };
}

const act = (way: Doorway, to?: string) => async (asked: Asked) => {
  await asked.ask(way, { params: asked.params });
  return to ?? ownPath(asked);
};

export const domainPages: readonly Page[] = [
  {
    path: '/domains',
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
        async run({ ask }, { domain = '' }) {
          const { id } = await ask(domainRoutes.add, { body: { domain: domain.trim() } });
          return `/console/domains/${id}`;
        },
      },
    },
  },
  {
    path: '/domains/:id',
    needs: 'domains:read',
    show: one,
    actions: {
      ...warmingActions,
      ...trackingActions,
      verify: { needs: 'domains:write', run: act(domainRoutes.verify) },
      rotate: { needs: 'domains:write', run: act(domainRoutes.rotateDkim) },
      delete: {
        needs: 'domains:delete',
        asks: 'delete this domain',
        run: act(domainRoutes.delete, '/console/domains'),
      },
    },
  },
  { path: '/domains/:id/registrar', needs: 'domains:read', show: registrar },
  { path: '/domains/:id/records/:form', needs: 'domains:read', show: recordsAs },
];
