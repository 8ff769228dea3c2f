// The custom tracking of a daemon over a test app: real DNS, a certificate authority, the
// listeners, the name server and the loop, all on loopback. Time is virtual; `until` lets it pass.
import { type IncomingHttpHeaders, request } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { openWorkload } from '../../../../daemon/http/workload.ts';
import {
  startTrackingListeners,
  type TrackingListeners,
} from '../../../../daemon/tracking/listeners.ts';
import type { ServeTracked } from '../../../../daemon/tracking/requests.ts';
import { type DnsResponder, startDnsResponder } from '../../../../daemon/tracking/responder.ts';
import type { App } from '../../../../src/core/app.ts';
import type { ConfigInput } from '../../../../src/core/config/config.ts';
import { addDomain } from '../../../../src/identity/domains/domains.ts';
import type { Domain } from '../../../../src/identity/domains/schema.ts';
import { verifyDomain } from '../../../../src/identity/domains/verification.ts';
import { watchActiveHosts } from '../../../../src/outbound/tracking/custom/active-hosts.ts';
import { getTracking } from '../../../../src/outbound/tracking/custom/hosts.ts';
import { createTrackingHostLoop } from '../../../../src/outbound/tracking/custom/loop.ts';
import type { CustomTracking } from '../../../../src/outbound/tracking/custom/schema.ts';
import { createDns } from '../../../../src/platform/net/dns.ts';
import {
  type AcmeServer,
  type AcmeServerOptions,
  fetchChallenge,
  startAcmeServer,
} from '../../../support/acme-server.ts';
import type { TestStore } from '../../../support/command.ts';
import { type DnsServer, startDnsServer } from '../../../support/dns-server.ts';
import { type TestApp, testApp } from '../../../support/test-app.ts';

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

export const target = 'mail.host.example';
export const hostname = 'links.acme.example';

export type State = NonNullable<CustomTracking['customTracking']>;

/** The custom tracking of one daemon. */
export interface Running {
  app: App;
  listeners: TrackingListeners;
  responder: DnsResponder;
  stop(): Promise<void>;
}

export interface TrackingWorld {
  test: TestApp;
  dns: DnsServer;
  acme: AcmeServer;
  domain: Domain;
  /** Starts the tracking of a daemon; `close` stops it too. */
  run(app?: App, serve?: ServeTracked): Promise<Running>;
  /** Publishes the record that leads here, and the delegation of challenges. */
  publish(state: State): void;
  state(): Promise<State>;
  /** Lets time pass until the state matches. @throws after a thousand steps. */
  until(isSo: (state: State) => boolean, stepMs?: number): Promise<State>;
  /** Lets time pass by steps, and waits for the checks of each. */
  pass(ms: number, stepMs?: number): Promise<void>;
  /** Lets time pass by leaps of the wall clock from one check to the next. */
  leap(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions {
  store?: TestStore;
  tracking?: NonNullable<ConfigInput['tracking']>;
  start?: number;
  acme?: Partial<Pick<AcmeServerOptions, 'lifeMs' | 'caaIdentities'>>;
  /** False configures `acme.enabled: false`. */
  withAcme?: boolean;
  challenge?: 'http-01' | 'dns-01';
  /** Directory of another authority than the one of the tests. */
  directoryUrl?: string;
}

/** Answers every path below /t/ with its request. */
export const echo: ServeTracked = (_app, { method, path, remoteAddress }) =>
  Promise.resolve(
    path.startsWith('/t/')
      ? {
          status: 200,
          headers: { 'content-type': 'text/plain' },
          body: Buffer.from(`${method} ${path} ${remoteAddress}`),
        }
      : null,
  );

/** Sends a request without TLS; `fetch` does not allow another Host. */
export function askPlain(
  port: number,
  path: string,
  { host, method = 'GET', body }: { host: string; method?: string; body?: string },
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { host };
    request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      const { statusCode: status = 0 } = response;
      response.on('end', () => resolve({ status, headers: response.headers, body: text }));
    })
      .on('error', reject)
      .end(body);
  });
}

/** Time after which a loop without claimed work is asleep: only the clock wakes it. */
const longestWakeMs = 2_000;

/** Tells whether a host is being checked, or is due. */
async function workOf({ store, clock }: App): Promise<'claimed' | 'due' | null> {
  const { rows } = await sql<{ claimed_by: string | null; next_check_at: number | null }>`
    select claimed_by, next_check_at from tracking_hosts`.execute(store.db);
  if (rows.some((row) => row.claimed_by !== null)) return 'claimed';
  const now = clock.now();
  return rows.some(({ next_check_at: at }) => at !== null && at <= now) ? 'due' : null;
}

export async function trackingWorld(options: WorldOptions = {}): Promise<TrackingWorld> {
  const { withAcme = true, challenge = 'http-01' } = options;
  const dns = await startDnsServer({ [target]: { A: ['127.0.0.1'] } });
  const running: Running[] = [];
  // The authority exists before the app, which needs its address, and uses the app's clock.
  const clock = { now: () => (test as TestApp | undefined)?.clock.now() ?? options.start ?? 0 };
  let test: TestApp | undefined;
  const start = options.start ?? Date.UTC(2026, 0, 5, 12);
  const acme = await startAcmeServer({
    clock: { now: () => (test === undefined ? start : clock.now()) },
    ...options.acme,
    lookUp: (kind, name, token) =>
      kind === 'http-01'
        ? fetchChallenge(running.at(-1)?.listeners.httpPort ?? 1, name, token)
        : textAt(name),
  });

  /**
   * Resolves as resolvers do: the zone of the host delegates, the name server of that place
   * answers.
   */
  async function textAt(name: string): Promise<string> {
    const app = running.at(-1);
    if (!app) throw new Error('no name server runs');
    const { random } = app.app;
    const real = { now: Date.now, elapsed: () => performance.now(), after: () => () => {} };
    const zone = createDns({ servers: [dns.address], clock: real, random });
    const port = app.responder.port;
    const authoritative = createDns({ servers: [`127.0.0.1:${port}`], clock: real, random });
    try {
      const [at] = await zone.resolve(`_acme-challenge.${name}`, 'CNAME');
      const texts = await authoritative.txt(String(at));
      return texts[0] ?? 'no text';
    } finally {
      zone.close();
      authoritative.close();
    }
  }

  const made = await testApp({
    ...(options.store && { store: options.store }),
    start,
    config: {
      delivery: { hostname: target },
      dns: { servers: [dns.address] },
      tracking: {
        ...options.tracking,
        http: { port: 0 },
        https: { port: 0, ...options.tracking?.https },
        acme: {
          enabled: withAcme,
          directoryUrl: options.directoryUrl ?? acme.directoryUrl,
          challenge,
          email: 'ops@host.example',
          dns: { port: 0 },
        },
      },
    },
  });
  test = made;
  const domain = await addDomain(made.app, made.operator, {
    domain: 'acme.example',
    dkim: 'ed25519',
  });
  await verifyDomain(made.app, made.operator, domain.id, { force: true });

  const state = async () => {
    const { customTracking } = await getTracking(made.app, made.operator, domain.id);
    if (customTracking === null) throw new Error('custom tracking was never enabled');
    return customTracking;
  };
  /** Waits over real sockets until nothing is under way, unless the authority delays us. */
  async function settle(): Promise<void> {
    const startedAt = performance.now();
    for (;;) {
      const work = await workOf(made.app);
      if (work === null || acme.ignored > 0) return;
      if (work === 'due' && performance.now() - startedAt > longestWakeMs) return;
      await nextTurn();
    }
  }

  /** Returns the ms until the next check; Infinity without one. */
  async function untilNextLook(): Promise<number> {
    const now = made.clock.now();
    const { rows } = await sql<{ at: number | null }>`
      select min(next_check_at) as at from tracking_hosts where next_check_at > ${now}`.execute(
      made.app.store.db,
    );
    const at = rows[0]?.at ?? null;
    return at === null ? Number.POSITIVE_INFINITY : Number(at) - now;
  }

  /** Stops at each check: its time must not pass before its requests are answered. */
  async function pass(ms: number, stepMs = minute): Promise<void> {
    for (let passed = 0; passed < ms; ) {
      const step = Math.min(stepMs, ms - passed, await untilNextLook());
      await made.clock.advance(step);
      passed += step;
      await settle();
    }
  }

  return {
    test: made,
    dns,
    acme,
    domain,
    async run(app = made.app, serve = echo) {
      const unwatch = await watchActiveHosts(app);
      const listeners = await startTrackingListeners({ app, workload: openWorkload(app), serve });
      const responder = await startDnsResponder(app, { host: '127.0.0.1', port: 0 });
      const loop = createTrackingHostLoop(app);
      loop.start();
      const one: Running = {
        app,
        listeners,
        responder,
        async stop() {
          running.splice(running.indexOf(one), 1);
          await loop.stop();
          await responder.close();
          await listeners.close(0);
          unwatch();
        },
      };
      running.push(one);
      return one;
    },
    publish({ dnsRecords: { tracking, dcvDelegation } }) {
      for (const { name, value } of [tracking, dcvDelegation]) dns.set(name, 'CNAME', [value]);
    },
    state,
    async until(isSo, stepMs = 1_000) {
      for (let i = 0; i < 1_000; i++) {
        await settle();
        const now = await state();
        if (isSo(now)) return now;
        await made.clock.advance(stepMs);
      }
      throw new Error(`it never came: ${JSON.stringify(await state())}`);
    },
    pass,
    async leap(ms) {
      // Never beyond a check: its requests would begin in the middle of a passing minute. The loop
      // sleeps a minute at most under any clock, and so learns of the check in time.
      const endsAt = made.clock.now() + ms;
      for (let left = ms; left > 0; left = endsAt - made.clock.now()) {
        const step = Math.min(left, await untilNextLook());
        const jump = Math.max(0, step - 2 * minute);
        made.clock.set(made.clock.now() + jump);
        await pass(step - jump);
      }
    },
    async close() {
      for (const one of [...running]) await one.stop();
      await made.close();
      await acme.close();
      await dns.close();
    },
  };
}
