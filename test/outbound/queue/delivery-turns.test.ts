import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { DeliveryTurns, turnsOf } from '../../../src/outbound/queue/claiming/delivery-turns.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';

const flowOf = (organization_id: string, sender_domain: string, run: string | null = null) => ({
  organization_id,
  sender_domain,
  campaign_run_id: run,
});

/** A queue as the store keeps one: claims take the earliest turn. */
function queue() {
  const turns = turnsOf({} as App);
  const waiting: { who: string; turn: number }[] = [];
  const first = () =>
    waiting.reduce<number | null>((least, { turn }) => Math.min(least ?? turn, turn), null);
  return {
    send(organization: string, domain = 'a.test', count = 1) {
      for (let i = 0; i < count; i++) {
        const turn = turns.next(flowOf(organization, domain), first());
        waiting.push({ who: `${organization} ${domain}`, turn });
      }
    },
    run(organization: string, run: string, count: number) {
      for (let i = 0; i < count; i++) {
        const turn = turns.next(flowOf(organization, 'a.test', run), first());
        waiting.push({ who: `${organization} ${run}`, turn });
      }
    },
    /** Returns the `count` organizations claimed next. */
    serve(count: number): string[] {
      return this.serveFlows(count).map((who) => who.split(' ')[0] ?? '');
    },
    serveFlows(count: number): string[] {
      waiting.sort((a, b) => a.turn - b.turn);
      const served = waiting.splice(0, count);
      turns.served(served.at(-1)?.turn ?? 0);
      return served.map(({ who }) => who);
    },
  };
}

describe('turns', () => {
  it('serve one organization in the order of its sends', () => {
    const turns = turnsOf({} as App);
    const given = Array.from({ length: 100 }, () => turns.next(flowOf('a', 'a.test'), null));
    expect(given).toEqual(given.toSorted((a, b) => a - b));
    expect(new Set(given).size).toBe(100);
  });

  it('let a single message pass another organization’s thousands', () => {
    const q = queue();
    q.send('big', 'a.test', 5_000);
    q.serve(1_000);
    q.send('small');
    expect(q.serve(3)).toContain('small');
  });

  it('share evenly between three organizations with backlogs begun at different times', () => {
    const q = queue();
    q.send('a', 'a.test', 900);
    q.serve(100);
    q.send('b', 'b.test', 900);
    q.send('c', 'c.test', 900);
    const served = q.serve(300);
    for (const name of ['a', 'b', 'c']) {
      const share = served.filter((who) => who === name).length;
      expect(share).toBeGreaterThanOrEqual(95);
      expect(share).toBeLessThanOrEqual(105);
    }
  });

  it('give a quiet organization no credit', () => {
    const q = queue();
    q.send('a', 'a.test', 1_000);
    q.serve(900);
    q.send('late', 'l.test', 1_000);
    const late = q.serve(100).filter((who) => who === 'late').length;
    expect(late).toBeLessThanOrEqual(52);
  });

  it('serve a sending domain beside the backlog of another one of the same organization', () => {
    const q = queue();
    q.send('a', 'big.test', 2_000);
    q.serve(500);
    q.send('a', 'small.test');
    expect(q.serveFlows(5)).toContain('a small.test');
  });

  it('give an organization with two sending domains no more than one with one', () => {
    const q = queue();
    for (let i = 0; i < 500; i++) {
      q.send('two', 'a.test');
      q.send('two', 'b.test');
      q.send('one', 'c.test');
    }
    const served = q.serveFlows(200);
    const count = (who: string) => served.filter((flow) => flow.startsWith(who)).length;
    expect(count('one')).toBeGreaterThanOrEqual(95);
    expect(count('two a.test')).toBeGreaterThanOrEqual(45);
    expect(count('two b.test')).toBeGreaterThanOrEqual(45);
  });

  it('starve no organization under a random mix of arrivals', () => {
    const seed = Number(process.env.TEST_SEED ?? 20261121);
    const random = seededRandom(seed);
    const q = queue();
    const sent = new Map<string, number>();
    const served = new Map<string, number>();
    for (let step = 0; step < 2_000; step++) {
      const who = `org${Math.floor(random.float() * 5)}`;
      const count = random.float() < 0.02 ? 200 : 1;
      q.send(who, 'a.test', count);
      sent.set(who, (sent.get(who) ?? 0) + count);
      for (const name of q.serve(3)) served.set(name, (served.get(name) ?? 0) + 1);
    }
    for (const name of q.serve(100_000)) served.set(name, (served.get(name) ?? 0) + 1);
    expect(served, `seed ${seed}`).toEqual(sent);
  });

  describe('of campaign runs', () => {
    it('let a direct send of the organization pass the backlog of its runs', () => {
      const q = queue();
      q.run('a', 'run_1', 500);
      q.run('a', 'run_2', 500);
      q.serve(100);
      q.send('a');
      expect(q.serveFlows(5)).toContain('a a.test');
    });

    it('get a fifth of the turns of their organization beside a backlog of direct mail', () => {
      const q = queue();
      for (let i = 0; i < 400; i++) {
        q.send('a');
        q.run('a', 'run_1', 1);
        q.run('a', 'run_2', 1);
      }
      const served = q.serveFlows(400);
      const direct = served.filter((flow) => flow === 'a a.test').length;
      expect(direct).toBeGreaterThanOrEqual(316);
      expect(direct).toBeLessThanOrEqual(324);
    });

    it('share evenly between two runs, however large the first one is', () => {
      const q = queue();
      q.run('a', 'run_1', 2_000);
      q.serve(100);
      for (let page = 0; page < 10; page++) {
        q.run('a', 'run_1', 20);
        q.run('a', 'run_2', 20);
      }
      const served = q.serveFlows(300);
      expect(served.filter((flow) => flow === 'a run_2').length).toBeGreaterThanOrEqual(98);
    });

    it('give an organization with runs and direct mail no more than one with direct mail', () => {
      const q = queue();
      for (let i = 0; i < 500; i++) {
        q.send('both');
        q.run('both', 'run_1', 1);
        q.run('both', 'run_2', 1);
        q.send('one');
      }
      const served = q.serve(400);
      const ones = served.filter((who) => who === 'one').length;
      expect(ones).toBeGreaterThanOrEqual(198);
      expect(ones).toBeLessThanOrEqual(202);
    });

    it('let another organization’s single message pass a run of thousands', () => {
      const q = queue();
      q.run('big', 'run_1', 5_000);
      q.serve(1_000);
      q.send('small');
      expect(q.serve(3)).toContain('small');
    });
  });
});

describe('turns of several daemons', () => {
  const lookEach = 100;

  /**
   * Counts the first `count` served mails of each organization, after these sends by daemons in
   * turns.
   */
  function served(
    daemons: number,
    mails: Record<string, (at: number) => number | null>,
    count: number,
  ) {
    const random = seededRandom(daemons);
    const turns = Array.from({ length: daemons }, () => new DeliveryTurns(() => random.float()));
    const waiting: { organization_id: string; turn: number; sender_domain: string }[] = [];
    for (let at = 0; at < 4_000; at++) {
      // A quiet head of the queue: the first mail of all.
      const first = waiting[0]?.turn ?? null;
      for (const [organization_id, daemonAt] of Object.entries(mails)) {
        const daemon = daemonAt(at);
        if (daemon === null) continue;
        const flow = flowOf(organization_id, 'a.test');
        const turn = turns[daemon]?.next(flow, first) ?? 0;
        waiting.push({ ...flow, turn });
      }
      if (at % lookEach === 0 && daemons > 1) {
        const last = waiting
          .toSorted((a, b) => b.turn - a.turn)
          .slice(0, 500)
          .map((row) => ({ ...row, campaign_run_id: null }));
        for (const one of turns) one.learn(last, daemons);
      }
    }
    const counts: Record<string, number> = {};
    for (const { organization_id } of waiting.toSorted((a, b) => a.turn - b.turn).slice(0, count)) {
      counts[organization_id] = (counts[organization_id] ?? 0) + 1;
    }
    return counts;
  }

  it('give a flow that all of them serve no more than a flow of one', () => {
    const { spread = 0, single = 0 } = served(
      4,
      { spread: (at) => at % 4, single: () => 0 },
      4_000,
    );
    expect(single / spread).toBeGreaterThan(0.85);
    expect(single / spread).toBeLessThan(1.15);
  });

  it.each([
    { of: 'a domain', flow: flowOf('busy', 'a.test') },
    { of: 'a campaign run', flow: flowOf('busy', 'a.test', 'run_1') },
  ])('put mail of another daemon behind the backlog of $of', ({ flow }) => {
    const random = seededRandom(1);
    const [one, other] = [
      new DeliveryTurns(() => random.float()),
      new DeliveryTurns(() => random.float()),
    ];
    let last = 0;
    for (let number = 0; number < 1_000; number++) last = one.next(flow, 1_000_000);
    other.learn([{ ...flow, turn: last }], 2);
    expect(other.next(flow, 1_000_000)).toBeGreaterThan(last);
  });

  it('count as shared among live daemons only, and not at all for the last one', () => {
    const random = seededRandom(1);
    const turns = new DeliveryTurns(() => random.float());
    const flow = flowOf('busy', 'a.test');
    const step = () => {
      const before = turns.next(flow, 1);
      return Math.round((turns.next(flow, 1) - before) / 1_000_000);
    };
    const marked = (...marks: number[]) =>
      marks.map((mark) => ({ ...flow, turn: 5_000_000 + mark }));
    expect(step()).toBe(1);
    turns.learn(marked(0), 2);
    expect(step()).toBe(1);
    turns.learn(marked(1_001, 2_002, 3_003, 4_004), 3);
    expect(step()).toBe(3);
    turns.forgetOthers();
    expect(step()).toBe(1);
  });
});
