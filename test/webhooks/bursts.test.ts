// While sends press in, webhooks give way: claims are a second apart, unless a due delivery has
// waited too long.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWebhookLoop, type WebhookLoop } from '../../src/webhooks/posting/loop.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import {
  deliveryRow,
  loopbackConfig,
  makeDeliveries,
  makeEndpoint,
  type Receiver,
  receiver,
  until,
} from './engine.ts';

describe('the next claim of webhooks during a burst of sends', () => {
  let test: TestApp;
  let to: Receiver;
  let endpoint: string;
  let loop: WebhookLoop;
  let isPressing: boolean;
  beforeEach(async () => {
    test = await testApp({ config: loopbackConfig });
    to = await receiver();
    endpoint = await makeEndpoint(test, to.url);
    isPressing = true;
    loop = createWebhookLoop(test.app, { isPressing: () => isPressing });
  });
  afterEach(async () => {
    await loop.stop(0);
    await to.close();
    await test.close();
  });

  /** Makes a delivery that has been due for `sinceMs`; its commit wakes the loop. */
  const due = async (sinceMs = 0) => {
    const at = test.clock.now() - sinceMs;
    const [id = ''] = await makeDeliveries(test, endpoint, 1, { due_at: at });
    return id;
  };
  const isDelivered = async (id: string) =>
    (await deliveryRow(test.app, id)).status === 'delivered';
  const first = async (sinceMs = 0) => {
    const id = await due(sinceMs);
    await loop.start();
    await until(() => isDelivered(id));
    await loop.idle();
  };

  it('is a second after the last', async () => {
    await first();
    const next = await due();
    await loop.idle();
    await test.clock.advance(999);
    await loop.idle();
    expect((await deliveryRow(test.app, next)).attempt_count).toBe(0);
    await test.clock.advance(1);
    await until(() => isDelivered(next));
  });

  it('is at once when a due delivery had waited for ten seconds', async () => {
    await first(10_000);
    const next = await due();
    await until(() => isDelivered(next));
  });

  it('is at once after the burst', async () => {
    await first();
    isPressing = false;
    const next = await due();
    await until(() => isDelivered(next));
  });
});
