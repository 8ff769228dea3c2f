// The editor of a campaign in four parts: receivers, mail, checks and sending.
// editor-fields.ts has the fields, editor-check.ts the check, editor-send.ts the start of a run.

import {
  audienceRoutes,
  campaignRoutes,
  campaignRunRoutes,
} from '../../../../src/campaigns/setup/routes.ts';
import type { Estimate, RunSummary } from '../../../../src/campaigns/setup/run-schema.ts';
import type { Campaign } from '../../../../src/campaigns/setup/schema.ts';
import { unsubscribeGroupRoutes } from '../../../../src/consent/opt-in/group-routes.ts';
import { templateRoutes } from '../../../../src/content/templates/routes.ts';
import { senderRoutes } from '../../../../src/identity/senders/routes.ts';
import { contactGroupRoutes } from '../../../../src/people/contacts/groups/routes.ts';
import { contactRoutes } from '../../../../src/people/contacts/routes.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Done, Form, Page, View } from '../../page.ts';
import { card } from '../../parts/card.ts';
import { confirmed } from '../../parts/confirm.ts';
import { addressesIn, button, hidden } from '../../parts/form.ts';
import { icon } from '../../parts/icon.ts';
import { link } from '../../parts/link.ts';
import { type List, table } from '../../parts/table.ts';
import { counted, time } from '../../parts/times.ts';
import { addressPart } from '../../parts/who.ts';
import { state } from '../../states.ts';
import { campaignMail, previewChoice } from './campaign-mail.ts';
import { type Check, checksOf } from './editor-check.ts';
import {
  audienceOf,
  bodyOf,
  contentFields,
  formOf,
  listOf,
  type Offers,
  toFields,
} from './editor-fields.ts';
import {
  instantOf,
  type Look,
  leftOutList,
  peopleLine,
  readRunEstimate,
  sendPart,
  startRun,
} from './editor-send.ts';

const mostOffered = 100;
/** Most tags that the form offers: the tags with most contacts. */
const mostTags = 24;
const ownPath = ({ params }: Asked) => `/campaigns/${params['id']}`;

/** Reads the choices of the fields; empty lists where the caller may not read. */
async function offersFor({ ask, may }: Asked): Promise<Offers> {
  const query = { limit: mostOffered };
  const none = { items: [] };
  const hasPeople = may('contacts:read');
  const [groups, tags, lists, senders, templates] = await Promise.all([
    hasPeople ? ask(contactGroupRoutes.list, { query }) : none,
    hasPeople ? ask(contactRoutes.tags, { query }) : none,
    hasPeople ? ask(unsubscribeGroupRoutes.list, { query }) : none,
    may('senders:read') ? ask(senderRoutes.list, { query }) : none,
    may('templates:read')
      ? ask(templateRoutes.list, { query: { ...query, status: 'published' } })
      : none,
  ]);
  return {
    groups: groups.items,
    tags: tags.items.toSorted((a, b) => b.contacts - a.contacts).slice(0, mostTags),
    lists: lists.items,
    senders: senders.items,
    templates: templates.items,
  };
}

interface PartOf {
  id: string;
  title: string;
  more?: Part;
}

const part = ({ id, title, more }: PartOf, body: Part) =>
  html`<section class="card" id=${id} aria-labelledby=${`h-${id}`}><header><h2 id=${`h-${id}`}>${title}</h2>${more && html`<span class="right">${more}</span>`}</header>${body}</section>`;

/**
 * Draws the first two parts as a form, with `sum` beside the first and `mail` beside the second.
 */
function writing(
  asked: Asked,
  given: Form,
  offers: Offers,
  { sum, mail }: { sum: Part; mail: Part },
): Part {
  const isNew = asked.params['id'] === undefined;
  const isAllowed = asked.may('campaigns:write');
  const save =
    isAllowed &&
    html`<div class="row"><button class=${isNew ? 'btn first' : 'btn'}>Save</button></div>`;
  const parts = together(
    part(
      { id: 'to', title: '1. To' },
      html`<div class="parts"><div class="in">${toFields(given, offers)}
        ${isAllowed && html`<div class="row no-js"><button class="btn" name="_action" value="count">Count again</button></div>`}</div><div class="in sum" role="status">${sum}</div></div>`,
    ),
    part(
      { id: 'content', title: '2. Content' },
      html`<div class="parts even"><div class="in">${contentFields(given, offers)}${save}</div><div class="in sum">${mail}</div></div>`,
    ),
  );
  if (!isAllowed) return html`<fieldset disabled>${parts}</fieldset>`;
  return html`<form method="post" class="write" data-counts="">${hidden(asked, isNew ? 'make' : 'change')}${parts}</form>`;
}

const checkRow = ({ tone, sentence, more }: Check) =>
  html`<li>${icon(tone === 'good' ? 'approve' : 'warning', tone)}<span><b>${addressPart(sentence)}</b> <small>${more}</small></span></li>`;

function testRow(asked: Asked, { to = 'inbox@sandbox.test' }: Form): Part {
  if (!asked.may('campaigns:run')) return null;
  return html`<li>${icon('inbox', 'info')}<form method="post" class="picks">${hidden(asked, 'test')}
      <label><b>A test to yourself.</b> <input name="to" value=${to} required size="28" /></label> <button class="btn">Send a test</button>
      <small>Several addresses are divided by commas.</small></form></li>`;
}

function checking(
  asked: Asked,
  { campaign, estimate }: Look,
  given: Form,
  { lists }: Offers,
): Part {
  const list =
    lists.find(({ id }) => id === campaign.email.unsubscribeGroupId)?.name ??
    (campaign.email.unsubscribeGroupId ? 'the list' : null);
  const checks = checksOf({ campaign, estimate, list });
  const open = checks.filter(({ tone }) => tone !== 'good').length;
  return part(
    {
      id: 'check',
      title: '3. Check',
      more: open > 0 && html`<span class="pill warn">${counted(open)} to look at</span>`,
    },
    html`<ul class="todo" aria-label="Advice">${checks.map(checkRow)}${testRow(asked, given)}</ul>`,
  );
}

function runsCard(asked: Asked, found: List<RunSummary>): Part {
  if (found.items.length === 0) return null;
  const rows = table(
    asked,
    found,
    [
      {
        head: 'Run',
        cell: ({ id, startedAt, scheduledFor, createdAt }) =>
          link(`${ownPath(asked)}/runs/${id}`, time(startedAt ?? scheduledFor ?? createdAt)),
      },
      { head: 'State', isPlain: true, cell: ({ status }) => state(status) },
      { head: 'People', isNumber: true, cell: ({ dispatchedCount }) => counted(dispatchedCount) },
      { head: 'Opened', isNumber: true, cell: ({ stats }) => counted(stats.opened) },
      { head: 'Clicked', isNumber: true, cell: ({ stats }) => counted(stats.clicked) },
    ],
    '',
  );
  return card('Runs', rows);
}

/** Draws the number of people that get the mail, and the reasons of people left out. */
function countPart(estimate: Pick<Estimate, 'total' | 'dispatch' | 'skipped'>): Part {
  const { total, dispatch } = estimate;
  return html`<p class="big">${peopleLine(dispatch)}</p>
    <p>${counted(total)} are chosen.${dispatch < total && ' Left out:'}</p>${leftOutList(estimate)}`;
}

/**
 * Counts the people of the audience in the form. With `only` it returns the counts without a page:
 * a script puts them into the open page.
 */
async function count(asked: Asked, given: Form): Promise<View> {
  const { ask, params } = asked;
  const isNew = params['id'] === undefined;
  const before = isNew ? undefined : await ask(campaignRoutes.get, { params });
  const body = { audience: audienceOf(given, before), unsubscribeGroupId: listOf(given) ?? null };
  const sum = countPart(await ask(audienceRoutes.estimate, { body }));
  if (given['only'])
    return { title: 'Count', isBare: true, body: html`<div data-count>${sum}</div>` };
  return isNew ? fresh(asked, given, sum) : one(asked, given, sum);
}

/** Draws the page of a campaign that is not saved yet. */
async function fresh(
  asked: Asked,
  given: Form,
  sum: Part = html`<p class="soft">How many people get it stands here, once you choose them.</p>`,
): Promise<View> {
  const offers = await offersFor(asked);
  const [only] = offers.lists;
  const values =
    offers.lists.length === 1 && only ? { unsubscribeGroupId: only.id, ...given } : given;
  return {
    title: 'Write a campaign',
    crumb: link('/campaigns', 'Campaigns'),
    below: 'Nothing leaves before part 4.',
    body: together(
      writing(asked, values, offers, {
        sum,
        mail: html`<p class="soft">The mail as it looks stands here, once it is saved.</p>`,
      }),
    ),
    command: 'svc campaigns create',
    request: 'POST /v1/campaigns',
  };
}

function headActions(asked: Asked, { name }: Campaign): Part {
  const { may } = asked;
  return together(
    html`<nav class="seg" aria-label="Parts"><a href="#to">1 To</a><a href="#content">2 Content</a><a href="#check">3 Check</a><a href="#send">4 Send</a></nav>`,
    may('campaigns:write') && button(asked, { action: 'duplicate', label: 'Copy as new' }),
    may('campaigns:delete') &&
      confirmed(asked, {
        action: 'delete',
        label: 'Delete',
        question: `Delete “${name}”?`,
        goes: 'The campaign goes with its runs and their figures. Mail that left stays in the messages.',
      }),
  );
}

async function one(asked: Asked, given: Form, sum: Part = null): Promise<View> {
  const { ask, query, params } = asked;
  const at = instantOf(asked, query['at']);
  const [look, found, offers] = await Promise.all([
    readRunEstimate(asked, at),
    ask(campaignRunRoutes.list, { params, query: { cursor: query['cursor'] } }),
    offersFor(asked),
  ]);
  const { campaign, estimate } = look;
  const isAgain = given['_action'] === 'count';
  const [latest] = found.items;
  return {
    title: campaign.name,
    crumb: link('/campaigns', 'Campaigns'),
    below: html`${state(latest?.status ?? 'draft')} saved ${time(campaign.updatedAt)} · nothing leaves before part 4`,
    actions: headActions(asked, campaign),
    body: together(
      writing(asked, isAgain ? given : formOf(campaign), offers, {
        sum: sum ?? countPart(estimate),
        mail: await campaignMail(asked, campaign),
      }),
      previewChoice(asked),
      checking(asked, look, given, offers),
      part({ id: 'send', title: '4. Send' }, sendPart(asked, look, at)),
      runsCard(asked, found),
    ),
    command: `svc campaigns estimate ${params['id']}`,
    request: `GET /v1/campaigns/${params['id']}/estimate`,
  };
}

/** Sends a test to some addresses. Names the refused addresses. */
async function test(asked: Asked, given: Form): Promise<Done> {
  const { ask, params } = asked;
  const to = addressesIn(given['to']);
  const results = await ask(campaignRoutes.test, { params, body: { to } });
  const refused = results.flatMap((result, at) =>
    'error' in result ? [`Not to ${to[at]}: ${String(result.error['message'])}.`] : [],
  );
  const sent = to.filter((_, at) => 'message' in (results[at] ?? {}));
  const words = sent.length > 0 ? [`A test is on its way to ${sent.join(', ')}.`] : [];
  return { to: `/console${ownPath(asked)}#check`, said: [...words, ...refused].join(' ') };
}

export const newPage: Page = {
  path: '/campaigns/new',
  needs: 'campaigns:write',
  show: (asked) => fresh(asked, {}),
  actions: {
    count: { needs: 'campaigns:write', run: count },
    make: {
      needs: 'campaigns:write',
      run: async (asked, given) => {
        const body = { channel: 'email', ...bodyOf(given) };
        const { id } = await asked.ask(campaignRoutes.create, { body });
        return { to: `/console/campaigns/${id}`, said: 'Saved.' };
      },
    },
  },
};

export const editorPage: Page = {
  path: '/campaigns/:id',
  needs: 'campaigns:read',
  show: (asked) => one(asked, {}),
  actions: {
    count: { needs: 'campaigns:write', run: count },
    change: {
      needs: 'campaigns:write',
      run: async (asked, given) => {
        const { ask, params } = asked;
        const before = await ask(campaignRoutes.get, { params });
        await ask(campaignRoutes.update, { params, body: bodyOf(given, before) });
        return { to: `/console${ownPath(asked)}#content`, said: 'Saved.' };
      },
    },
    duplicate: {
      needs: 'campaigns:write',
      async run({ ask, params }) {
        const { id } = await ask(campaignRoutes.duplicate, { params });
        return { to: `/console/campaigns/${id}`, said: 'This is the copy.' };
      },
    },
    test: { needs: 'campaigns:run', run: test },
    run: { needs: 'campaigns:run', run: startRun },
    delete: {
      needs: 'campaigns:delete',
      destroys: true,
      async run({ ask, params }) {
        await ask(campaignRoutes.delete, { params });
        return { to: '/console/campaigns', said: 'The campaign is deleted.' };
      },
    },
  },
};
