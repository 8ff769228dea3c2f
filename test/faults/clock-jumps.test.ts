// The wall clock is set, forwards and backwards, while mail is in every state of the queue. Timers
// continue like on a real machine. Invariants: nothing is lost, nothing is sent twice because of
// it, nothing waits longer than planned from the jump on, and nothing spins.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listMessageEvents } from '../../src/outbound/messages/messages.ts';
import { createAttempter } from '../../src/outbound/queue/attempting/attempter.ts';
import { openCarrierHere } from '../../src/outbound/queue/carrier/carrier.ts';
import { claimMessages } from '../../src/outbound/queue/claiming/claim.ts';
import { sendMessage, sweepIdempotencyKeys } from '../../src/outbound/sending/send.ts';
import { stores } from '../support/command.ts';
import {
  firstDelivery,
  payloadFor,
  type RunningPipeline,
  send,
  startPipeline,
} from '../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { type Delivery, type FaultWorld, startFaultWorld } from './fault-world.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const jumps: [string, number][] = [
  ['back by an hour', -hour],
  ['back by a day', -day],
  ['back by a month', -30 * day],
  ['forward by an hour', hour],
  ['forward by a day', day],
];
const back = jumps.filter(([, ms]) => ms < 0);
const forward = jumps.filter(([, ms]) => ms > 0);

function jump({ clock }: Pick<TestApp, 'clock'>, ms: number): void {
  clock.set(clock.now() + ms);
}

describe('a clock that is set', () => {
  let world: FaultWorld;
  let mx: SmtpSink;
  afterEach(() => world.close());

  async function start(delivery: object = {}): Promise<void> {
    world = await startFaultWorld(delivery);
    mx = await world.startMx('mx.some.test');
    world.dns.set('some.test', 'MX', [{ exchange: 'mx.some.test', preference: 1 }]);
  }

  const delivery = async (id: string) => (await world.deliveries(id))[0];

  const underWay = (command: string) =>
    world.until(() => mx.commands.some(({ line }) => line === command));

  /** Sends a message with a deferred first attempt; the next one is due in 27 minutes. */
  async function deferred(): Promise<string> {
    mx.on({ verb: 'RCPT', times: 1 }, '451 4.3.0 later');
    const id = await world.send('ada@some.test');
    await world.until(() => mx.connections.total > 0);
    await world.pass(minute);
    expect(await delivery(id)).toMatchObject({ status: 'processing', attemptCount: 1 });
    return id;
  }

  it.each(back)('%s makes a retry no later than planned, and sends once', async (_name, ms) => {
    await start();
    const id = await deferred();
    jump(world.service, ms);
    await world.pass(27 * 1.1 * minute + 2 * minute);
    expect(await delivery(id)).toMatchObject({ status: 'delivered', attemptCount: 2 });
    expect(world.copies('ada@some.test')).toHaveLength(1);
  });

  it.each(forward)('%s makes a retry due within a minute, and sends once', async (_name, ms) => {
    await start();
    const id = await deferred();
    jump(world.service, ms);
    await world.pass(minute + 1_000);
    await expect.poll(async () => (await delivery(id))?.status).toBe('delivered');
    expect(await delivery(id)).toMatchObject({ attemptCount: 2 });
    await world.pass(hour);
    expect(world.copies('ada@some.test')).toHaveLength(1);
  });

  it.each(jumps)('%s lets an attempt in flight end normally, once', async (_name, ms) => {
    await start();
    mx.on({ verb: 'dot', times: 1 }, { dripMsPerByte: 8_000, text: '250 2.0.0 taken ok\r\n' });
    const id = await world.send('ada@some.test');
    await underWay('DATA');
    await world.pass(30_000);
    jump(world.service, ms);
    await world.pass(10 * minute);
    const ended = await delivery(id);
    expect(ended).toMatchObject({ status: 'delivered', attemptCount: 1 });
    expect(ended?.attempts[0]?.durationMs).toBeGreaterThan(minute);
    expect(ended?.attempts[0]?.durationMs).toBeLessThan(5 * minute);
    expect(world.copies('ada@some.test')).toHaveLength(1);
  });

  it.each(jumps)('%s leaves a hanging server after its time-out', async (_name, ms) => {
    await start();
    mx.on({ verb: 'MAIL', times: 1 }, { hang: true });
    const id = await world.send('ada@some.test');
    await world.until(() => mx.connections.total > 0);
    await world.pass(30_000);
    jump(world.service, ms);
    await world.pass(6 * minute);
    const left = await delivery(id);
    expect(left).toMatchObject({ attemptCount: 1, errorCode: 'connection' });
    expect(left?.attempts[0]?.durationMs).toBeLessThanOrEqual(6 * minute);
  });

  it.each(jumps)('%s reopens a closed lane, and its mail is sent once', async (_name, ms) => {
    await start();
    mx.on({ verb: 'connect', times: 3 }, '421 4.7.0 too many connections, slow down');
    const names = Array.from({ length: 40 }, (_, index) => `ada${index}@some.test`);
    const ids = await Promise.all(names.map((name) => world.send(name)));
    await world.until(() => mx.connections.total > 0);
    await world.pass(2_000);
    expect(
      (await Promise.all(ids.map(delivery))).some((sent) => sent?.status !== 'delivered'),
    ).toBe(true);
    jump(world.service, ms);
    await world.pass(2 * hour);
    for (const id of ids) expect((await delivery(id))?.status).toBe('delivered');
    for (const name of names) expect(world.copies(name)).toHaveLength(1);
  });

  it.each(back)('%s gives mail up no later than its age limit from then on', async (...given) => {
    const [, ms] = given;
    await start({ retry: { scheduleMinutes: [27, 10], maxAgeHours: 2 } });
    mx.on({ verb: 'RCPT' }, '451 4.3.0 later');
    const id = await world.send('ada@some.test');
    await world.until(() => mx.connections.total > 0);
    await world.pass(minute);
    jump(world.service, ms);
    await world.pass(2 * hour + 15 * minute);
    expect(await delivery(id)).toMatchObject({ status: 'failed', scheduling: null });
  });

  it('forward past the age limit allows a last attempt before mail is given up', async () => {
    await start();
    const id = await deferred();
    const other = await deferred();
    mx.on({ verb: 'RCPT', match: 'ada', times: 1 }, '451 4.3.0 later');
    jump(world.service, 10 * day);
    await world.pass(2 * minute);
    for (const messageId of [id, other]) {
      await expect.poll(async () => (await delivery(messageId))?.terminalAt).not.toBeNull();
    }
    const ends = [await delivery(id), await delivery(other)];
    expect(ends.map((ended) => ended?.attemptCount)).toEqual([2, 2]);
    expect(new Set(ends.map((ended) => ended?.status))).toEqual(new Set(['delivered', 'failed']));
    expect(world.copies('ada@some.test')).toHaveLength(1);
  });

  it.each(jumps)('%s and to and fro causes no spinning timer', async (_name, ms) => {
    await start();
    await deferred();
    mx.on({ verb: 'dot', times: 1 }, { hang: true });
    await world.send('bob@some.test');
    await underWay('DATA');
    let timers = 0;
    const { clock } = world.service.app;
    const after = clock.after.bind(clock);
    clock.after = (...given) => {
      timers += 1;
      return after(...given);
    };
    for (const step of [ms, -ms, ms, -ms]) {
      jump(world.service, step);
      await world.pass(5 * minute);
    }
    // A sleep of a minute, a lease renewed three times a minute, and the timers of the attempts.
    expect(timers).toBeLessThan(400);
  });
});

describe.each(stores)('a clock that is set, on %s', (store) => {
  let service: TestApp;
  let sink: SmtpSink;
  beforeEach(async () => {
    sink = await startSmtpSink();
    const relay = { host: sink.host, port: sink.port, assumeDeliveredAfterMinutes: 10 };
    service = await testApp({ store, config: { delivery: { mode: 'relay', relay } } });
  });
  afterEach(async () => {
    await service.close();
    await sink.close();
  });

  /** Lets minutes pass, each with everything that falls due in it. */
  async function pass(pipeline: RunningPipeline, minutes: number): Promise<void> {
    for (let passed = 0; passed < minutes; passed++) {
      await service.clock.advance(minute);
      await pipeline.idle();
    }
  }

  const current = (id: string) => firstDelivery(service.app, service.caller, id);

  const dueWithin = ({ scheduling }: Delivery, ms: number) =>
    Date.parse(scheduling?.dueAt ?? '') <= service.clock.now() + ms;

  it.each(back)("%s does not delay the end of a dead daemon's lease", async (_name, ms) => {
    const { app, caller } = service;
    const { id } = await send(app, caller, 'ada@example.com');
    const { choice, close } = createAttempter(app, { host: '127.0.0.1', port: 1 }, openCarrierHere);
    await claimMessages(app, choice, { worker: 'wrk_dead', leaseMs: minute, limit: 10 });
    await close();
    jump(service, ms);
    const pipeline = await startPipeline(app);
    try {
      await expect.poll(async () => dueWithin(await current(id), minute)).toBe(true);
      await pass(pipeline, 3);
      expect((await current(id)).status).toBe('sent');
      await pass(pipeline, 20);
      expect(sink.messages).toHaveLength(1);
    } finally {
      await pipeline.close();
    }
  });

  it.each(back)('%s without a daemon does not delay queued mail', async (_name, ms) => {
    const { app, caller } = service;
    const { id } = await send(app, caller, 'ada@example.com');
    sink.on({ verb: 'RCPT', times: 1 }, '451 4.3.0 later');
    const first = await startPipeline(app);
    await expect.poll(async () => (await current(id)).errorCode).not.toBeNull();
    await first.close();
    jump(service, ms);
    const pipeline = await startPipeline(app, { worker: 'wrk_next' });
    try {
      // The first delay of the schedule, with its jitter, and a minute.
      await expect.poll(async () => dueWithin(await current(id), 6 * minute)).toBe(true);
      await pass(pipeline, 8);
      expect((await current(id)).status).toBe('sent');
    } finally {
      await pipeline.close();
    }
  });

  it.each(back)('%s does not delay counting relayed mail as delivered', async (_name, ms) => {
    const { app, caller } = service;
    const { id } = await send(app, caller, 'ada@example.com');
    const pipeline = await startPipeline(app);
    try {
      await expect.poll(async () => (await current(id)).status).toBe('sent');
      jump(service, ms);
      await pass(pipeline, 1);
      await expect
        .poll(async () => Date.parse((await current(id)).sentAt ?? '') <= service.clock.now())
        .toBe(true);
      await pass(pipeline, 12);
      expect((await current(id)).status).toBe('delivered');
      expect(sink.messages).toHaveLength(1);
    } finally {
      await pipeline.close();
    }
  });

  it.each(jumps)('%s replays a repeated request, without a second send', async (_name, ms) => {
    const { app, caller } = service;
    const request = () => sendMessage(app, caller, payloadFor('ada@example.com'), 'key-1');
    const first = await request();
    for (const step of [ms, 3 * day]) {
      jump(service, step);
      await sweepIdempotencyKeys(app);
      expect(await request()).toEqual(first);
    }
    expect(await listMessageEvents(app, caller, first.id)).toHaveLength(1);
  });
});
