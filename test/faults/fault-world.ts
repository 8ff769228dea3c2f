// The world of the fault tests: the whole service in direct mode over a scripted DNS and scripted
// MX hosts on loopback, under a virtual clock that moves only when everything else is at rest.
import { connect, type Socket } from 'node:net';
import { getMessage } from '../../src/outbound/messages/messages.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { burstOverMs, type RunningPipeline, send, startPipeline } from '../support/delivery.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { type SmtpSink, type SmtpSinkOptions, startSmtpSink } from '../support/smtp-sink.ts';
import type { SinkMessage } from '../support/smtp-sink-session.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const minuteMs = 60_000;
/**
 * The first retry is later than the end of the longest attempt, so that a test can tell them apart.
 */
const scheduleMinutes = [27, 1];
/** Turns of the event loop without any change before the clock may move. */
const quietTurns = 300;
const idleTurns = 60;
const stepMs = 15 * minuteMs;
const longestMs = 6 * 60 * minuteMs;
const maxTurns = 2_000_000;

export type Delivery = Message['deliveries'][number];

export interface FaultWorld {
  service: TestApp;
  dns: DnsServer;
  /** The port of every MX. */
  port: number;
  /** Every socket that the service has opened. */
  sockets: readonly Socket[];
  /** Starts a server on an address of its own, with an A record for `name`. */
  startMx(name: string, options?: Omit<SmtpSinkOptions, 'host' | 'port'>): Promise<SmtpSink>;
  /** Sends one message to these addresses; returns its id. */
  send(to: string | readonly string[]): Promise<string>;
  /** Sends one message to `ada@` each of these domains; returns ids by domain. */
  sendToDomains(domains: readonly string[]): Promise<Map<string, string>>;
  deliveries(messageId: string): Promise<Delivery[]>;
  /** Reads the first delivery of each of these messages, under the key of its id. */
  firstDeliveries(ids: ReadonlyMap<string, string>): Promise<Map<string, Delivery>>;
  /** Lists the mail that any server accepted for this address, in order. */
  copies(email: string): SinkMessage[];
  /** Waits, while the clock stands still. */
  until(condition: () => boolean): Promise<void>;
  /** Lets virtual time pass, with everything that falls due. */
  pass(ms: number): Promise<void>;
  /** Lets time pass until each delivery of these messages has ended, six hours at most. */
  passUntilOver(ids: Iterable<string>): Promise<void>;
  close(): Promise<void>;
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Starts the world; `delivery` is laid over the configuration. */
export async function startFaultWorld(delivery: object = {}): Promise<FaultWorld> {
  const dns = await startDnsServer();
  const sinks: SmtpSink[] = [];
  const sockets: Socket[] = [];
  let service: TestApp | undefined;
  const clock = {
    now: () => service?.clock.now() ?? 0,
    elapsed: () => service?.clock.elapsed() ?? 0,
    after: (ms: number, run: () => void) => service?.clock.after(ms, run) ?? (() => {}),
  };
  const startMx: FaultWorld['startMx'] = async (name, options = {}) => {
    const port = sinks[0]?.port ?? 0;
    const number = sinks.length + 1;
    const host = `127.0.${1 + Math.floor(number / 200)}.${1 + (number % 200)}`;
    const sink = await startSmtpSink({ tls: false, clock, ...options, host, port, hostname: name });
    sinks.push(sink);
    dns.set(name, 'A', [host]);
    return sink;
  };
  const good = await startMx('mx.good.test');
  dns.set('good.test', 'MX', [{ exchange: 'mx.good.test', preference: 1 }]);
  service = await testApp({
    connect: (target) => {
      const socket = connect(target);
      sockets.push(socket);
      return socket;
    },
    config: {
      dns: { servers: [dns.address] },
      delivery: {
        mode: 'direct',
        direct: { port: good.port, allowPrivateAddresses: true },
        maxConnections: 500,
        retry: { scheduleMinutes },
        ...delivery,
      },
    },
  });
  const { app, caller } = service;
  const world = service;

  // The store works beside the event loop, so its writes are counted. It publishes changes at most
  // every 10 ms of real time, in which the clock here might run on: here it publishes each at once.
  let writing = 0;
  const listeners = new Set<() => void>();
  const write = app.store.write.bind(app.store);
  app.store.write = (...work) => {
    writing += 1;
    return write(...work).finally(() => {
      writing -= 1;
      for (const listener of listeners) listener();
    });
  };
  app.store.onChange = (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const pipeline: RunningPipeline = await startPipeline(app);

  const activity = () => {
    const counts = [dns.queries.length, world.clock.nextTimerAt(), sockets.length];
    for (const { commands, connections, received } of sinks) {
      counts.push(commands.length, connections.now, received);
    }
    for (const socket of sockets.slice(-500)) counts.push(socket.bytesRead + socket.bytesWritten);
    return counts.join();
  };

  const isIdle = async () => {
    const inFlight = (await app.metrics.inFlight.get()).values[0]?.value ?? 0;
    return inFlight === 0 && writing === 0;
  };

  /** Waits until nothing has changed for long; for a short time only while nothing is in flight. */
  async function quiet(): Promise<void> {
    let last = activity();
    for (let turn = 1, still = 0; still < quietTurns || writing > 0; turn += 1) {
      if (turn > maxTurns) throw new Error('the service does not come to rest');
      await nextTurn();
      still += 1;
      if (turn % 20 > 0) continue;
      const now = activity();
      if (now !== last) still = 0;
      last = now;
      if (still >= idleTurns && (await isIdle())) return;
    }
  }

  async function pass(ms: number): Promise<void> {
    const endAt = world.clock.now() + ms;
    for (;;) {
      await quiet();
      const next = world.clock.nextTimerAt();
      if (next === undefined || next > endAt) break;
      await world.clock.advance(Math.max(0, next - world.clock.now()));
    }
    await world.clock.advance(endAt - world.clock.now());
  }

  const sendTo: FaultWorld['send'] = async (to) => (await send(app, caller, to)).id;
  const deliveries = async (id: string) => (await getMessage(app, caller, id)).deliveries;

  return {
    service,
    dns,
    port: good.port,
    sockets,
    startMx,
    send: sendTo,
    async sendToDomains(domains) {
      const sent = domains.map(async (name) => [name, await sendTo(`ada@${name}`)] as const);
      const ids = new Map(await Promise.all(sent));
      await world.clock.advance(burstOverMs);
      return ids;
    },
    deliveries,
    async firstDeliveries(ids) {
      const found = new Map<string, Delivery>();
      for (const [key, id] of ids) {
        const [delivery] = await deliveries(id);
        if (delivery) found.set(key, delivery);
      }
      return found;
    },
    copies: (email) =>
      sinks.flatMap(({ messages }) =>
        messages.filter((message) => message.recipients.includes(email)),
      ),
    async until(condition) {
      for (let turn = 0; !condition(); turn += 1) {
        if (turn > maxTurns) throw new Error('the condition did not become true');
        await nextTurn();
      }
    },
    pass,
    async passUntilOver(ids) {
      const open = new Set(ids);
      for (let passed = 0; open.size > 0 && passed < longestMs; passed += stepMs) {
        await pass(stepMs);
        for (const id of open) {
          const isOver = (await deliveries(id)).every(({ terminalAt }) => terminalAt !== null);
          if (isOver) open.delete(id);
        }
      }
    },
    async close() {
      await pipeline.close();
      await world.close();
      for (const sink of sinks) await sink.close();
      await dns.close();
    },
  };
}

/** Milliseconds from acceptance to delivery. */
export function waitedMs(delivery: Delivery | undefined): number {
  return Date.parse(delivery?.deliveredAt ?? '') - Date.parse(delivery?.createdAt ?? '');
}

/** Long enough for every first attempt, too short for a retry. */
export const firstAttemptsMs = 22 * minuteMs;
