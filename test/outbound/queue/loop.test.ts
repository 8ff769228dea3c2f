import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deleteMessage, getMessage } from '../../../src/outbound/messages/messages.ts';
import { claimMessages, type LaneChoice } from '../../../src/outbound/queue/claiming/claim.ts';
import { createPipeline } from '../../../src/outbound/queue/loop.ts';
import { bothStores } from '../../support/command.ts';
import {
  burstOverMs,
  firstDelivery,
  noLimits,
  type RunningPipeline,
  send,
  startPipeline,
  timeline,
} from '../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe.each(bothStores)('delivery on %s', (store) => {
  let sink: SmtpSink;
  let service: TestApp;
  let pipeline: RunningPipeline | undefined;

  /** Starts a service that relays everything to the sink. */
  async function relaying(delivery = {}): Promise<TestApp> {
    service = await testApp({
      store,
      config: {
        delivery: { mode: 'relay', relay: { host: sink.host, port: sink.port }, ...delivery },
      },
    });
    return service;
  }

  beforeEach(async () => {
    sink = await startSmtpSink();
    pipeline = undefined;
  });
  afterEach(async () => {
    await pipeline?.close();
    await service.close();
    await sink.close();
  });

  it('takes a message from pending over processing to sent, with an event for each', async () => {
    const { app, caller } = await relaying();
    const sent = await send(app, caller, 'ada@example.com');
    expect(sent.status).toBe('pending');
    pipeline = await startPipeline(app);
    await sink.waitFor(1);
    await pipeline.idle();
    expect(await timeline(app, caller, sent.id)).toEqual([
      'accepted:pending',
      'processing:processing',
      'sent:sent',
    ]);
    const delivery = await firstDelivery(app, caller, sent.id);
    expect(delivery).toMatchObject({
      status: 'sent',
      attemptCount: 1,
      errorCode: null,
      terminalAt: null,
      scheduling: null,
      attempts: [{ number: 1, outcome: 'sent', code: 250, verb: 'dot' }],
    });
    const lines = delivery.attempts[0]?.transcript?.trimEnd().split('\n') ?? [];
    expect(lines.filter((line) => line.startsWith('C: '))).toEqual([]);
    expect(lines.at(-1)).toMatch(/^S: 250 /);
    const [message] = sink.messages;
    expect(message).toMatchObject({ recipients: ['ada@example.com'] });
    expect(message?.raw.toString()).toContain(`Message-ID: <${sent.id}@sandbox.test>`);
    expect(message?.raw.toString()).toMatch(/^DKIM-Signature: /);
  });

  it('counts relayed mail as delivered when no bounce came in time', async () => {
    const { app, caller, clock } = await relaying();
    pipeline = await startPipeline(app);
    const { id } = await send(app, caller, 'ada@example.com');
    await sink.waitFor(1);
    await pipeline.idle();
    await clock.advance(239 * minuteMs);
    await pipeline.idle();
    expect((await getMessage(app, caller, id)).status).toBe('sent');
    await clock.advance(2 * minuteMs);
    await pipeline.idle();
    expect((await getMessage(app, caller, id)).status).toBe('delivered');
    expect((await timeline(app, caller, id)).at(-1)).toBe('delivered:delivered');
  });

  it('retries a 4xx on schedule', async () => {
    const { app, caller, clock } = await relaying();
    sink.on({ verb: 'RCPT', times: 2 }, '451 4.7.1 greylisted, come back');
    pipeline = await startPipeline(app);
    const { id } = await send(app, caller, 'ada@example.com');
    await pipeline.idle();
    const waiting = await firstDelivery(app, caller, id);
    expect(waiting).toMatchObject({
      status: 'processing',
      attemptCount: 1,
      errorDetails: { code: 451, enhancedCode: '4.7.1', verb: 'RCPT' },
      scheduling: { waitReason: 'retry' },
    });
    const waitMs = Date.parse(waiting.nextRetryAt ?? '') - clock.now();
    expect(waitMs).toBeGreaterThanOrEqual(0.9 * minuteMs);
    expect(waitMs).toBeLessThanOrEqual(1.1 * minuteMs);
    await clock.advance(2 * minuteMs);
    await pipeline.idle();
    expect((await firstDelivery(app, caller, id)).attemptCount).toBe(2);
    await clock.advance(6 * minuteMs);
    await sink.waitFor(1);
    await pipeline.idle();
    expect(await timeline(app, caller, id)).toEqual([
      'accepted:pending',
      'processing:processing',
      'deferred:processing',
      'deferred:processing',
      'sent:sent',
    ]);
  });

  it('gives up after maxAgeHours with the last reply of the server', async () => {
    const { app, caller, clock } = await relaying();
    sink.on({ verb: 'RCPT' }, '450 4.2.2 mailbox full');
    pipeline = await startPipeline(app);
    const { id } = await send(app, caller, 'ada@example.com');
    for (let hour = 0; hour < 73; hour++) {
      await pipeline.idle();
      await clock.advance(hourMs);
    }
    await pipeline.idle();
    const delivery = await firstDelivery(app, caller, id);
    expect(delivery.status).toBe('failed');
    expect(delivery.errorMessage).toMatch(/^Given up after \d+ attempts in 72 h: RCPT: 450 4.2.2/);
    expect(delivery.attemptCount).toBeGreaterThan(10);
    expect(delivery.scheduling).toBeNull();
    expect((await timeline(app, caller, id)).at(-1)).toBe('failed:failed');
  });

  it('gives up in the 72nd hour, neither earlier nor later', async () => {
    const { app, caller, clock } = await relaying();
    sink.on({ verb: 'RCPT' }, '450 4.2.2 mailbox full');
    const running = await startPipeline(app);
    pipeline = running;
    const { id } = await send(app, caller, 'ada@example.com');
    const statusAt = async (ms: number) => {
      for (const end = clock.now() + ms; clock.now() < end; ) {
        await running.idle();
        await clock.advance(Math.min(hourMs, end - clock.now()));
      }
      await running.idle();
      return (await firstDelivery(app, caller, id)).status;
    };
    expect(await statusAt(72 * hourMs - 1)).toBe('processing');
    const tries = (await firstDelivery(app, caller, id)).attemptCount;
    expect(await statusAt(1)).toBe('failed');
    expect((await firstDelivery(app, caller, id)).attemptCount).toBe(tries + 1);
  });

  it('bounces and classifies a 5xx at once', async () => {
    const { app, caller } = await relaying();
    sink.on({ verb: 'RCPT' }, '550 5.1.1 no such user');
    pipeline = await startPipeline(app);
    const { id } = await send(app, caller, 'ada@example.com');
    await pipeline.idle();
    expect(await firstDelivery(app, caller, id)).toMatchObject({
      status: 'bounced',
      errorCode: 'invalid-recipient',
      attemptCount: 1,
      scheduling: null,
    });
    expect((await timeline(app, caller, id)).at(-1)).toBe('bounced:bounced');
  });

  it('settles each recipient separately, and the message by its worst one', async () => {
    const { app, caller } = await relaying();
    sink.on({ verb: 'RCPT', match: /bad@/ }, '550 5.1.1 no such user');
    pipeline = await startPipeline(app);
    const { id } = await send(app, caller, ['good@example.com', 'bad@example.com']);
    await sink.waitFor(1);
    await pipeline.idle();
    const message = await getMessage(app, caller, id);
    expect(message.recipients.map(({ email, status }) => [email, status])).toEqual([
      ['good@example.com', 'sent'],
      ['bad@example.com', 'bounced'],
    ]);
    expect(message.status).toBe('sent');
    expect(sink.messages[0]?.recipients).toEqual(['good@example.com']);
  });

  it('settles a finished recipient while another one of the message waits', async () => {
    const { app, caller } = await relaying();
    sink.on({ verb: 'RCPT', match: 'slow@' }, { hang: true });
    pipeline = await startPipeline(app);
    const { id } = await send(app, caller, 'quick@example.com', {
      bcc: [{ email: 'slow@example.com' }],
    });
    const statuses = async () => {
      const { deliveries } = await getMessage(app, caller, id);
      return deliveries.map(({ status }) => status);
    };
    await expect.poll(statuses).toEqual(['sent', 'processing']);
    const inFlight = async () => (await app.metrics.inFlight.get()).values[0]?.value;
    await expect.poll(inFlight).toBe(1);
  });

  it('sends a blind copy alone, without its name in any header', async () => {
    const { app, caller } = await relaying();
    pipeline = await startPipeline(app);
    await send(app, caller, ['a@example.com', 'b@example.com'], {
      bcc: [{ email: 'c@example.com' }],
    });
    const messages = await sink.waitFor(2);
    const envelopes = messages.map(({ recipients }) => recipients.toSorted().join());
    expect(envelopes.toSorted()).toEqual(['a@example.com,b@example.com', 'c@example.com']);
    for (const { raw } of messages) expect(raw.toString()).not.toContain('c@example.com');
    await pipeline.idle();
  });

  it('does not send a message deleted before its retry', async () => {
    const { app, caller, clock } = await relaying();
    sink.on({ verb: 'RCPT', times: 1 }, '451 later');
    pipeline = await startPipeline(app);
    const { id } = await send(app, caller, 'ada@example.com');
    await pipeline.idle();
    await deleteMessage(app, caller, id);
    await clock.advance(10 * minuteMs);
    await pipeline.idle();
    expect(sink.received).toBe(0);
  });

  it('delivers the claims of a dead daemon after their lease, with the same Message-ID', async () => {
    const { app, caller, clock, another } = await relaying();
    const { id } = await send(app, caller, 'ada@example.com');
    // Claimed by a daemon that dies.
    await claimMessages(app, noLimits(app), { worker: 'wrk_dead', leaseMs: 60_000, limit: 10 });
    const heir = await another();
    pipeline = await startPipeline(heir, { worker: 'wrk_heir' });
    // On PostgreSQL another daemon may be alive: its lease must run out first.
    if (store === 'postgres') await clock.advance(61_000);
    const [message] = await sink.waitFor(1);
    expect(message?.raw.toString()).toContain(`Message-ID: <${id}@sandbox.test>`);
    await pipeline.idle();
    expect(await firstDelivery(app, caller, id)).toMatchObject({ status: 'sent', attemptCount: 2 });
  });

  it('claims a delivery once at its latest time in a full lane', async () => {
    const { app, caller, clock } = await relaying();
    for (let i = 0; i < 3; i++) await send(app, caller, `user${i}@example.com`);
    const choice: LaneChoice = { ...noLimits(app), laneOf: () => 'a lane' };
    const before = Array.from({ length: 8 }, (_, i) => `dlv_before${i}`);
    for (const id of before) choice.lanes.begun('a lane', id);
    const options = { worker: 'wrk_a', leaseMs: 60_000, limit: 10 };
    expect((await claimMessages(app, choice, options)).messages).toEqual([]);
    for (const id of before) choice.lanes.released(id);
    // The lane has room again, and all deliveries are due: both would take them.
    await clock.advance(hourMs);
    const { messages } = await claimMessages(app, choice, options);
    const claimed = messages.flatMap(({ deliveries }) => deliveries.map(({ email }) => email));
    expect(claimed.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      'user0@example.com',
      'user1@example.com',
      'user2@example.com',
    ]);
  });

  it('makes the last attempt through a closed lane exactly at the maximum age', async () => {
    const { app, caller, clock } = await relaying();
    const { id } = await send(app, caller, 'ada@example.com');
    const choice: LaneChoice = { ...noLimits(app), laneOf: () => 'a lane' };
    const { lanes } = choice;
    const fault = () => {
      lanes.begun('a lane', 'dlv_before');
      lanes.ended('a lane', 'dlv_before', 'slowed');
      return (lanes.states()[0]?.closedUntil ?? 0) - clock.now();
    };
    const claimedNow = async () => {
      const options = { worker: 'wrk_a', leaseMs: 60_000, limit: 10 };
      return (await claimMessages(app, choice, options)).messages.map(({ message }) => message.id);
    };
    // Its pauses grow to a quarter of an hour.
    for (let pause = 0; pause < 14; pause++) await clock.advance(Math.max(fault(), 0) + 1);
    const { createdAt } = await getMessage(app, caller, id);
    const expiresAt = Date.parse(createdAt) + 72 * hourMs;
    await clock.advance(expiresAt - 5 * minuteMs - clock.now());
    expect(fault()).toBeGreaterThan(10 * minuteMs);
    expect(await claimedNow()).toEqual([]);
    expect(await firstDelivery(app, caller, id)).toMatchObject({
      scheduling: {
        waitReason: 'provider-unavailable',
        dueAt: new Date(expiresAt).toISOString(),
      },
    });
    await clock.advance(5 * minuteMs - 1);
    expect(await claimedNow()).toEqual([]);
    await clock.advance(1);
    expect(lanes.states()).toMatchObject([{ closedUntil: expect.any(Number) }]);
    expect(await claimedNow()).toEqual([id]);
  });

  it('hands claims back when the daemon stops', async () => {
    const { app, caller } = await relaying();
    const { id } = await send(app, caller, 'ada@example.com');
    const stopping = createPipeline(app, {
      worker: 'wrk_a',
      choice: noLimits(app),
      attempt: () => new Promise(() => {}),
    });
    await stopping.start();
    await expect.poll(async () => (await getMessage(app, caller, id)).status).toBe('processing');
    await stopping.stop(0);
    pipeline = await startPipeline(app, { worker: 'wrk_b' });
    await sink.waitFor(1);
    await pipeline.idle();
    expect((await getMessage(app, caller, id)).status).toBe('sent');
  });

  it('in capture mode counts foreign mail as delivered and sends nothing', async () => {
    service = await testApp({
      store,
      connect: () => {
        throw new Error('a connection was opened');
      },
    });
    const { app, caller } = service;
    pipeline = await startPipeline(app);
    const { id } = await send(app, caller, 'ada@example.com');
    await pipeline.idle();
    expect((await getMessage(app, caller, id)).status).toBe('delivered');
    expect(await timeline(app, caller, id)).toEqual([
      'accepted:pending',
      'processing:processing',
      'sent:sent',
      'delivered:delivered',
    ]);
  });

  it.each([
    ['delivered', ['sent:sent', 'delivered:delivered']],
    ['opened', ['sent:sent', 'delivered:delivered', 'opened:read']],
    ['complained', ['sent:sent', 'delivered:delivered', 'complained:complained']],
    ['bounced', ['bounced:bounced']],
  ])('plays the outcome of the simulator address %s@', async (name, expected) => {
    const { app, caller } = await relaying();
    pipeline = await startPipeline(app);
    const { id } = await send(app, caller, `${name}@simulator.test`);
    await pipeline.idle();
    expect(await timeline(app, caller, id)).toEqual([
      'accepted:pending',
      'processing:processing',
      ...expected,
    ]);
    expect(sink.connections.total).toBe(0);
  });

  it('defers the simulator address deferred@ once, then delivers', async () => {
    const { app, caller, clock } = await relaying();
    pipeline = await startPipeline(app);
    const { id } = await send(app, caller, 'deferred@simulator.test');
    await pipeline.idle();
    expect((await timeline(app, caller, id)).at(-1)).toBe('deferred:processing');
    await clock.advance(2 * minuteMs);
    await pipeline.idle();
    expect((await getMessage(app, caller, id)).status).toBe('delivered');
  });

  it('delivers 200 concurrent messages once each', async () => {
    const { app, caller, clock } = await relaying();
    pipeline = await startPipeline(app);
    const accepted = await Promise.all(
      Array.from({ length: 200 }, (_, i) => send(app, caller, `user${i}@example.com`)),
    );
    await clock.advance(burstOverMs);
    await sink.waitFor(200);
    await pipeline.idle();
    const recipients = sink.messages.flatMap((message) => message.recipients);
    expect(new Set(recipients).size).toBe(200);
    expect(recipients).toHaveLength(200);
    for (const { id } of accepted) {
      expect((await getMessage(app, caller, id)).status).toBe('sent');
    }
  });
});
