// One smarthost, and the cost of its single faults for other mail. The clock stands still unless a
// test moves it, so mail delivered meanwhile has not waited.
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { burstOverMs, type RunningPipeline, send, startPipeline } from '../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let sink: SmtpSink;
let service: TestApp;
let pipeline: RunningPipeline;
/** Times at which connections were opened. */
let dialledAt: number[];

beforeEach(async () => {
  dialledAt = [];
  sink = await startSmtpSink({ tls: false });
  service = await testApp({
    config: { delivery: { mode: 'relay', relay: { host: sink.host, port: sink.port } } },
    connect: (target) => {
      dialledAt.push(service.clock.now());
      return connect(target);
    },
  });
  pipeline = await startPipeline(service.app);
});

afterEach(async () => {
  await pipeline.close();
  await service.close();
  await sink.close();
});

/** Sends `count` messages, to `ada0@example.com` and so on; resolves once none is in flight. */
async function sendMany(count: number): Promise<string[]> {
  const { app, caller, clock } = service;
  const sent = Array.from({ length: count }, (_, i) => send(app, caller, `ada${i}@example.com`));
  const messages = await Promise.all(sent);
  await clock.advance(burstOverMs);
  await pipeline.idle();
  return messages.map(({ id }) => id);
}

async function deliveriesOf(ids: readonly string[]) {
  const { app, caller } = service;
  const messages = await Promise.all(ids.map((id) => getMessage(app, caller, id)));
  return messages.flatMap(({ deliveries }) => deliveries);
}

it.each([
  ['at MAIL', { verb: 'MAIL', match: 'ada40@' }],
  ['at RCPT', { verb: 'RCPT', match: 'ada40@' }],
  ['at DATA', { verb: 'DATA' }],
  ['at the banner', { verb: 'connect' }],
  ['at EHLO', { verb: 'EHLO' }],
] as const)('a connection dropped %s delays no mail, its own included', async (...given) => {
  const [, { verb, ...rule }] = given;
  const match = verb === 'MAIL' ? undefined : 'match' in rule ? rule.match : undefined;
  sink.on({ verb, times: 1, ...(match && { match }) }, { drop: true });
  const ids = await sendMany(100);
  const ends = await deliveriesOf(ids);
  expect(ends.map(({ status, attemptCount }) => [status, attemptCount])).toEqual(
    ids.map(() => ['sent', 1]),
  );
  const recipients = sink.messages.flatMap((message) => message.recipients);
  expect([recipients.length, new Set(recipients).size]).toEqual([100, 100]);
});

it('a connection dropped after the dot costs its own mail a retry and other mail no pause', async () => {
  sink.on({ verb: 'dot', match: 'ada40@', times: 1 }, { drop: true });
  const ids = await sendMany(100);
  const ends = await deliveriesOf(ids);
  expect(ends.map(({ status }) => status)).toEqual(
    ids.map((_, index) => (index === 40 ? 'processing' : 'sent')),
  );
  expect(ends[40]).toMatchObject({ errorCode: 'connection', scheduling: { waitReason: 'retry' } });
  await service.clock.advance(70_000);
  await pipeline.idle();
  expect((await deliveriesOf(ids))[40]?.status).toBe('sent');
});

it('a connection dropped under a message to many counts as one fault', async () => {
  const { app, caller } = service;
  sink.on({ verb: 'dot', times: 1 }, { drop: true });
  const to = Array.from({ length: 20 }, (_, index) => `bob${index}@example.com`);
  await send(app, caller, to);
  await pipeline.idle();
  const ids = await sendMany(20);
  expect((await deliveriesOf(ids)).map(({ status }) => status)).toEqual(ids.map(() => 'sent'));
});

it('a rate reply on one connection does not stop the others', async () => {
  sink.on({ verb: 'RCPT', match: 'ada40@', times: 1 }, '421 4.7.0 too many messages, slow down');
  const ids = await sendMany(100);
  const ends = await deliveriesOf(ids);
  expect(ends.map(({ status }) => status)).toEqual(
    ids.map((_, index) => (index === 40 ? 'processing' : 'sent')),
  );
});

it('a smarthost that is down closes its lane after a window of faults, for 1 s, 2 s, 4 s', async () => {
  await sink.close();
  const ids = await sendMany(40);
  const tried = (await deliveriesOf(ids)).filter(({ attemptCount }) => attemptCount > 0);
  expect(tried).toHaveLength(8);
  const downAt = dialledAt.at(-1) ?? 0;
  const before = dialledAt.length;
  for (let tenths = 0; tenths < 90; tenths++) {
    await service.clock.advance(100);
    await pipeline.idle();
  }
  const seconds = dialledAt.slice(before).map((at) => (at - downAt) / 1_000);
  expect(seconds).toHaveLength(3);
  for (const [index, expected] of [1, 3, 7].entries()) {
    expect(seconds[index]).toBeGreaterThan(expected * 0.85);
    expect(seconds[index]).toBeLessThan(expected * 1.15);
  }
});
