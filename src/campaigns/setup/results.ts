// Results of a run beyond the counters: by domain of the receiver, and by link. Reads only the
// first contacts of the ledger, so the cost is bounded.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { findDeliveryStatuses } from '../../outbound/deliveries/queries.ts';
import type { MessageStatus } from '../../outbound/deliveries/status.ts';
import { type ClickedLink, clickedLinks } from '../../outbound/tracking/clicked-links.ts';
import { selectRecipients } from '../../run-ledger/list-queries.ts';
import type { RecipientRow } from '../../run-ledger/queries.ts';
import { getRunState, type RunPlace } from './runs.ts';

/** Figures of the receivers at a domain. */
export interface Receiver {
  domain: string;
  sent: number;
  delivered: number;
  bounced: number;
  opened: number;
  clicked: number;
}

export interface RunResults {
  /** Number of contacts that the figures cover: the first of the run, at most 2,000. */
  people: number;
  receivers: Receiver[];
  links: ClickedLink[];
}

/** Most contacts of a run that are read. */
const mostPeople = 2_000;
/** Most messages in a query: the event loop is free between two queries. */
const perQuery = 500;

const arrived: ReadonlySet<MessageStatus> = new Set(['delivered', 'read', 'complained']);
const left: ReadonlySet<MessageStatus> = new Set([...arrived, 'sent', 'bounced']);

/** Returns the figures of the receivers by domain, the largest first. */
async function receiversOf(app: App, rows: readonly RecipientRow[]): Promise<Receiver[]> {
  const byMessage = new Map(rows.map((row) => [row.message_id ?? '', row]));
  const ids = [...byMessage.keys()];
  const found = new Map<string, Receiver>();
  for (let at = 0; at < ids.length; at += perQuery) {
    const deliveries = await findDeliveryStatuses(app.store.db, ids.slice(at, at + perQuery));
    for (const { domain, status, message_id: id } of deliveries) {
      if (!left.has(status)) continue;
      const none = { domain, sent: 0, delivered: 0, bounced: 0, opened: 0, clicked: 0 };
      const figures = found.get(domain) ?? none;
      const row = byMessage.get(id);
      figures.sent += 1;
      if (arrived.has(status)) figures.delivered += 1;
      if (status === 'bounced') figures.bounced += 1;
      if (row?.opened_at) figures.opened += 1;
      if (row?.clicked_at) figures.clicked += 1;
      found.set(domain, figures);
    }
  }
  return [...found.values()].sort((a, b) => b.sent - a.sent || (a.domain < b.domain ? -1 : 1));
}

/** Returns the results of a run. @throws ResourceNotFoundError. */
export async function seeResults(app: App, caller: Caller, place: RunPlace): Promise<RunResults> {
  const { db } = app.store;
  const { id } = await getRunState(db, caller, place);
  const all = { outcome: undefined, reason: undefined, where: undefined };
  const judged = await selectRecipients(db, id, all, { after: undefined, limit: mostPeople });
  const rows = judged.filter(({ message_id }) => message_id !== null);
  const clicked = rows.flatMap(({ message_id, clicked_at }) =>
    message_id !== null && clicked_at !== null ? [message_id] : [],
  );
  const [receivers, links] = await Promise.all([
    receiversOf(app, rows),
    clickedLinks(app, clicked),
  ]);
  return { people: judged.length, receivers, links };
}
