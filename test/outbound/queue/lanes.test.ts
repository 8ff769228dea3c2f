import { beforeEach, describe, expect, it } from 'vitest';
import { loadProviders } from '../../../src/mail/smtp/load-providers.ts';
import type { Providers } from '../../../src/mail/smtp/providers.ts';
import { Lanes } from '../../../src/outbound/queue/lanes/lanes.ts';
import { noPortion, wholePortion } from '../../../src/platform/runtime/fairness/portion.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const minuteMs = 60_000;

describe('lanes', () => {
  let clock: VirtualClock;
  let lanes: Lanes;
  let providers: Providers;
  let made = 0;
  const hosts = (...names: string[]) => names.map((name) => ({ name, preference: 10 }));

  beforeEach(() => {
    clock = virtualClock();
    providers = loadProviders(null, 10);
    lanes = new Lanes(clock, seededRandom(1), providers);
    made = 0;
  });

  /** Asks for `count` deliveries; returns the ids of the admitted ones. */
  function admit(lane: string, count: number, organization = 'org_a'): string[] {
    const going: string[] = [];
    for (let i = 0; i < count; i++) {
      if (!lanes.admit(lane, organization).goes) continue;
      const id = `dlv_${made++}`;
      lanes.begun(lane, id);
      going.push(id);
    }
    return going;
  }

  it('are shared by the domains of a provider', () => {
    const one = lanes.ruleFor(hosts('aspmx.l.google.com', 'alt1.aspmx.l.google.com'));
    const other = lanes.ruleFor(hosts('aspmx2.googlemail.com'));
    expect([one.lane, other.lane]).toEqual(['google', 'google']);
    expect(one).toMatchObject({ requireTls: true, messagesPerConnection: 100 });
  });

  it('take replaced rules, and keep the mail under way', () => {
    const { lane } = lanes.ruleFor(hosts('mx.slow.example'));
    expect(admit(lane, 6)).toHaveLength(6);
    const rule = { mx: [], connections: 2, messagesPerConnection: 5, requireTls: false };
    const fallback = { ...rule, name: 'default', perMinute: 60 };
    providers.replace({ all: [fallback], fallback });
    lanes.changeRules();
    expect(lanes.ruleFor(hosts('mx.slow.example'))).toMatchObject({ messagesPerConnection: 5 });
    expect(admit(lane, 5)).toHaveLength(1);
    expect(lanes.states()).toMatchObject([{ lane, inFlight: 7, perMinute: 60 }]);
  });

  it('are shared by domains with the same hosts in any order', () => {
    const one = lanes.ruleFor(hosts('mx2.host.example', 'mx1.host.example'));
    expect(lanes.ruleFor(hosts('mx1.host.example', 'mx2.host.example')).lane).toBe(one.lane);
    expect(lanes.ruleFor(hosts('mx1.host.example')).lane).not.toBe(one.lane);
  });

  it('of a provider exclude hosts with a similar name', () => {
    expect(lanes.ruleFor(hosts('mx.notgoogle.com')).lane).toBe('mx mx.notgoogle.com');
    expect(lanes.ruleFor(hosts('aspmx.l.google.com', 'mx.own.example')).lane).toMatch(/^mx /);
  });

  it('are one per domain until its hosts are known', () => {
    expect(lanes.ofDomain('example.com')).toBe('domain example.com');
    lanes.learn('example.com', 'google');
    expect(lanes.ofDomain('example.com')).toBe('google');
  });

  it('of several daemons have parts of the limits, and a lowered rate stays lowered', async () => {
    const own = { ...providers.rules.fallback, name: 'own', mx: ['own.test'], connections: 4 };
    const rules = { ...own, perMinute: 240 };
    providers.replace({ all: [rules], fallback: providers.rules.fallback });
    const { lane } = lanes.ruleFor(hosts('mx.own.test'));
    const rate = () => lanes.states()[0]?.perMinute;
    const [begun = ''] = admit(lane, 1);
    expect(rate()).toBe(240);
    const divide = (count: number, rank: number) => {
      providers.divide({ places: [{ count, rank }], taken: {} });
      lanes.divide();
    };
    divide(2, 0);
    expect(rate()).toBe(120);
    expect(lanes.ruleFor(hosts('mx.own.test')).connections).toBe(2);
    lanes.ended(lane, begun, 'slowed');
    expect(rate()).toBe(60);
    divide(4, 3);
    expect(rate()).toBe(30);
    divide(1, 0);
    expect(rate()).toBe(120);
    expect(lanes.ruleFor(hosts('mx.own.test')).connections).toBe(4);
  });

  it('pay with their rate for mail that began before they were known', async () => {
    const own = { ...providers.rules.fallback, name: 'own', mx: ['own.test'], perMinute: 60 };
    providers.replace({ all: [own], fallback: providers.rules.fallback });
    const begun = admit('domain paced.test', 8);
    const { lane } = lanes.ruleFor(hosts('mx.own.test'));
    lanes.learn('paced.test', lane);
    for (const id of begun) lanes.ended(lane, id, 'taken');
    expect(admit(lane, 5)).toEqual([]);
    await clock.advance(7_900);
    expect(admit(lane, 5)).toEqual([]);
    await clock.advance(200);
    expect(admit(lane, 5)).toHaveLength(1);
  });

  it('without a part make mail wait for a second, and continue with the next part', async () => {
    const { lane } = lanes.ruleFor(hosts('mx.own.test'));
    providers.divide(noPortion);
    lanes.divide();
    const now = clock.now();
    expect(lanes.admit(lane, 'org_a')).toEqual({
      goes: false,
      until: now + 1_000,
      waitReason: 'rate',
    });
    expect(lanes.withRoom()).toEqual([]);
    expect(lanes.nextRoomAt()).toBeNull();
    providers.divide(wholePortion);
    lanes.divide();
    expect(admit(lane, 20)).toHaveLength(8);
  });

  it('of a relay and of our own listener are not divided', () => {
    providers.divide(noPortion);
    lanes.divide();
    expect(admit('relay smtp.example:25 ', 1)).toHaveLength(1);
    expect(admit('local', 1)).toHaveLength(1);
  });

  it('begin with a window of eight, which widens with each accepted message', () => {
    const first = admit('domain a.test', 100);
    expect(first).toHaveLength(8);
    for (const id of first) lanes.ended('domain a.test', id, 'taken');
    expect(admit('domain a.test', 100)).toHaveLength(16);
  });

  it('report room for more while quick, once a quarter is free', async () => {
    expect(lanes.quickRoom('relay')).toBe(Infinity);
    const first = admit('relay', 8);
    for (const id of first) lanes.ended('relay', id, 'taken');
    expect(lanes.quickRoom('relay')).toBe(16);
    const second = admit('relay', 16);
    expect(lanes.quickRoom('relay')).toBe(0);
    // Each accepted message frees a place and widens the window by one.
    const rooms = second.slice(0, 6).map((id) => {
      lanes.ended('relay', id, 'taken');
      return lanes.quickRoom('relay');
    });
    expect(rooms).toEqual([0, 0, 6, 8, 10, 12]);
    await clock.advance(100);
    expect(lanes.quickRoom('relay')).toBe(Infinity);
  });

  it.each([
    [50, 80],
    [0.5, 100],
    [0.1, 240],
  ])('have a window for 50 ms of mail, 8 to 24 a connection: %d ms each', async (ms, window) => {
    let [id = ''] = admit('relay', 1);
    for (let taken = 0; taken < 400; taken++) {
      await clock.advance(ms);
      const [next = ''] = admit('relay', 1);
      lanes.ended('relay', id, 'taken');
      id = next;
    }
    expect(lanes.states()[0]?.window).toBe(window);
  });

  it('make mail wait with its reason when the provider asked for less', () => {
    const [first, ...others] = admit('relay', 5);
    lanes.ended('relay', first ?? '', 'taken');
    for (const id of others) lanes.ended('relay', id, 'slowed');
    expect(lanes.quickRoom('relay')).toBe(Infinity);
    expect(lanes.admit('relay', 'org_a')).toMatchObject({ waitReason: 'provider-unavailable' });
  });

  it('give a time and a reason to refused deliveries, in turns between organizations', () => {
    admit('domain a.test', 8);
    const waits = ['org_a', 'org_a', 'org_b'].map((org) => lanes.admit('domain a.test', org));
    const until = waits.map((wait) => (wait.goes ? 0 : wait.until - clock.now()));
    expect(waits.every((wait) => !wait.goes && wait.waitReason === 'rate')).toBe(true);
    expect(until[1]).toBeGreaterThan(until[0] ?? 0);
    expect(until[2]).toBe(until[0]);
  });

  it('close after consecutive rate replies, and admit one trial after the pause', async () => {
    const begun = admit('domain a.test', 8);
    for (const id of begun.slice(0, 3)) lanes.ended('domain a.test', id, 'slowed');
    const wait = lanes.admit('domain a.test', 'org_a');
    expect(wait).toMatchObject({ goes: false, waitReason: 'provider-unavailable' });
    const [state] = lanes.states();
    const pauseMs = (state?.closedUntil ?? 0) - clock.now();
    expect(pauseMs).toBeGreaterThanOrEqual(900);
    expect(pauseMs).toBeLessThanOrEqual(1_100);
    for (const id of begun.slice(3)) lanes.released(id);
    await clock.advance(pauseMs + 1);
    expect(lanes.withRoom()).toEqual([{ lane: 'domain a.test', room: 1 }]);
    expect(admit('domain a.test', 5)).toHaveLength(1);
  });

  it('double the pause while the provider slows us, up to 15 minutes', async () => {
    const pauses: number[] = [];
    for (const id of admit('domain a.test', 2)) lanes.ended('domain a.test', id, 'slowed');
    for (let strike = 0; strike < 14; strike++) {
      const [id = ''] = admit('domain a.test', 1);
      lanes.ended('domain a.test', id, 'slowed');
      const pauseMs = (lanes.states()[0]?.closedUntil ?? 0) - clock.now();
      pauses.push(pauseMs);
      await clock.advance(pauseMs + 1);
    }
    expect(pauses[1]).toBeGreaterThan(1.5 * (pauses[0] ?? 0));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(15 * 60_000 * 1.1);
    expect(pauses.at(-1)).toBeGreaterThanOrEqual(15 * 60_000 * 0.9);
  });

  it('close after as many consecutive connection faults as the window is wide', () => {
    const begun = admit('relay', 8);
    for (const id of begun.slice(0, 7)) lanes.ended('relay', id, 'unreachable');
    expect(lanes.states()[0]).toMatchObject({ window: 8, closedUntil: null });
    lanes.ended('relay', begun[7] ?? '', 'unreachable');
    expect(lanes.states()[0]).toMatchObject({ window: 1, closedUntil: expect.any(Number) });
    expect(lanes.admit('relay', 'org_a')).toMatchObject({ waitReason: 'provider-unavailable' });
  });

  it('stay open when a message is accepted between faults', () => {
    for (let round = 0; round < 20; round++) {
      const [taken = '', ...faults] = admit('relay', 8);
      for (const id of faults) lanes.ended('relay', id, 'unreachable');
      lanes.ended('relay', taken, 'taken');
    }
    expect(lanes.states()[0]).toMatchObject({ closedUntil: null });
    expect(lanes.states()[0]?.window).toBeGreaterThan(8);
  });

  it('begin with a pause of a second, and double it after one failed trial', async () => {
    for (const id of admit('relay', 8)) lanes.ended('relay', id, 'unreachable');
    const pauses: number[] = [];
    for (let strike = 0; strike < 4; strike++) {
      const pauseMs = (lanes.states()[0]?.closedUntil ?? 0) - clock.now();
      pauses.push(Math.round(pauseMs / 500) / 2);
      await clock.advance(pauseMs + 1);
      const [id = ''] = admit('relay', 9);
      lanes.ended('relay', id, 'unreachable');
    }
    expect(pauses.map((seconds) => Math.round(Math.log2(seconds)))).toEqual([0, 1, 2, 3]);
  });

  it('do not prolong a pause for faults of deliveries begun before the closure', async () => {
    lanes.ruleFor(hosts('relay'));
    const first = admit('relay', 8);
    for (const id of first) lanes.ended('relay', id, 'taken');
    const begun = admit('relay', 16);
    for (const id of begun.slice(0, 3)) lanes.ended('relay', id, 'slowed');
    for (const id of begun.slice(3, 8)) lanes.ended('relay', id, 'slowed');
    const closedUntil = lanes.states()[0]?.closedUntil ?? 0;
    await clock.advance(closedUntil - clock.now() + 1);
    for (const id of begun.slice(8)) lanes.ended('relay', id, 'slowed');
    expect(lanes.states()[0]?.closedUntil).toBeNull();
  });

  it('count eight concurrent failures as one closure, and double the next pause', async () => {
    const cohort = admit('domain a.test', 8);
    await clock.advance(10);
    for (const id of cohort.slice(0, 3)) lanes.ended('domain a.test', id, 'slowed');
    const closedUntil = lanes.states()[0]?.closedUntil ?? 0;
    const pauseMs = closedUntil - clock.now();
    await clock.advance(100);
    for (const id of cohort.slice(3, 5)) lanes.ended('domain a.test', id, 'slowed');
    // A delivery past its age passes the closed lane: its outcome leaves the lane unchanged too.
    lanes.begun('domain a.test', 'dlv_last');
    await clock.advance(100);
    lanes.ended('domain a.test', 'dlv_last', 'slowed');
    expect(lanes.states()).toMatchObject([{ closedUntil }]);
    await clock.advance(pauseMs);
    for (const id of cohort.slice(5)) lanes.ended('domain a.test', id, 'slowed');
    expect(lanes.states()).toMatchObject([{ closedUntil: null, inFlight: 0 }]);
    const [tried = ''] = admit('domain a.test', 8);
    lanes.ended('domain a.test', tried, 'slowed');
    const nextMs = (lanes.states()[0]?.closedUntil ?? 0) - clock.now();
    expect(nextMs).toBeGreaterThanOrEqual(1_800);
    expect(nextMs).toBeLessThanOrEqual(2_200);
  });

  it('halve window and rate at a rate reply, and let accepted mail continue', () => {
    lanes.ruleFor(hosts('mta5.am0.yahoodns.net'));
    const before = lanes.states();
    const begun = Array.from({ length: 8 }, (_, index) => `dlv_y${index}`);
    for (const id of begun) lanes.begun('yahoo', id);
    lanes.ended('yahoo', begun[0] ?? '', 'slowed');
    expect(before).toEqual([]);
    expect(lanes.states()[0]).toMatchObject({ window: 4, perMinute: 600, closedUntil: null });
    for (const id of begun.slice(1, 4)) lanes.ended('yahoo', id, 'taken');
    expect(lanes.states()[0]).toMatchObject({ window: 7, closedUntil: null });
  });

  it('admit two at once after an attempt of 30 s without an accepted message', async () => {
    const [slow = ''] = admit('domain a.test', 1);
    await clock.advance(30_000);
    lanes.ended('domain a.test', slow, 'unreachable', 30_000);
    const two = admit('domain a.test', 9);
    expect(two).toHaveLength(2);
    for (const id of two) lanes.ended('domain a.test', id, 'taken', 10);
    expect(admit('domain a.test', 9)).toHaveLength(4);
  });

  it('keep their speed for one slow message among others', async () => {
    const [slow = '', quick = ''] = admit('relay', 2);
    await clock.advance(20_000);
    lanes.ended('relay', quick, 'taken', 20_000);
    await clock.advance(20_000);
    lanes.ended('relay', slow, 'unreachable', 40_000);
    expect(admit('relay', 99)).toHaveLength(9);
  });

  it('check a stalled queue ever more seldom', async () => {
    admit('domain a.test', 8);
    const waits: number[] = [];
    for (let look = 0; look < 40; look++) {
      const wait = lanes.admit('domain a.test', 'org_a');
      const waitMs = wait.goes ? 0 : wait.until - clock.now();
      waits.push(waitMs);
      await clock.advance(waitMs);
    }
    expect(waits[0]).toBe(50);
    expect(waits.at(-1)).toBeGreaterThan(10_000);
  });

  it('keep a provider’s rate over any minute', async () => {
    lanes.ruleFor(hosts('mta5.am0.yahoodns.net'));
    let went = 0;
    for (let second = 0; second < 60; second++) {
      for (const id of admit('yahoo', 100)) {
        lanes.ended('yahoo', id, 'taken');
        went++;
      }
      await clock.advance(1_000);
    }
    expect(went).toBeLessThanOrEqual(1_200 + 20);
    expect(went).toBeGreaterThanOrEqual(1_180);
  });

  /** Sends through a lane until it makes mail wait; returns how many went. */
  function drain(lane: string): number {
    let went = 0;
    for (;;) {
      const going = admit(lane, 100);
      if (going.length === 0) return went;
      for (const id of going) lanes.ended(lane, id, 'taken');
      went += going.length;
    }
  }

  it('send only a second’s worth through a paced lane after an idle minute', async () => {
    lanes.ruleFor(hosts('mta5.am0.yahoodns.net'));
    expect(drain('yahoo')).toBe(20);
    await clock.advance(minuteMs);
    expect(drain('yahoo')).toBe(20);
    await clock.advance(49);
    expect(drain('yahoo')).toBe(0);
    await clock.advance(1);
    expect(drain('yahoo')).toBe(1);
    await clock.advance(24 * 60 * minuteMs);
    expect(lanes.withRoom()).toEqual([{ lane: 'yahoo', room: 20 }]);
    expect(drain('yahoo')).toBe(20);
  });

  const paceSeed = 20261123;
  it.each([
    ['each 50 ms', () => 50, 1_180],
    ['each 70 ms', () => 70, 1_180],
    ['each 333 ms', () => 333, 1_180],
    ['each 970 ms', () => 970, 1_180],
    ['each 2,700 ms', () => 2_700, 440],
    [
      `at random (seed ${paceSeed})`,
      (random: () => number) => Math.ceil(1_500 * random() ** 3),
      1_000,
    ],
  ] as const)('keep a provider’s rate over any minute, drained %s', async (_, pace, fewest) => {
    lanes.ruleFor(hosts('mta5.am0.yahoodns.net'));
    const random = seededRandom(paceSeed);
    const begunAt = clock.now();
    const drains: { at: number; went: number }[] = [];
    while (clock.now() < begunAt + 3 * minuteMs) {
      drains.push({ at: clock.now(), went: drain('yahoo') });
      await clock.advance(pace(() => random.float()));
    }
    const minutes = drains
      .filter(({ at }) => at <= begunAt + 2 * minuteMs)
      .map(({ at: from }) =>
        drains
          .filter(({ at }) => at >= from && at < from + minuteMs)
          .reduce((sum, { went }) => sum + went, 0),
      );
    expect(Math.max(...minutes)).toBeLessThanOrEqual(1_200 + 20);
    expect(Math.min(...minutes)).toBeGreaterThanOrEqual(fewest);
  });

  it('need no attention without a queue', () => {
    admit('domain a.test', 8);
    expect(lanes.nextRoomAt()).toBeNull();
    lanes.admit('domain a.test', 'org_a');
    lanes.released('dlv_0');
    expect(lanes.nextRoomAt()).not.toBeNull();
    lanes.drained('domain a.test');
    expect(lanes.nextRoomAt()).toBeNull();
  });
});

describe('the shown states of lanes', () => {
  function many(count: number): { lanes: Lanes; clock: VirtualClock } {
    const clock = virtualClock();
    const lanes = new Lanes(clock, seededRandom(1), loadProviders(null, 10));
    for (let index = 0; index < count; index++) {
      const name = `domain d${index}.test`;
      lanes.begun(name, `dlv_${index}`);
      // Lanes with a higher number have more in flight.
      for (let more = 0; more < Math.floor(index / 10_000); more++) {
        lanes.begun(name, `dlv_${index}_${more}`);
      }
    }
    return { lanes, clock };
  }

  it('are the busiest ones, busiest first, among any number', () => {
    const { lanes } = many(30_500);
    const shown = lanes.states(500);
    expect(shown).toHaveLength(500);
    expect(shown.every(({ inFlight }) => inFlight === 4)).toBe(true);
    const next = lanes.states(501);
    expect(next.at(-1)?.inFlight).toBe(3);
    expect(next.slice(0, 500)).toEqual(shown);
  });

  it('leave out a lane that is quiet for long, and count it anew at its return', async () => {
    const { lanes, clock } = many(3);
    for (let index = 0; index < 3; index++) {
      lanes.ended(`domain d${index}.test`, `dlv_${index}`, 'taken');
    }
    expect(lanes.states().map(({ taken }) => taken)).toEqual([1, 1, 1]);
    await clock.advance(20_000);
    expect(lanes.states()).toHaveLength(3);
    await clock.advance(10_000);
    expect(lanes.states()).toEqual([]);
    lanes.begun('domain d1.test', 'dlv_9');
    lanes.ended('domain d1.test', 'dlv_9', 'taken');
    expect(lanes.states()).toMatchObject([{ lane: 'domain d1.test', taken: 1 }]);
  });

  it('keep a queued or closed lane for any time', async () => {
    const { lanes, clock } = many(2);
    for (const id of ['dlv_0', 'dlv_a', 'dlv_b']) lanes.ended('domain d0.test', id, 'slowed');
    lanes.released('dlv_1');
    for (let more = 0; more < 9; more++) lanes.begun('domain d1.test', `dlv_1_${more}`);
    lanes.admit('domain d1.test', 'org_a');
    for (let more = 0; more < 9; more++) lanes.released(`dlv_1_${more}`);
    await clock.advance(60_000);
    expect(lanes.states().map(({ lane }) => lane)).toEqual(['domain d1.test']);
  });
});
