// The first webhook of a developer: the answer to a private URL, the test that waits, and the last
// error.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from '../../src/core/api/pagination.ts';
import type { Webhook, WebhookDelivery } from '../../src/webhooks/schema.ts';
import { type DaemonHome, daemonHome } from '../support/daemon-process.ts';
import { eachApi } from '../support/each-app.ts';

describe('a webhook on this machine', () => {
  const { api } = eachApi();

  it.each(['http://localhost:3000/hook', 'http://127.0.0.1:3000', 'http://10.0.0.7/'])(
    'at %s is refused with the ways to receive events there',
    async (url) => {
      const { status, body } = await api.post<{ fields: { url: string[] } }>('/v1/webhooks', {
        url,
        events: ['*'],
      });
      expect([status, body.fields.url[0]]).toEqual([
        422,
        expect.stringMatching(/svc webhooks listen --forward-to URL.*allowPrivateAddresses/),
      ]);
    },
  );

  it('is refused without such advice for a port that posts may not use', async () => {
    const { body } = await api.post<{ fields: { url: string[] } }>('/v1/webhooks', {
      url: 'https://hooks.example.com:25/',
      events: ['*'],
    });
    expect(body.fields.url[0]).not.toContain('webhooks listen');
  });
});

describe('svc webhooks test', () => {
  let home: DaemonHome;
  let receiver: Server;
  let status = 204;
  let webhook: Webhook;
  beforeAll(async () => {
    home = daemonHome({ SVC_WEBHOOKS_ALLOW_PRIVATE_ADDRESSES: 'true' });
    await home.start();
    receiver = createServer((request, response) => {
      request.resume();
      response.writeHead(status).end('no database');
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    webhook = await home.cli.json<Webhook>(['webhooks', 'create', '--url', url, '--event', '*']);
  });
  afterAll(async () => {
    receiver.close();
    await home.close();
  });

  it('shows the attempt of a post that succeeds', async () => {
    status = 204;
    const { code, stdout } = await home.cli.run(['webhooks', 'test', webhook.id]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/status +delivered[\s\S]*succeeded/)]);
  });

  it('ends with exit code 8 and the answer of a post that fails', async () => {
    status = 500;
    const { code, stderr } = await home.cli.run(['webhooks', 'test', webhook.id]);
    expect([code, stderr]).toEqual([8, expect.stringContaining('status 500: no database')]);
  });

  it('ends at once with --no-wait', async () => {
    const argv = ['webhooks', 'test', webhook.id, '--no-wait'];
    expect(await home.cli.json<object>(argv)).toMatchObject({ accepted: true });
  });

  it('leaves the last error in the list of deliveries', async () => {
    const { items } = await home.cli.json<Page<WebhookDelivery>>([
      ...['webhooks', 'deliveries', webhook.id, '--limit', '100'],
    ]);
    const failed = items.filter(({ status: state }) => state === 'pending');
    expect(failed.map(({ lastError }) => lastError)).toContain('status 500: no database');
    const delivered = items.filter(({ status: state }) => state === 'delivered');
    expect(delivered.map(({ lastError }) => lastError)).toContain(null);
    const { stdout } = await home.cli.run(['webhooks', 'deliveries', webhook.id]);
    expect(stdout).toContain('status 500: no database');
  });
});
