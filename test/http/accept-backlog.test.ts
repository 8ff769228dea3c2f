// Bursts of connections to a listener whose event loop works: the system accepts them all, so that
// it drops none of other clients.
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { smtpService } from '../listener/smtp-service.ts';
import { httpService } from './http-service.ts';

const burst = 700;
/** Time without a further connection after which the rest is dropped. */
const patienceMs = 3_000;
const somaxconn = Number(readFileSync('/proc/sys/net/core/somaxconn', 'latin1'));

const client = `
  const { connect } = require('node:net');
  const { workerData: { port, burst, count } } = require('node:worker_threads');
  Atomics.wait(count, 1, 0);
  for (let n = 0; n < burst; n++) {
    connect(port, '127.0.0.1').on('error', () => {}).once('connect', () => {
      Atomics.add(count, 0, 1);
      Atomics.notify(count, 0);
    });
  }
`;

/**
 * Holds the event loop while another thread connects; returns the number of connections by then.
 */
async function connectedWhileHeld(port: number): Promise<number> {
  const count = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(client, { eval: true, workerData: { port, burst, count } });
  await new Promise((resolve) => worker.once('online', resolve));
  Atomics.store(count, 1, 1);
  Atomics.notify(count, 1);
  for (let seen = 0; seen < burst; seen = Atomics.load(count, 0)) {
    if (Atomics.wait(count, 0, seen, patienceMs) === 'timed-out') break;
  }
  await worker.terminate();
  return Atomics.load(count, 0);
}

const listeners = {
  async http() {
    const service = await httpService();
    const { url } = await service.http.listen();
    return { port: Number(new URL(url).port), close: () => service.close() };
  },
  async smtp() {
    const service = await smtpService();
    return { port: service.port, close: () => service.close() };
  },
};

// Other systems keep fewer connections.
it.runIf(somaxconn >= burst).each(['http', 'smtp'] as const)(
  'accepts a burst of connections on %s while the event loop is held',
  async (kind) => {
    const { port, close } = await listeners[kind]();
    try {
      expect(await connectedWhileHeld(port)).toBe(burst);
    } finally {
      await close();
    }
  },
);
