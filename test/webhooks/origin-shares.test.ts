// Endpoints of one origin share its ten connections (src/webhooks/posting/places.ts).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWebhookLoop, type WebhookLoop } from '../../src/webhooks/posting/loop.ts';
import { eachApp } from '../support/each-app.ts';
import {
  countsOf,
  loopbackConfig,
  makeDeliveries,
  makeEndpoint,
  type Receiver,
  receiver,
  until,
} from './engine.ts';

describe('a hanging endpoint', () => {
  const test = eachApp({ config: loopbackConfig });
  let to: Receiver;
  let loop: WebhookLoop;
  /** Requests without an answer, by path. */
  const held = new Map<string, number>();
  beforeEach(async () => {
    held.clear();
    to = await receiver();
    to.answer = hold;
    loop = createWebhookLoop(test.app);
  });
  afterEach(async () => {
    await loop.stop(0);
    await to.close();
  });

  function hold({ url = '' }: IncomingMessage, response: ServerResponse): void {
    if (url.startsWith('/ok')) response.writeHead(204).end();
    else held.set(url, (held.get(url) ?? 0) + 1);
  }

  /** Makes an endpoint at this path, with `count` deliveries. */
  async function queued(path: string, count: number): Promise<string> {
    const id = await makeEndpoint(test, to.url.replace('/hook', path));
    await makeDeliveries(test, id, count);
    return id;
  }

  it('holds two connections of its origin while others need them', async () => {
    await queued('/hang', 20);
    // This request waits for its answer until the end, so that its origin is always in use.
    await queued('/slow', 1);
    const others = [await queued('/ok1', 40), await queued('/ok2', 40), await queued('/ok3', 40)];
    await loop.start();
    for (const id of others) {
      await until(async () => (await countsOf(test.app, id)).byRows.delivered === 40);
    }
    expect(Object.fromEntries(held)).toEqual({ '/hang': 2, '/slow': 1 });
  });
});
