// The attacks of a tenant's key, and of a key bound to a mailbox, over HTTP.
import type { Api } from './api.ts';
import type { Attack } from './attackers.ts';
import type { Seeded } from './seed-contents.ts';
import type { Siege } from './siege.ts';

const streams = 120;
const trickles = 8;
const trickleMs = 1000;
const proposalBytes = 5_000_000;

/** Runs several of the same attack side by side. */
export function times(count: number, name: string, attack: (n: number) => Promise<string>) {
  const all = Array.from({ length: count }, (_, n) => [`${name} ${n}`, () => attack(n)] as const);
  return Object.fromEntries(all);
}

export function httpAttacks(siege: Siege, api: Api, seeded: Seeded): Record<string, Attack> {
  const { apiKey: key, boundKey, mailboxId } = siege;
  const mailbox = `/v1/mailboxes/${mailboxId}`;
  const get = (path: string) => async () => String((await api.ask(path, { key })).status);
  const asAgent = (method: string, path: string, body?: object) => async () =>
    String((await api.ask(path, { method, key: boundKey, body })).status);
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(97 + at));
  const prefixes = (length: number, count: number) =>
    letters.slice(0, count).map((letter) => `${letter.repeat(length)}*`);
  const find = (words: readonly string[]) =>
    `${mailbox}/threads?q=${encodeURIComponent(words.join(' '))}`;
  const never = '2000-01-01T00:00:00.000Z';
  const content = Buffer.alloc(proposalBytes).toString('base64');
  let followed = 0;
  return {
    'list of drafts': get(`${mailbox}/drafts?limit=100`),
    'messages of a thread': get(`${mailbox}/threads/${seeded.threadId}/messages?limit=100`),
    actions: get(`${mailbox}/actions?limit=100`),
    'search by 26 prefixes': get(find(prefixes(1, 26))),
    'search by 4 prefixes': get(find(prefixes(3, 4))),
    'contacts that are counted': get(`/v1/contacts?status=active&updatedSince=${never}`),
    'messages that are counted': get(`/v1/messages?subject=l&startDate=${never}`),
    'log of events': get(`/v1/events?type=warming.completed&since=${never}&limit=100`),
    'proposal of 5 MB': asAgent('POST', `${mailbox}/messages`, {
      ...{ to: ['a@b.example'], subject: 'x', text: 'x' },
      attachments: [{ filename: 'a', content, contentType: 'application/pdf' }],
    }),
    'address for an agent': asAgent('POST', `${mailbox}/addresses`, {
      address: `ceo@${siege.domain}`,
    }),
    'pause by an agent': asAgent('POST', `${mailbox}/pause`),
    ...times(trickles, 'trickled import', () =>
      api.trickle('/v1/contacts/import', key, 'text/csv', 'email\n', trickleMs),
    ),
    ...times(trickles, 'trickled body', () =>
      api.trickle('/v1/messages', key, 'application/json', '          ', trickleMs),
    ),
    ...times(trickles, 'export', () => api.hold('/v1/contacts/export?format=csv', key)),
    ...times(streams, 'stream', () =>
      api.hold(`/v1/events/stream?type=warming.completed&since=${never}`, key),
    ),
    ...times(4, 'followed link', async () => {
      followed += 1;
      const path = seeded.links[followed % seeded.links.length] ?? '/';
      return String((await api.ask(path)).status);
    }),
  };
}
