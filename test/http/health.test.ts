// /healthz, /readyz and /metrics: served without a key, and accurate.
import { afterEach, expect, it } from 'vitest';
import { program } from '../../src/platform/runtime/program.ts';
import { addJob } from '../../src/service/jobs/queries.ts';
import { runTick, type TickingJob } from '../../src/service/jobs/run-tick.ts';
import { storeIdOf } from '../../src/service/store-id.ts';
import { type HttpService, httpService } from './http-service.ts';

let service: HttpService | undefined;

afterEach(async () => {
  await service?.close();
});

it('/healthz answers 200 while the process lives', async () => {
  service = await httpService({ isQueueRunning: () => false });
  const response = await service.http.inject({ url: '/healthz' });
  expect([response.statusCode, response.json()]).toEqual([200, { status: 'ok' }]);
});

it.each([
  ['ready', true, true, 200],
  ['not ready', false, true, 503],
  ['not ready', true, false, 503],
] as const)('/readyz is %s with store %s and queue %s', async (status, store, queue, code) => {
  service = await httpService({
    isQueueRunning: () => queue,
    store: { isWritable: async () => store },
  });
  const response = await service.http.inject({ url: '/readyz' });
  expect([response.statusCode, response.json()]).toEqual([
    code,
    { status, store, schema: true, queue },
  ]);
});

it('/readyz asks the real store', async () => {
  service = await httpService();
  const response = await service.http.inject({ url: '/readyz' });
  expect(response.json()).toEqual({ status: 'ready', store: true, schema: true, queue: true });
});

it('/readyz?verbose lists the scheduled jobs, without the texts of their errors', async () => {
  service = await httpService();
  const { app, http, clock } = service;
  const now = clock.now();
  const job: TickingJob = {
    name: 'sweep',
    run: () => Promise.reject(new Error('secret text')),
    nextAfter: () => now + 60_000,
  };
  await app.store.write((trx) => addJob(trx, { name: 'sweep', nextAt: now, periodMs: 3_600_000 }));
  await runTick(app, job, { holder: 'a', signal: new AbortController().signal });
  const { jobs, ...state } = (await http.inject({ url: '/readyz?verbose' })).json();
  expect(state).toEqual({
    status: 'ready',
    store: true,
    schema: true,
    queue: true,
    draining: false,
    pid: process.pid,
    version: program.version,
    commit: program.commit,
    storeId: await storeIdOf(app.store.db),
  });
  expect(jobs).toEqual([
    {
      name: 'sweep',
      nextAt: new Date(now + 60_000).toISOString(),
      lastRunAt: new Date(now).toISOString(),
      isRunning: false,
      hasFailed: true,
    },
  ]);
});

it('/readyz answers 503 and logs the error when the store fails', async () => {
  service = await httpService({
    store: { isWritable: () => Promise.reject(new Error('the disk came off')) },
  });
  const response = await service.http.inject({ url: '/readyz' });
  expect([response.statusCode, response.json().store]).toEqual([503, false]);
  expect(service.logged()).toMatchObject([{ err: { message: 'the disk came off' } }]);
});

it('/readyz asks the store once a second for any number of requests', async () => {
  let asked = 0;
  const isWritable = async () => {
    asked += 1;
    return asked < 3;
  };
  service = await httpService({ store: { isWritable } });
  const { http, clock } = service;
  const ask = async () => (await http.inject({ url: '/readyz' })).json().store;
  expect(await Promise.all(Array.from({ length: 100 }, ask))).toEqual(Array(100).fill(true));
  expect(asked).toBe(1);
  await clock.advance(999);
  await ask();
  expect(asked).toBe(1);
  await clock.advance(1);
  await Promise.all([ask(), ask()]);
  expect(asked).toBe(2);
  await clock.advance(1_000);
  expect([await ask(), asked]).toEqual([false, 3]);
});

it('/metrics is Prometheus text', async () => {
  service = await httpService();
  const response = await service.http.inject({ url: '/metrics' });
  expect(response.headers['content-type']).toContain('text/plain');
  expect(response.body).toContain('# TYPE svc_messages_accepted_total counter');
});
