// Webhooks for the operator: metrics, and the lines of the log, which hold nothing secret.
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createWebhookLoop, type WebhookLoop } from '../../src/webhooks/posting/loop.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import {
  deliveryRow,
  loopbackConfig,
  makeDeliveries,
  makeEndpoint,
  type Receiver,
  receiver,
  status,
  until,
} from './engine.ts';

let test: TestApp;
let loop: WebhookLoop;
let to: Receiver;
const dialled: string[] = [];

async function start(config: Parameters<typeof testApp>[0]): Promise<void> {
  test = await testApp(config);
  loop = createWebhookLoop(test.app);
}
beforeEach(async () => {
  to = await receiver();
  dialled.length = 0;
});
afterEach(async () => {
  await loop.stop(0);
  await test.close();
  await to.close();
});

const metric = async (name: string) => {
  const text = await test.app.metrics.registry.metrics();
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
};

it('a refused address is one line per post, without path, query, header or secret', async () => {
  await start({
    connect: ({ host }): Socket => {
      dialled.push(String(host));
      throw new Error('dialled');
    },
  });
  const { app } = test;
  const warn = vi.spyOn(app.log, 'warn');
  const error = vi.spyOn(app.log, 'error');
  const url = 'http://10.1.2.3:8080/a-path/token-1?query=token-2';
  const endpoint = await makeEndpoint(test, url, { plainHeaders: { 'x-own': 'token-3' } });
  const [id = ''] = await makeDeliveries(test, endpoint, 1, { data: { id: 'token-4' } });
  await loop.start();
  await until(async () => (await deliveryRow(app, id)).attempt_count === 1);
  const { organizationId } = test.caller;
  expect(warn.mock.calls).toEqual([
    [
      { endpointId: endpoint, organizationId, host: '10.1.2.3:8080' },
      'a webhook was not posted: its endpoint resolves to a refused address',
    ],
  ]);
  expect(error.mock.calls).toEqual([]);
  expect(JSON.stringify(warn.mock.calls)).not.toMatch(/token|path|query|x-own|whsec/);
  expect(dialled).toEqual([]);
});

it('the delay leaves out a suspended endpoint, whose deliveries wait on purpose', async () => {
  await start({ config: loopbackConfig });
  const { clock } = test;
  const endpoint = await makeEndpoint(test, to.url, { status: 'suspended' });
  await makeDeliveries(test, endpoint, 1);
  await clock.advance(90_000);
  await loop.start();
  await loop.idle();
  expect(await metric('svc_webhook_lag_seconds')).toBe(0);
});

it('the gauges give the queued deliveries and the delay of the oldest one', async () => {
  await start({ config: loopbackConfig });
  const { app, clock } = test;
  const endpoint = await makeEndpoint(test, to.url);
  await makeDeliveries(test, endpoint, 7);
  await clock.advance(90_000);
  const held: (() => void)[] = [];
  to.answer = (request, response) => held.push(() => status(204)(request, response));
  await loop.start();
  await until(() => held.length === 5);
  expect(await metric('svc_webhook_deliveries_pending')).toBe(7);
  expect(await metric('svc_webhook_lag_seconds')).toBe(90);
  to.answer = status(204);
  for (const answer of held) answer();
  await loop.idle();
  expect(await metric('svc_webhook_lag_seconds')).toBe(0);
  await clock.advance(10_000);
  await loop.idle();
  expect(await metric('svc_webhook_deliveries_pending')).toBe(0);
  expect(await app.metrics.registry.metrics()).toContain(
    'svc_webhook_attempts_total{outcome="succeeded"} 7',
  );
});
