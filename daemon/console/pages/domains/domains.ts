import { dnsForms, dnsText } from '../../../../src/identity/domains/dns-forms.ts';
import type { DomainLink } from '../../../../src/identity/domains/links.ts';
import { domainLinkRoutes, domainRoutes } from '../../../../src/identity/domains/routes.ts';
import type { Domain } from '../../../../src/identity/domains/schema.ts';
import { warmingRoutes } from '../../../../src/identity/warming/routes.ts';
import { customTrackingRoutes } from '../../../../src/outbound/tracking/custom/routes.ts';
import { urlAt } from '../../../../src/platform/net/network-address.ts';
import { type Download, orNone, Refusal } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Page, View } from '../../page.ts';
import { calls } from '../../parts/calls.ts';
import { card, folded } from '../../parts/card.ts';
import { confirmed, requireTyped } from '../../parts/confirm.ts';
import { facts } from '../../parts/facts.ts';
import { button, field, form, hidden } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { addressPart } from '../../parts/who.ts';
import { state } from '../../states.ts';
import { countTodo, recordsTable, sharedFaults } from './domain-records.ts';
import { trackingActions, trackingPart } from './domain-tracking.ts';
import { warmingActions, warmingPart } from './domain-warming.ts';

const pathOf = ({ params }: Asked) => `/v1/email/domains/${params['id']}`;
const ownPath = ({ params }: Asked) => `/console/domains/${params['id']}`;

/** Draws the number of records still to publish; the status of the domain if none is left. */
function todoOf({ status, dnsRecords }: Domain): Part {
  const { left, all } = countTodo(dnsRecords);
  if (left === 0) return state(status);
  const tone = status === 'verified' ? 'info' : 'warn';
  return html`<span class=${`pill ${tone}`}>${left} of ${all} to do</span>`;
}

async function list(asked: Asked): Promise<Part> {
  const { ask, query } = asked;
  const found = await ask(domainRoutes.list, { query: { page: query['page'] } });
  return table(
    asked,
    found,
    [
      ['Domain', ({ id, domain }) => link(`/domains/${id}`, addressPart(domain))],
      ['Records', todoOf],
      [
        'Sending',
        ({ sendingStatus, status }) => state(status === 'verified' ? sendingStatus : status),
      ],
      ['Checked', ({ lastCheckedAt }) => (lastCheckedAt ? time(lastCheckedAt) : 'never')],
    ],
    'There is no sending domain yet. Add the domain that your mail comes from.',
  );
}

/** Draws the field for a new domain, which opens from the button of the page. */
function adding(asked: Asked): Part {
  if (!asked.may('domains:write')) return null;
  return html`<button type="button" class="btn first" popovertarget="add">Add a domain</button>
    <div popover="auto" id="add" role="dialog" aria-labelledby="h-add"><h2 id="h-add">Add a domain</h2>
      ${form(asked, 'add', 'Add it', field({ name: 'domain', label: 'Domain', isRequired: true, hint: 'Such as news.example.com; you publish its records next' }))}</div>`;
}

const forms = dnsForms.filter((form) => form !== 'table');

const formWords: Readonly<Record<string, string>> = {
  zone: 'Zone file',
  dig: 'dig',
  json: 'JSON',
  terraform: 'Terraform',
  cloudflare: 'Cloudflare',
};

function records(asked: Asked, { id, domain, dnsRecords }: Domain): Part {
  const isFull = asked.query['names'] === 'full';
  const turn = isFull
    ? link(`/domains/${id}`, 'Show short names')
    : link(`/domains/${id}?names=full`, 'Show full names');
  const say = isFull
    ? 'Names are whole.'
    : 'Names are without the domain, as most providers want them.';
  const more = link(`/domains/${id}/registrar`, 'Where are they edited?');
  return card(
    'Records to publish',
    html`<nav class="tabs" aria-label="Form of the records"><a href=${`/console/domains/${id}`} aria-current="true">Table</a>${forms.map((form) => link(`/domains/${id}/records/${form}`, formWords[form] ?? form))}</nav>
      ${recordsTable(dnsRecords, domain, { isFull })}
      <p class="pager"><span>${say}</span> <span class="right">${turn}</span></p>`,
    { more },
  );
}

/** Draws the state of the link for a colleague in charge of the DNS, with buttons. */
function linkPart(asked: Asked, found: DomainLink | null): Part {
  if (!asked.may('domains:write')) return null;
  const make = (label: string) => button(asked, { action: 'makeLink', label });
  const present = found
    ? html`<p class="picks"><span>A link works until ${time(found.expiresAt)}; it was made ${time(found.createdAt)}.</span>
        ${confirmed(asked, { action: 'endLink', label: 'End it', question: 'End the link?', goes: 'Whoever has it sees nothing any more. You can make a new one.', look: '' })}${make('Make a new one')}</p>`
    : html`<p class="picks">${make('Make a link')}</p>`;
  return card(
    'Does somebody else keep your DNS?',
    html`<p class="soft">They get a page with the domain and these records, without signing in. It ends after 7 days, or when you end it here.</p>${present}`,
  );
}

/** Draws sentences: whether the domain can send, which records it needs, the last check. */
function standing({ status, dnsRecords, lastCheckedAt, sendingStatus, holdReason }: Domain): Part {
  const isMissing = dnsRecords.some((one) => one.required && one.status !== 'valid');
  const can =
    status !== 'verified'
      ? 'It cannot send yet.'
      : sendingStatus === 'held'
        ? `It is held: ${holdReason ?? 'too many bounces or complaints'}.`
        : 'It can send.';
  return html`${can} ${isMissing && 'The records marked “needed” are enough to begin.'}
    ${lastCheckedAt && html`Checked ${time(lastCheckedAt)}.`} <span class="js">This page checks again every minute while it is open.</span>`;
}

async function one(asked: Asked): Promise<View> {
  const { ask, params, may } = asked;
  const [domain, warming, tracking, shared] = await Promise.all([
    ask(domainRoutes.get, { params }),
    orNone(true, () => ask(warmingRoutes.get, { params })),
    orNone(may('tracking:read'), () => ask(customTrackingRoutes.get, { params })),
    ask(domainLinkRoutes.find, { params }),
  ]);
  const keys = together(
    facts(domain, [
      ['Return path', 'returnPath'],
      ['Verified', 'verifiedAt'],
      ['Id', 'id'],
    ]),
    html`<div class="picks">${may('domains:write') && button(asked, { action: 'rotate', label: 'Create new DKIM keys' })}
      ${
        may('domains:delete') &&
        confirmed(asked, {
          action: 'delete',
          label: 'Remove the domain',
          question: `Remove ${domain.domain}?`,
          goes: 'Its keys go for good, and its senders cannot send any more. Mail that was sent stays.',
          typedName: domain.domain,
        })
      }</div>`,
  );
  const check = html`<form method="post" class="action" data-every="60">${hidden(asked, 'verify')}<button class="btn first">Check now</button></form>`;
  return {
    title: domain.domain,
    heading: html`${addressPart(domain.domain)} ${todoOf(domain)}`,
    below: standing(domain),
    actions: may('domains:write') && check,
    live: 'exchange',
    about: domain.id,
    body: together(
      sharedFaults(domain.dnsRecords),
      records(asked, domain),
      linkPart(asked, shared),
      html`<section class="card folds" aria-label="More of the domain">
        ${folded('Warming', warmingPart(asked, warming), warming ? state(warming.plan.status) : 'a new domain should begin slowly')}
        ${may('tracking:read') && folded('Tracking host', trackingPart(asked, tracking), 'makes links look like yours')}
        ${folded('Keys and removal', keys, html`added ${time(domain.createdAt)}`)}</section>`,
    ),
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

export const domainPages: readonly Page[] = [
  {
    path: '/domains',
    needs: 'domains:read',
    show: async (asked) => ({
      title: 'Domains',
      below: 'Domains that your mail comes from, with the records that prove them.',
      actions: adding(asked),
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
      verify: calls(domainRoutes.verify),
      rotate: calls(domainRoutes.rotateDkim),
      makeLink: {
        needs: 'domains:write',
        async run(asked) {
          const { token } = await asked.ask(domainLinkRoutes.make, {
            params: asked.params,
            body: {},
          });
          const { publicUrl, host, port } = asked.config.http;
          const value = `${publicUrl ?? urlAt(host, port)}/domains/${token}`;
          const fields = [{ label: 'Link to send to your colleague', value }];
          return { to: ownPath(asked), secret: { title: 'The link, shown once', fields } };
        },
      },
      endLink: calls(domainLinkRoutes.end, { body: () => ({}), said: 'The link ended.' }),
      delete: {
        needs: 'domains:delete',
        asks: 'delete this domain',
        destroys: true,
        async run(asked, given) {
          const { domain } = await asked.ask(domainRoutes.get, { params: asked.params });
          requireTyped(given, domain);
          await asked.ask(domainRoutes.delete, { params: asked.params });
          return { to: '/console/domains', said: `${domain} was removed.` };
        },
      },
    },
  },
  { path: '/domains/:id/registrar', needs: 'domains:read', show: registrar },
  { path: '/domains/:id/records/:form', needs: 'domains:read', show: recordsAs },
];
