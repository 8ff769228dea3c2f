// The people of a run by outcome, with names, and their export as CSV.
import { campaignRunRoutes } from '../../../../src/campaigns/setup/routes.ts';
import type { RunRecipient, RunSummary } from '../../../../src/campaigns/setup/run-schema.ts';
import type { Contact } from '../../../../src/people/contacts/schema.ts';
import { csvRow } from '../../../../src/platform/csv/write-csv.ts';
import { type Download, withQuery } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Page } from '../../page.ts';
import { card } from '../../parts/card.ts';
import { link } from '../../parts/link.ts';
import { emptyState, table } from '../../parts/table.ts';
import { counted, time } from '../../parts/times.ts';
import { who } from '../../parts/who.ts';
import { state } from '../../states.ts';
import { contactsBy, nameOf } from '../people/names.ts';

/** Reasons of people without a mail. */
const reasons: Readonly<Record<string, string>> = {
  excluded: 'Has a tag that is left out',
  archived: 'Is archived',
  'no-address': 'Has no address',
  blocked: 'Is blocked',
  unsubscribed: 'Left the list',
  pending: 'Has not confirmed the list',
  preference: 'Wants no campaigns',
  duplicate: 'The address gets it already',
};

const mostShown = 20;
const mostExported = 1_000;
const perRequest = 100;

type Filter = Readonly<Partial<Record<'outcome' | 'status', string>>>;

interface Tab {
  word: string;
  filter: Filter;
  count: number;
}

function tabsOf(run: RunSummary): Tab[] {
  const { stats, dispatchedCount, skippedCount, failedCount } = run;
  const unopened = Math.max(0, stats.delivered - stats.opened);
  const all: Tab[] = [
    { word: 'All', filter: {}, count: dispatchedCount + skippedCount + failedCount },
    { word: 'Opened', filter: { status: 'read' }, count: stats.opened },
    { word: 'Not opened', filter: { status: 'delivered' }, count: unopened },
    { word: 'Bounced', filter: { status: 'bounced' }, count: stats.bounced },
    { word: 'Not sent', filter: { status: 'failed' }, count: stats.failed },
    { word: 'Reported', filter: { status: 'complained' }, count: stats.complained },
    { word: 'Left out', filter: { outcome: 'skipped' }, count: skippedCount },
    { word: 'No mail made', filter: { outcome: 'failed' }, count: failedCount },
  ];
  return all.filter(({ word, count }) => word === 'All' || count > 0);
}

const filterOf = ({ outcome, status, reason }: Asked['query']) => ({ outcome, status, reason });

/** Asks for a page of the people, and for their names. */
async function pageOf(asked: Asked, limit: number, cursor: string | undefined) {
  const { ask, params, query } = asked;
  const found = await ask(campaignRunRoutes.recipients, {
    params,
    query: { ...filterOf(query), cursor, limit },
  });
  const contacts = await contactsBy(
    asked,
    found.items.map(({ contactId }) => contactId),
  );
  return { found, contacts };
}

function person({ contactId }: RunRecipient, contacts: ReadonlyMap<string, Contact>): Part {
  const contact = contacts.get(contactId);
  if (!contact) return html`<span class="soft">a contact that is gone</span>`;
  const email = contact.identities[0]?.identifier ?? '';
  const name = nameOf(contact);
  return who({ name: name === email ? null : name, email }, `/contacts/${contactId}`);
}

function detail({ may }: Asked, { reason, messageId, clickedAt, openedAt }: RunRecipient): Part {
  const word = clickedAt ? 'Followed a link' : openedAt ? 'Opened it' : 'The\u00a0mail';
  if (messageId !== null) return may('messages:read') ? link(`/messages/${messageId}`, word) : word;
  return reason === null ? '' : (reasons[reason] ?? reason);
}

/**
 * Draws the people of a run. `firstMessage` is the id of a mail on this page of people; null
 * without mail.
 */
export async function peopleCard(asked: Asked, run: RunSummary) {
  const { query, path } = asked;
  const { found, contacts } = await pageOf(asked, mostShown, query['cursor']);
  const here = filterOf(query);
  const isHere = ({ filter }: Tab) =>
    filter.outcome === here.outcome && filter.status === here.status && here.reason === undefined;
  const tabs = tabsOf(run).map((tab) => {
    const to = `${withQuery(`/console${path}`, tab.filter)}#people`;
    return html`<a href=${to} aria-current=${isHere(tab) ? 'true' : undefined}>${tab.word} <span class="n">${counted(tab.count)}</span></a>`;
  });
  const rows = table<RunRecipient>(
    asked,
    found,
    [
      { head: 'Person', cell: (one) => person(one, contacts) },
      { head: 'Outcome', isPlain: true, cell: ({ outcome, status }) => state(status ?? outcome) },
      { head: 'Detail', isPlain: true, cell: (one) => detail(asked, one) },
      {
        head: 'Opened',
        isNumber: true,
        cell: ({ clickedAt, openedAt }) => {
          const at = clickedAt ?? openedAt;
          return at === null ? '' : time(at);
        },
      },
    ],
    emptyState('Nobody has this outcome.'),
  );
  const size = tabsOf(run).find(isHere)?.count ?? 0;
  const label =
    size > mostExported ? `Export CSV (the first ${counted(mostExported)})` : 'Export CSV';
  const to = withQuery(`/console${path}/people.csv`, here);
  return {
    card: card(
      'People',
      together(html`<nav class="tabs" aria-label="Outcome">${tabs}</nav>`, rows),
      { more: html`<a href=${to}>${label}</a>`, id: 'people' },
    ),
    firstMessage: found.items.find(({ messageId }) => messageId !== null)?.messageId ?? null,
  };
}

/** Returns the first 1,000 people of a run, or a few more, as CSV. */
async function exported(asked: Asked): Promise<Download> {
  const lines = [csvRow(['name', 'email', 'outcome', 'reason', 'status', 'openedAt', 'clickedAt'])];
  let cursor: string | undefined;
  do {
    const { found, contacts } = await pageOf(asked, perRequest, cursor);
    for (const { contactId, outcome, reason, status, openedAt, clickedAt } of found.items) {
      const contact = contacts.get(contactId);
      const email = contact?.identities[0]?.identifier ?? null;
      const name = contact?.displayName ?? contact?.name ?? null;
      lines.push(csvRow([name, email, outcome, reason, status, openedAt, clickedAt]));
    }
    cursor = found.nextCursor ?? undefined;
  } while (cursor !== undefined && lines.length <= mostExported);
  return {
    contentType: 'text/csv; charset=utf-8',
    disposition: 'attachment; filename="people.csv"',
    bytes: lines.join(''),
  };
}

export const exportPage: Page = {
  path: '/campaigns/:id/runs/:runId/people.csv',
  needs: 'campaigns:read',
  show: exported,
};
