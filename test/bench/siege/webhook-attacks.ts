// The attacks of a tenant by its webhooks: endpoints that answer after 14 s, redeliveries and
// replays.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Api } from './api.ts';
import type { Attack } from './attackers.ts';
import { times } from './http-attacks.ts';
import type { Siege } from './siege.ts';

const endpoints = 50;
const answerMs = 14_000;
const sendsAtOnce = 10;

/** Receivers at 127.0.3.1 and on, each an origin of its own; resolves with their URLs. */
async function slowReceivers(): Promise<string[]> {
  const urls: string[] = [];
  let port = 0;
  for (let n = 1; n <= endpoints; n++) {
    const host = `127.0.3.${n}`;
    const server = createServer((request, response) => {
      request.resume();
      setTimeout(() => response.writeHead(204).end(), answerMs);
    }).listen(port, host);
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    urls.push(`http://${host}:${port}/`);
  }
  return urls;
}

export async function webhookAttacks(siege: Siege, api: Api): Promise<Record<string, Attack>> {
  const { apiKey: key, domain } = siege;
  const ids: string[] = [];
  for (const url of await slowReceivers()) {
    const body = { name: 'slow', url, events: ['message.accepted'] };
    const { text } = await api.ask('/v1/webhooks', { method: 'POST', key, body });
    ids.push((JSON.parse(text) as { id: string }).id);
  }
  const post = async (path: string, body: object = {}) =>
    String((await api.ask(path, { method: 'POST', key, body })).status);
  const first = ids[0] ?? '';
  return {
    ...times(sendsAtOnce, 'send', () =>
      post('/v1/messages', {
        ...{ channel: 'email', from: { email: `x@${domain}` } },
        ...{ to: [{ email: 'a@sink.example' }], email: { subject: 'x', text: 'x' } },
      }),
    ),
    ...times(endpoints, 'redelivery', async (n) => {
      const deliveries = `/v1/webhooks/${ids[n]}/deliveries`;
      const { items } = await api.json<{ items: { id: string }[] }>(`${deliveries}?limit=1`, key);
      return items[0] ? post(`${deliveries}/${items[0].id}/redeliver`) : 'none yet';
    }),
    ...times(4, 'replay', () => post(`/v1/webhooks/${first}/replay`)),
    ...times(4, 'test delivery', (n) => post(`/v1/webhooks/${ids[n]}/test`)),
  };
}
