// Mail for a smarthost that was down: the schedule of retries by hand, and the return of the host.
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { examine } from '../../../src/doctor/examine.ts';
import { holdQueue } from '../../../src/outbound/queue/desk/holds.ts';
import { flushQueue, retryDeliveries } from '../../../src/outbound/queue/desk/queue.ts';
import { unreachedRelays } from '../../../src/outbound/queue/desk/unreached-relays.ts';
import { bothStores } from '../../support/command.ts';
import {
  firstDelivery,
  type RunningPipeline,
  send,
  startPipeline,
} from '../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Returns a port of loopback on which nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

describe.each(bothStores)('a smarthost that is down, on %s', (store) => {
  let test: TestApp;
  let pipeline: RunningPipeline;
  let port: number;
  let logged: string[];
  let sink: SmtpSink | undefined;

  beforeEach(async () => {
    port = await freePort();
    logged = [];
    sink = undefined;
    test = await testApp({
      store,
      config: {
        delivery: { mode: 'relay', relay: { host: '127.0.0.1', port }, maxConnectionsPerDomain: 3 },
      },
      log: {
        write(line: string) {
          logged.push(line);
        },
      },
    });
    pipeline = await startPipeline(test.app);
  });
  afterEach(async () => {
    await pipeline.close();
    await test.close();
    await sink?.close();
  });

  const pass = async (ms: number, stepMs = minuteMs) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await test.clock.advance(Math.min(stepMs, ms - passed));
      await pipeline.idle();
    }
  };
  const comesBack = async () => {
    sink = await startSmtpSink({ port });
    return sink;
  };
  const warnings = () => logged.filter((line) => line.includes('has not been reached'));

  it('is asked by hand without a change of the schedule', async () => {
    const { id } = await send(test.app, test.caller, 'ada@example.com');
    await pass(30 * minuteMs);
    const planned = await firstDelivery(test.app, test.caller, id);
    for (let press = 1; press <= 7; press++) {
      await retryDeliveries(test.app, [id]);
      await pipeline.idle();
      await pass(20_000, 20_000);
      const now = await firstDelivery(test.app, test.caller, id);
      expect(now.nextRetryAt).toBe(planned.nextRetryAt);
    }
    const pressed = await firstDelivery(test.app, test.caller, id);
    expect(pressed.attemptCount).toBeGreaterThan(planned.attemptCount);
    await pass(30 * minuteMs);
    const after = await firstDelivery(test.app, test.caller, id);
    const waitMs = Date.parse(after.nextRetryAt ?? '') - Date.parse(planned.nextRetryAt ?? '');
    expect(waitMs).toBeLessThanOrEqual(67 * minuteMs);
  });

  it('gets all waiting mail once it accepts the first, at the pace of its lane', async () => {
    for (let index = 0; index < 40; index++) {
      await send(test.app, test.caller, `reader${index}@example.com`);
    }
    await pass(5 * hourMs, 5 * minuteMs);
    const back = await comesBack();
    await send(test.app, test.caller, 'new@example.com');
    await pass(16 * minuteMs, 10_000);
    expect(back.received).toBe(41);
    expect(back.connections.peak).toBeLessThanOrEqual(3);
  });

  it('leaves held mail alone when it is back', async () => {
    await send(test.app, test.caller, 'ada@held.example');
    await send(test.app, test.caller, 'ada@example.com');
    await pass(5 * hourMs, 5 * minuteMs);
    await holdQueue(test.app, { domain: 'held.example' }, null);
    const back = await comesBack();
    await flushQueue(test.app, { domain: 'example.com' });
    await pass(16 * minuteMs, 10_000);
    expect(back.messages.map(({ recipients }) => recipients)).toEqual([['ada@example.com']]);
  });

  it('is a warning in log and doctor after three hours, until it is back', async () => {
    await send(test.app, test.caller, 'ada@example.com');
    await pass(2 * hourMs, 5 * minuteMs);
    expect(await unreachedRelays(test.app)).toEqual([]);
    expect(warnings()).toEqual([]);
    await pass(hourMs + 10 * minuteMs, 5 * minuteMs);
    expect(await unreachedRelays(test.app)).toMatchObject([{ relay: `127.0.0.1:${port}` }]);
    expect(warnings()).toHaveLength(1);
    const [finding] = await examine(test.app, { only: ['smarthost'] });
    expect(finding).toMatchObject({
      status: 'warn',
      found: `the smarthost 127.0.0.1:${port} has not been reached for 3 h`,
    });
    await comesBack();
    await flushQueue(test.app, {});
    await pass(20 * minuteMs);
    expect(await unreachedRelays(test.app)).toEqual([]);
    expect(logged.some((line) => line.includes('is reached again'))).toBe(true);
  });
});
