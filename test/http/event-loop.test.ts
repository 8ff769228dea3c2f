// The watch over the event loop (specification 7, 503): its start and end of shedding, exempt
// requests, and the answer to refused ones. The test sets the delay.
import { afterEach, describe, expect, it } from 'vitest';
import {
  loopDelayLimitMs,
  measureLoopDelay,
  stallReporter,
  watchEventLoop,
} from '../../daemon/http/event-loop.ts';
import { createBackoff } from '../../daemon/http/workload.ts';
import { nameTurn } from '../../src/platform/runtime/fairness/loop-turns.ts';
import { createMetrics } from '../../src/platform/runtime/metrics.ts';
import { seededRandom } from '../../src/platform/runtime/random.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { authenticateWord, goodEcho, type HttpService, httpService } from './http-service.ts';
import { rawConnection } from './raw-socket.ts';

/** A delay that the test sets. */
function givenDelay(ms = 0) {
  return { ms, read: () => delay.ms, stop: () => {} };
}
let delay = givenDelay();
let service: HttpService | undefined;

afterEach(async () => {
  delay = givenDelay();
  await service?.close();
  service = undefined;
});

describe('the watch over the event loop', () => {
  it.each([
    ['normal load', [20, 60, 60, 100, 60], '.....'],
    ['a single stall', [20, 9_000, 20, 20], '....'],
    ['stalls now and then', [900, 20, 900, 20, 900, 20], '......'],
    ['the limit itself', [500, 500, 500], '...'],
    ['beyond the limit, twice in a row', [501, 501, 501], '.##'],
    ['between half and whole, during shedding', [600, 600, 300, 450, 250, 300], '.#####'],
    ['between half and whole, without shedding', [450, 499, 450], '...'],
    ['below half', [600, 600, 249, 249, 600, 600], '.#...#'],
  ])('reports %s, %j, as %s', async (_case, delays, expected) => {
    const clock = virtualClock();
    const isOverloaded = watchEventLoop(clock, delay, 500);
    let seen = '';
    for (const ms of delays) {
      delay.ms = ms;
      await clock.advance(1_000);
      seen += isOverloaded() ? '#' : '.';
    }
    expect(seen).toBe(expected);
  });

  it('measures once a second for any number of requests', async () => {
    const clock = virtualClock();
    const isOverloaded = watchEventLoop(clock, delay, 500);
    delay.ms = 2_000;
    await clock.advance(1_000);
    for (let asked = 0; asked < 100; asked++) expect(isOverloaded()).toBe(false);
    await clock.advance(1_000);
    expect(isOverloaded()).toBe(true);
  });

  it.each([
    [30, 500],
    [60, 1_000],
    [1, 200],
  ])('has, for a time limit of %i s, a limit of %i ms', (seconds, ms) => {
    expect(loopDelayLimitMs(seconds)).toBe(ms);
  });
});

it('the real measure sees a blocked loop, and each stall with its length', async () => {
  const measure = measureLoopDelay();
  for (let stall = 0; stall < 3; stall++) {
    const endAt = performance.now() + 150;
    while (performance.now() < endAt);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  // 150 ms without a break; the timer was due after 50.
  expect(measure.read()).toBeGreaterThan(90);
  const endAt = performance.now() + 300;
  while (performance.now() < endAt);
  expect(measure.read()).toBeGreaterThan(200);
  measure.stop();
});

function holdLoop(ms: number): void {
  const endAt = performance.now() + ms;
  while (performance.now() < endAt);
}

describe('the report of stalls', () => {
  it('has each stall since the start with the operation last begun in it', async () => {
    const stalls: [number, string][] = [];
    const measure = measureLoopDelay();
    nameTurn('the start');
    holdLoop(250);
    measure.reportTo((ms, operation) => stalls.push([ms, operation]));
    nameTurn('GET /v1/a');
    nameTurn('GET /v1/b');
    holdLoop(250);
    await new Promise((resolve) => setTimeout(resolve, 1));
    holdLoop(250);
    await new Promise((resolve) => setTimeout(resolve, 1));
    measure.stop();
    expect(stalls.map(([, operation]) => operation)).toEqual(['GET /v1/b', 'unnamed']);
    for (const [ms] of stalls) expect(ms).toBeGreaterThan(190);
  });

  it('counts stalls by operation, and logs those over 500 ms', async () => {
    const metrics = createMetrics();
    const logged: object[] = [];
    const log = { warn: (fields: object) => logged.push(fields) };
    const report = stallReporter({ metrics, log });
    report(120, 'GET /v1/a');
    report(740.4, 'job: sweep events');
    expect(await metrics.registry.getSingleMetricAsString('svc_stall_seconds')).toContain(
      'svc_stall_seconds_sum{operation="job: sweep events"} 0.7404',
    );
    expect(logged).toEqual([{ operation: 'job: sweep events', stallMs: 740 }]);
  });
});

describe('a service whose event loop lags', () => {
  async function overloaded(): Promise<HttpService> {
    const lagging = await httpService({ loopDelay: delay, authenticate });
    delay.ms = 600;
    await pass(lagging, 2);
    return lagging;
  }

  let lookedUp = 0;
  const authenticate = (key: string) => {
    lookedUp += 1;
    return authenticateWord(key);
  };

  /** Lets time pass with a request each second. */
  async function pass({ clock, http }: HttpService, seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      await clock.advance(1_000);
      await http.inject(goodEcho);
    }
  }

  it('answers 503 before any code runs, while health, readiness and metrics answer', async () => {
    service = await overloaded();
    lookedUp = 0;
    const shed = await service.http.inject(goodEcho);
    expect(shed.statusCode).toBe(503);
    const seconds = Number(shed.headers['retry-after']);
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(shed.json()).toEqual({
      _tag: 'CapacityError',
      message: 'The service is overloaded: its event loop lags',
      retryAfterSeconds: seconds,
    });
    expect((await service.http.inject('/storage/x')).statusCode).toBe(503);
    expect(lookedUp).toBe(0);
    for (const url of ['/healthz', '/readyz', '/metrics']) {
      expect((await service.http.inject({ url })).statusCode).toBe(200);
    }
  });

  it('accepts requests again once it has recovered', async () => {
    service = await overloaded();
    delay.ms = 30;
    await service.clock.advance(1_000);
    expect((await service.http.inject(goodEcho)).statusCode).toBe(201);
  });

  it('finishes a request whose body arrives during the overload', async () => {
    service = await httpService({ loopDelay: delay, authenticate });
    const { url } = await service.http.listen();
    const { headers, payload } = goodEcho;
    lookedUp = 0;
    const connection = rawConnection(
      url,
      `POST ${goodEcho.url} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${headers['x-api-key']}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${payload.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    await connection.untilReceived('100 Continue');
    delay.ms = 600;
    await pass(service, 3);
    expect((await service.http.inject(goodEcho)).statusCode).toBe(503);
    connection.socket.write(payload);
    await connection.untilReceived('HTTP/1.1 201');
  });

  it('tells refused clients to wait ever longer', async () => {
    service = await overloaded();
    const waits: number[] = [];
    for (let tries = 0; tries < 8; tries++) {
      const { headers } = await service.http.inject(goodEcho);
      waits.push(Number(headers['retry-after']));
      await service.clock.advance(Number(headers['retry-after']) * 1_000);
    }
    expect(waits[0]).toBe(1);
    expect(Math.max(...waits.slice(0, 2))).toBeLessThan(Math.min(...waits.slice(-3)));
    expect(Math.min(...waits.slice(-3))).toBeGreaterThanOrEqual(15);
    expect(Math.max(...waits)).toBeLessThanOrEqual(29);
  });
});

describe('the backoff', () => {
  it('grows by the second with a spread, and restarts after a calm period', async () => {
    const clock = virtualClock();
    const backoff = createBackoff(clock, seededRandom(7));
    expect([backoff(), backoff(), backoff()]).toEqual([1, 1, 1]);
    await clock.advance(3_000);
    expect(backoff()).toBeGreaterThanOrEqual(3);
    await clock.advance(7_000);
    const spread = new Set(Array.from({ length: 100 }, backoff));
    expect([Math.min(...spread), Math.max(...spread)]).toEqual([10, 19]);
    await clock.advance(40_001);
    expect(backoff()).toBe(1);
  });
});
