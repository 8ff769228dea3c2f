import { beforeEach, describe, expect, it } from 'vitest';
import { stopOfShare } from '../../../src/outbound/queue/claiming/stops.ts';
import { Shares } from '../../../src/outbound/queue/lanes/shares.ts';
import { FairShare } from '../../../src/platform/runtime/fairness/fair-share.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

/** Takes places in turns until every share is full; returns the places of each. */
function fill(share: FairShare, names: readonly string[]): number[] {
  for (let isTaking = true; isTaking; ) {
    isTaking = false;
    for (const name of names) {
      if (!share.mayHold(name)) continue;
      share.hold(name);
      isTaking = true;
    }
  }
  return names.map((name) => share.heldBy(name));
}

describe('a fair share', () => {
  it.each([
    [1, [282]],
    [2, [161, 161]],
    [3, [113, 113, 112]],
  ])('of 400 places for %d holders is %j, with some left for a newcomer', (count, expected) => {
    const share = new FairShare(400);
    const names = Array.from({ length: count }, (_, index) => `org_${index}`);
    expect(fill(share, names)).toEqual(expected);
    expect(share.mayHold('newcomer')).toBe(true);
  });

  it.each([
    [400, 28],
    [100, 9],
  ])('of %d places leaves one for a newcomer behind %d greedy holders', (places, count) => {
    const share = new FairShare(places);
    for (let number = 1; number <= count; number++) {
      expect([number, share.mayHold(`org_${number}`)]).toEqual([number, true]);
      const room = share.roomFor(`org_${number}`);
      expect(fill(share, [`org_${number}`])).toEqual([room]);
    }
    expect(share.mayHold('newcomer')).toBe(true);
  });

  it('of a large holder grows again only after it returned its excess', () => {
    const share = new FairShare(100);
    fill(share, ['hog']);
    fill(share, ['other']);
    for (let given = 0; given < 3; given++) share.letGo('hog');
    expect([share.mayHold('hog'), share.roomFor('hog')]).toEqual([false, 0]);
    expect(share.mayHold('other')).toBe(true);
    for (let given = 0; given < 40; given++) share.letGo('hog');
    const room = share.roomFor('hog');
    for (let taken = 0; taken < room; taken++) {
      expect(share.mayHold('hog')).toBe(true);
      share.hold('hog');
    }
    expect([room > 0, share.mayHold('hog')]).toEqual([true, false]);
  });

  it('lets a full holder exchange one of its own places', () => {
    const share = new FairShare(100);
    fill(share, ['hog']);
    expect([share.mayHold('hog'), share.mayHold('hog', 1, 'hog')]).toEqual([false, true]);
  });

  it.each([
    [1, 1],
    [2, 2],
    [4, 3],
  ])('of %d places for a single holder is %d', (places, most) => {
    expect(fill(new FairShare(places), ['org_a'])).toEqual([most]);
  });

  it('of bytes is equal for a few large pieces and many small ones', () => {
    const bytes = new FairShare(256_000_000, 4_000_000);
    const piece = 1_000_000;
    while (bytes.mayHold('hog', piece)) bytes.hold('hog', piece);
    expect(bytes.heldBy('hog')).toBe(180_000_000);
    expect([bytes.mayHold('hog', 1), bytes.mayHold('other', 40_000_000)]).toEqual([false, true]);
  });

  it('of bytes reserves the first ones for each newcomer', () => {
    const bytes = new FairShare(256_000_000, 4_000_000);
    bytes.hold('hog', 250_000_000);
    expect(bytes.mayHold('newcomer', 4_000_000)).toBe(true);
    bytes.hold('newcomer', 3_000_000);
    expect([bytes.mayHold('newcomer', 1_000_000), bytes.mayHold('newcomer', 1_000_001)]).toEqual([
      true,
      false,
    ]);
  });

  it('is empty after a holder returned more than it held', () => {
    const share = new FairShare(10);
    share.hold('a', 2);
    share.letGo('a', 5);
    expect([share.heldBy('a'), share.roomFor('b')]).toEqual([0, 8]);
  });
});

describe('shares of the deliveries in flight', () => {
  let clock: VirtualClock;
  let shares: Shares;
  let made = 0;

  beforeEach(() => {
    clock = virtualClock();
    shares = new Shares(clock);
    made = 0;
  });

  function admit(organization: string, count: number, domain = 'a.example'): string[] {
    const going: string[] = [];
    for (let asked = 0; asked < count; asked++) {
      if (!shares.admit(organization, domain).goes) continue;
      const id = `dlv_${made++}`;
      shares.begun(id, organization);
      going.push(id);
    }
    return going;
  }

  it("leave seven tenths to one organization and let another one's mail go at once", () => {
    expect(admit('org_a', 500)).toHaveLength(282);
    expect(admit('org_b', 50)).toHaveLength(50);
  });

  it('give a time and a reason to waiting mail, in turns between sending domains', () => {
    admit('org_a', 282);
    const waits = ['a.example', 'a.example', 'b.example'].map((domain) =>
      shares.admit('org_a', domain),
    );
    expect(waits).toMatchObject(waits.map(() => ({ goes: false, waitReason: 'rate' })));
    const untils = waits.map((wait) => (wait.goes ? 0 : wait.until));
    expect(untils[1]).toBeGreaterThan(untils[0] ?? 0);
    expect(untils[2]).toBe(untils[0]);
    expect(untils[0]).toBeGreaterThan(clock.now());
  });

  it('offer free room once it is an eighth, or after 50 ms', async () => {
    const going = admit('org_a', 282);
    shares.admit('org_a', 'a.example');
    expect([shares.isAwaited(), shares.withRoom()]).toEqual([false, []]);
    shares.released(going[0] ?? '');
    expect([shares.isAwaited(), shares.withRoom()]).toEqual([true, []]);
    expect(shares.nextRoomAt()).toBe(clock.now() + 50);
    await clock.advance(50);
    const lane = stopOfShare('org_a');
    expect(shares.withRoom()).toEqual([{ lane, room: 1 }]);
    shares.taken(lane, false);
    expect(shares.withRoom()).toEqual([]);
    for (const id of going.slice(1, 38)) shares.released(id);
    expect(shares.withRoom()).toEqual([{ lane, room: 38 }]);
    shares.taken(lane, true);
    expect([shares.isAwaited(), shares.withRoom(), shares.nextRoomAt()]).toEqual([false, [], null]);
  });

  it('check the first of several organizations after its time with little room', async () => {
    const going: string[] = [];
    for (let turn = 0; turn < 161; turn++) going.push(...admit('org_a', 1), ...admit('org_b', 1));
    shares.admit('org_a', 'a.example');
    const first = clock.now();
    await clock.advance(20);
    shares.admit('org_b', 'a.example');
    for (const id of going.slice(0, 8)) shares.released(id);
    expect(shares.nextRoomAt()).toBe(first + 50);
  });

  it('take back a place once', () => {
    const [first = ''] = admit('org_a', 282);
    shares.released(first);
    shares.released(first);
    expect(admit('org_a', 282)).toHaveLength(1);
  });
});
