// The pages of webhooks: how many events arrived, why the last failed delivery did not, and the
// payload and the answers of a delivery.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  loopbackConfig,
  makeDeliveries,
  makeEndpoint,
  receiver,
  status,
} from '../webhooks/engine.ts';
import { type Browser, consoleWorld, type World } from './world.ts';

describe('the pages of a webhook', () => {
  let world: World;
  let browser: Browser;
  let hook: Awaited<ReturnType<typeof receiver>>;
  let endpointId: string;
  let posted: readonly string[];
  beforeAll(async () => {
    world = await consoleWorld('sqlite', loopbackConfig);
    browser = await world.operator();
    hook = await receiver();
    endpointId = await makeEndpoint(world.test, hook.url, { name: 'Shop' });
    await makeDeliveries(world.test, endpointId, 7, { status: 'delivered', due_at: null });
    posted = await makeDeliveries(world.test, endpointId, 1, { status: 'exhausted', due_at: null });
  });
  afterAll(async () => {
    await hook?.close();
    await world?.close();
  });

  const at = () => `/console/webhooks/${endpointId}`;
  const page = async (path: string, by = browser) => (await by.get(path)).body;
  const redeliver = () => browser.post(`${at()}/${posted[0]}`, { _action: 'redeliver' });

  it('say which share of the events arrived, in the list and on the page', async () => {
    const list = await page('/console/webhooks');
    expect(list).toMatch(/87\.5 %.*7 of 8/s);
    expect(await page(at())).toMatch(/87\.5 %.*7 of 8 in 7 days/s);
  });

  it('say no share where nothing was posted', async () => {
    const id = await makeEndpoint(world.test, hook.url, { name: 'New' });
    const body = await page(`/console/webhooks/${id}`);
    expect(body).toContain('No event was posted in 7 days.');
    expect(body).not.toContain('%');
    await makeDeliveries(world.test, id, 1);
    expect(await page(`/console/webhooks/${id}`)).not.toContain('%');
  });

  it('say why the last failed delivery did not arrive, and when', async () => {
    hook.answer = status(500, {}, 'no <database>');
    expect((await redeliver()).status).toBe(303);
    const body = await page(at());
    expect(body).toMatch(/The receiver answered with an error \(500\): “no &lt;database>”/);
    expect(body).toMatch(/The last failure was <time[^>]*>today, \d\d:\d\d<\/time>/);
    expect(body).toContain(`href="${at()}/${posted[0]}"`);
  });

  it('say in words that no answer came', async () => {
    const port = new URL(hook.url).port;
    await hook.close();
    await redeliver();
    expect(await page(`${at()}/${posted[0]}`)).toContain('No connection');
    hook = await receiver();
    expect(new URL(hook.url).port).not.toBe(port);
  });

  it('show the posted bytes and each answer of a delivery, folded', async () => {
    const own = await makeEndpoint(world.test, hook.url);
    const [id = ''] = await makeDeliveries(world.test, own, 1, {
      status: 'exhausted',
      due_at: null,
      data: { id: 'dom_1', name: '<b>news.example</b>' },
    });
    hook.answer = status(200, {}, 'thank you');
    await browser.post(`/console/webhooks/${own}/${id}`, { _action: 'redeliver' });
    const body = await page(`/console/webhooks/${own}/${id}`);
    expect(body).toMatch(/<summary><b>Payload<\/b>.*<pre[^>]*>[^<]*news\.example/s);
    expect(body).toMatch(/<summary>[^/]*Arrived.*<pre>thank you<\/pre>/s);
    expect(body).not.toContain('<b>news.example');
    const delivery = await world.api('GET', `/v1/webhooks/${own}/deliveries/${id}`);
    expect(delivery).toMatchObject({ payload: hook.received.at(-1)?.body });
  });
});
