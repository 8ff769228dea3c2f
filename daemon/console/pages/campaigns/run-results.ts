// Results of a run by link and by domain of the receiver.
import type { Receiver, RunResults } from '../../../../src/campaigns/setup/results.ts';
import { campaignRunDesk } from '../../../../src/campaigns/setup/routes.ts';
import { html, type Part } from '../../html.ts';
import type { Asked } from '../../page.ts';
import { card } from '../../parts/card.ts';
import { bars } from '../../parts/chart.ts';
import { table } from '../../parts/table.ts';
import { counted, percent } from '../../parts/times.ts';

const most = 8;

/** Returns a target without the query, which can name the person: "shop.example/books". */
function targetOf(url: string): string {
  if (!URL.canParse(url)) return url.slice(0, 80);
  const { host, pathname } = new URL(url);
  return `${host}${pathname === '/' ? '' : pathname}`.slice(0, 80);
}

/** Returns the sentence about a part of a large run; nothing for a whole run. */
const partIn = (people: number, total: number) =>
  people < total ? html`<span class="soft">of the first ${counted(people)} people</span>` : null;

/** Returns a share of delivered mail; nothing without delivered mail. */
const shareOf = (part: number, { delivered }: Receiver) =>
  delivered === 0 ? '' : percent(Math.min(1, part / delivered));

function linksCard({ links, people }: RunResults, total: number): Part {
  const [first] = links;
  if (!first) return null;
  const all = links.slice(0, most).map(({ url, people: clicked }) => ({
    label: targetOf(url),
    value: clicked,
    share: clicked / first.people,
  }));
  return card('Links', bars(all), { more: partIn(people, total) });
}

function receiversCard(asked: Asked, { receivers, people }: RunResults, total: number): Part {
  if (receivers.length === 0) return null;
  const rows = table<Receiver>(
    asked,
    { items: receivers.slice(0, most) },
    [
      { head: 'Domain', cell: ({ domain }) => domain },
      { head: 'Sent', isNumber: true, cell: ({ sent }) => counted(sent) },
      { head: 'Delivered', isNumber: true, cell: ({ delivered }) => counted(delivered) },
      { head: 'Bounced', isNumber: true, cell: ({ bounced }) => counted(bounced) },
      { head: 'Opened', isNumber: true, cell: (one) => shareOf(one.opened, one) },
      { head: 'Clicked', isNumber: true, cell: (one) => shareOf(one.clicked, one) },
    ],
    '',
  );
  return card('By receiver', rows, { more: partIn(people, total) });
}

/** Draws the links and the receivers of a run. `total` is the number of all people. */
export async function resultCards(asked: Asked, total: number): Promise<Part> {
  const { id, runId } = asked.params;
  const found = await asked.ask(campaignRunDesk.results, { query: { id, runId } });
  const [links, receivers] = [linksCard(found, total), receiversCard(asked, found, total)];
  if (!links) return receivers;
  return html`<div class="grid two">${receivers}${links}</div>`;
}
