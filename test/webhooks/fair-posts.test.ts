// Places of posts, of held deliveries and of connections are shared by organizations: slow
// endpoints of one hold back no other (src/webhooks/posting/places.ts).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import { testWebhook } from '../../src/webhooks/deliveries/deliveries.ts';
import { createWebhookLoop, type WebhookLoop } from '../../src/webhooks/posting/loop.ts';
import { stores } from '../support/command.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import {
  countsOf,
  loopbackConfig,
  makeDeliveries,
  makeEndpoint,
  type Receiver,
  receiver,
  until,
} from './engine.ts';

const slowMs = 14_000;

describe.each(stores)('a second organization, on %s', (store) => {
  let test: TestApp;
  let other: TestApp;
  let to: Receiver;
  let loop: WebhookLoop;
  /**
   * Errors in the log: after one the loop pauses for a second, which the clock does not give it.
   */
  let troubles: string[];
  /** Requests without an answer. */
  let held: number;
  /** True makes slow endpoints answer at once. */
  let isQuickNow: boolean;

  beforeEach(async () => {
    troubles = [];
    const log = {
      write: (line: string) => void (/"level":"(error|fatal)"/.test(line) && troubles.push(line)),
    };
    test = await testApp({ store, config: loopbackConfig, log });
    const { id: organizationId } = await createOrganization(test.app, {
      name: 'Other',
      plan: 'free',
    });
    other = { ...test, caller: { ...test.caller, organizationId } };
    held = 0;
    isQuickNow = false;
    to = await receiver();
    to.answer = answer;
    loop = createWebhookLoop(test.app);
  });
  afterEach(async () => {
    await loop.stop(0);
    await to.close();
    await test.close();
  });

  function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
    const end = () => response.writeHead(204).end();
    if (isQuickNow || !url.startsWith('/slow')) return void end();
    held += 1;
    test.clock.after(slowMs, end);
  }

  /** Returns a URL with a separate origin for each name below localhost. */
  const at = (name: string, path: string) =>
    to.url.replace('127.0.0.1', `${name}.localhost`).replace('/hook', path);

  /** Makes slow endpoints of the first organization, each at a separate origin. */
  async function slowOnes(count: number, origin = 'slow'): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) {
      const name = origin === 'slow' ? `slow${i}` : origin;
      ids.push(await makeEndpoint(test, at(name, `/slow${i}`)));
    }
    return ids;
  }

  async function queueEach(ids: readonly string[], count: number): Promise<void> {
    for (const id of ids) await makeDeliveries(test, id, count);
  }

  /** Waits until the first organization holds its whole share. */
  async function saturated(): Promise<void> {
    for (let last = 0; last === 0 || last !== held; ) {
      last = held;
      await test.clock.advance(1);
      for (let turn = 0; turn < 300; turn++) await nextTurn();
    }
  }

  const isDelivered = async (endpoint: string) => {
    const { delivered = 0 } = (await countsOf(test.app, endpoint)).byRows;
    return delivered > 0;
  };

  /**
   * Waits for a delivery while the clock continues, at a 25th of real time: it passes less than two
   * seconds before `until` gives up, and never stands still while a slow database answers.
   */
  async function deliveredWithinASecond(endpoint: string): Promise<void> {
    const startedAt = performance.now();
    let passedMs = 0;
    let looks = 0;
    const waiting = until(async () => {
      looks += 1;
      if (await isDelivered(endpoint)) return true;
      expect(troubles).toEqual([]);
      for (; passedMs < (performance.now() - startedAt) / 25; passedMs++)
        await test.clock.advance(1);
      return false;
    });
    await waiting.catch(async (error: Error) => {
      const { rows } = await sql`select status, attempt_count, claimed_by,
        due_at - ${test.clock.now()} as due_in_ms from webhook_deliveries
        where endpoint_id = ${endpoint}`.execute(test.app.store.db);
      throw new Error(`${error.message}: ${JSON.stringify({ rows, held, looks, passedMs })}`);
    });
  }

  it('gets its post while the first has 50 slow endpoints', async () => {
    await queueEach(await slowOnes(50), 10);
    await loop.start();
    await saturated();
    const quick = await makeEndpoint(other, at('quick', '/ok'));
    await makeDeliveries(other, quick, 1);
    await deliveredWithinASecond(quick);
  });

  it('gets its post while formerly quick endpoints of the first hang', async () => {
    const ids = await slowOnes(10);
    isQuickNow = true;
    await queueEach(ids, 1);
    await loop.start();
    for (const id of ids) await deliveredWithinASecond(id);
    isQuickNow = false;
    await queueEach(ids, 100);
    await saturated();
    const quick = await makeEndpoint(other, at('quick', '/ok'));
    await makeDeliveries(other, quick, 1);
    await deliveredWithinASecond(quick);
  });

  it('gets its post at the origin of 50 slow endpoints of the first', async () => {
    await queueEach(await slowOnes(50, 'shared'), 2);
    await loop.start();
    await saturated();
    const quick = await makeEndpoint(other, at('shared', '/ok'));
    await makeDeliveries(other, quick, 1);
    await deliveredWithinASecond(quick);
  });

  it('gets its test event while the first has 50 slow endpoints', async () => {
    await queueEach(await slowOnes(50), 10);
    await loop.start();
    await saturated();
    const quick = await makeEndpoint(other, at('quick', '/ok'));
    await testWebhook(test.app, other.caller, quick, {});
    await deliveredWithinASecond(quick);
  });

  it('gets its replay while the first replays to 50 slow endpoints', async () => {
    const ids = await slowOnes(50);
    await queueEach(ids, 10);
    for (const id of ids) await makeDeliveries(test, id, 10, { is_replay: 1 });
    await loop.start();
    await saturated();
    const quick = await makeEndpoint(other, at('quick', '/ok'));
    await makeDeliveries(other, quick, 1, { is_replay: 1 });
    await deliveredWithinASecond(quick);
  });
});
