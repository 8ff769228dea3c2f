// 5,000 idle connections and 500 slow ones on a real daemon; a normal send is still answered in
// less than 100 ms, and memory is bounded. Exact figures: npm run bench -- --connections-idle.
// Slow: 5,000 connections are opened.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryMb } from '../bench/process-cost.ts';
import { median } from '../bench/progress.ts';
import { payload } from '../outbound/messages/fixtures.ts';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../support/daemon-process.ts';
import {
  type HeldConnections,
  heldConnectionsObstacle,
  holdConnections,
} from '../support/held-connections.ts';

const idle = 5_000;
const slow = 500;
const sends = 31;
const longestMs = 100;
/** Growth of the peak in MB: 30 KB for each connection, 1.5 times the measured growth. */
const mostMbPerThousand = 30;

const obstacle = heldConnectionsObstacle(idle + slow);
const title = '5,000 idle connections and 500 slow ones';

describe.skipIf(obstacle !== null)(obstacle ? `${title}: ${obstacle}` : title, () => {
  let home: DaemonHome;
  let daemon: DaemonProcess;
  let held: HeldConnections | undefined;

  beforeAll(async () => {
    home = daemonHome();
    daemon = await home.start();
  });
  afterAll(async () => {
    held?.close();
    await home.close();
  });

  async function openConnections(): Promise<number> {
    const text = await (await fetch(`${daemon.httpUrl}/metrics`)).text();
    return Number(/^svc_http_connections (\d+)/m.exec(text)?.[1]);
  }

  /** Milliseconds of each of `sends` sends, one after the other. */
  async function sendTimes(): Promise<number[]> {
    const times: number[] = [];
    for (let sent = 0; sent < sends; sent++) {
      const startedAt = performance.now();
      const { status } = await daemon.request('POST', '/v1/messages', { body: payload() });
      times.push(performance.now() - startedAt);
      expect(status).toBe(201);
    }
    return times;
  }

  it('leave a normal send below 100 ms, and memory bounded', { timeout: 60_000 }, async () => {
    await sendTimes();
    const beforeMb = memoryMb(daemon.pid, 'now');
    const port = Number(new URL(daemon.httpUrl).port);
    held = await holdConnections(port, { idle, slow, apiKey: home.apiKey });
    const times = await sendTimes();
    expect(held.idle()).toBe(idle);
    expect(await openConnections()).toBeGreaterThan(idle);
    expect(median(times)).toBeLessThan(longestMs);
    const grownMb = memoryMb(daemon.pid, 'peak') - beforeMb;
    expect(grownMb).toBeLessThan(((idle + slow) / 1_000) * mostMbPerThousand);
  });
});
