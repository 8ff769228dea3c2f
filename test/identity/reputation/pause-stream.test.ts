// The limits of health against a plain model: a seeded stream of outcomes, one at a time through
// claim and settle, with late reports, irrelevant mail, and passing hours. After each step the
// workspace and its domains must match the model: warned, held, paused, resumed.
import { afterEach, describe, expect, it } from 'vitest';
import { getOrganization } from '../../../src/access/organizations/organizations.ts';
import { addDomain, listDomains } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { countHealth } from '../../../src/identity/reputation/health.ts';
import { resumeDomain, resumeSending } from '../../../src/outbound/queue/desk/resume.ts';
import { type Random, seededRandom } from '../../../src/platform/runtime/random.ts';
import { stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import {
  complaint,
  late,
  lateBounce,
  type Outcomes,
  startOutcomes,
  workspaceEvents,
} from './fixtures.ts';

const usualSeed = 20261121;
const seed = Number(process.env.TEST_SEED ?? usualSeed);
const hourMs = 3_600_000;
const domains = ['one.example', 'two.example', 'three.example'] as const;
type DomainName = (typeof domains)[number];

interface Counted {
  hour: number;
  domain: DomainName;
  attempted: number;
  bounced: number;
  complained: number;
}

/** The limits as plain sums over a list of all counted mail. */
class Model {
  readonly events: string[] = [];
  readonly held = new Map<DomainName, string>();
  pausedFor: string | null = null;
  #isWarned = false;
  #ofWorkspace: Counted[] = [];
  #ofDomains: Counted[] = [];

  count(now: number, domain: DomainName, counts: Partial<Counted>): void {
    const hour = Math.floor(now / hourMs);
    const counted = { hour, domain, attempted: 0, bounced: 0, complained: 0, ...counts };
    this.#ofWorkspace.push(counted);
    this.#ofDomains.push(counted);
    this.#judge(hour, domain);
  }

  resume(): void {
    this.events.push('workspace.resumed');
    this.pausedFor = null;
    this.#isWarned = false;
    this.#ofWorkspace = [];
    this.#ofDomains = [];
  }

  resumeDomain(domain: DomainName): void {
    this.events.push('workspace.resumed');
    this.held.delete(domain);
    this.#ofDomains = this.#ofDomains.filter((one) => one.domain !== domain);
  }

  #judge(hour: number, domain: DomainName): void {
    const window = (all: readonly Counted[]) => all.filter((one) => one.hour >= hour - 24);
    const workspace = sumOf(window(this.#ofWorkspace));
    const isWarning = workspace.isEnough && workspace.reaches(5, 0.02, 2, 0.001) !== null;
    if (isWarning && !this.#isWarned) this.events.push('workspace.warning');
    this.#isWarned = isWarning;
    const pause = workspace.isEnough ? workspace.reaches(10, 0.05, 5, 0.003) : null;
    if (pause !== null) {
      if (this.pausedFor === null) this.events.push('workspace.paused');
      this.pausedFor ??= pause;
      return;
    }
    const own = sumOf(window(this.#ofDomains).filter((one) => one.domain === domain));
    const hold = own.isEnough ? own.reaches(10, 0.05, 5, 0.003) : null;
    if (hold === null || this.held.has(domain)) return;
    this.held.set(domain, hold);
    this.events.push('workspace.warning');
  }
}

function sumOf(all: readonly Counted[]) {
  const sum = (name: 'attempted' | 'bounced' | 'complained') =>
    all.reduce((total, one) => total + one[name], 0);
  const [attempted, bounced, complained] = [sum('attempted'), sum('bounced'), sum('complained')];
  return {
    isEnough: attempted >= 100,
    /** Returns the text where either count and its rate are reached, bounces first. */
    reaches(bounces: number, bounceRate: number, complaints: number, complaintRate: number) {
      const of = (count: number, did: string, limit: string) => {
        const percent = (count * 100) / attempted;
        const rounded = Number(percent.toFixed(percent < 1 ? 2 : 1));
        return `${rounded}% of the last ${attempted.toLocaleString('en')} messages ${did} (limit ${limit}).`;
      };
      if (bounced >= bounces && bounced >= bounceRate * attempted)
        return of(bounced, 'bounced', '5%');
      if (complained >= complaints && complained >= complaintRate * attempted) {
        return of(complained, 'were reported as spam', '0.3%');
      }
      return null;
    },
  };
}

/**
 * Stretches of the stream: the shares of each kind of mail, the rest being delivered and of the ill
 * domain; the size of bulks of good mail, and the frequency of passing hours.
 */
const stretches = [
  { dead: 0.2, complaint: 0.05, noise: 0.1, bulk: 0.3, size: 60, ill: 0.3, jump: 0.3 },
  { dead: 0.6, complaint: 0, noise: 0.1, bulk: 0.25, size: 300, ill: 0.95, jump: 0.02 },
  { dead: 0.8, complaint: 0, noise: 0.1, bulk: 0.2, size: 40, ill: 0.3, jump: 0.02 },
  { dead: 0, complaint: 0.4, noise: 0, bulk: 0.3, size: 2_000, ill: 0.95, jump: 0 },
  { dead: 0, complaint: 0.4, noise: 0.1, bulk: 0.15, size: 100, ill: 0.3, jump: 0.02 },
] as const;
const stretchSteps = 40;
const softWords = ['full', 'policy', 'reputation', 'spam'] as const;

function reasonKind(reason: string): 'bounces' | 'complaints' {
  return reason.includes('bounced') ? 'bounces' : 'complaints';
}

class Stream {
  readonly model = new Model();
  readonly reached = new Set<string>();
  readonly #test: TestApp;
  readonly #outcomes: Outcomes;
  readonly #random: Random;
  readonly #ids: ReadonlyMap<DomainName, string>;
  #delivered: { id: string; domain: DomainName }[] = [];
  #sent = 0;
  #compared = 0;

  constructor(
    test: TestApp,
    outcomes: Outcomes,
    random: Random,
    ids: ReadonlyMap<DomainName, string>,
  ) {
    this.#test = test;
    this.#outcomes = outcomes;
    this.#random = random;
    this.#ids = ids;
  }

  #chance(): number {
    return this.#random.float();
  }

  #pick<T>(list: readonly T[]): T {
    const picked = list[Math.floor(this.#chance() * list.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }

  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      const stretch = stretches[Math.floor(step / stretchSteps) % stretches.length] ?? stretches[0];
      if (step % stretchSteps === 0) this.#pass(26 * hourMs);
      await this.#step(stretch);
      await this.#compare(step);
      await this.#review();
    }
  }

  /** Moves the clock at once: the queue polls each minute, which makes hours expensive. */
  #pass(ms: number): void {
    const { clock } = this.#test;
    clock.set(clock.now() + ms);
  }

  async #step(likely: (typeof stretches)[number]): Promise<void> {
    const { dead, complaint: complaints, noise, bulk, size, ill, jump } = likely;
    if (this.#chance() < jump) this.#pass(Math.floor(this.#chance() * 8 * hourMs));
    const now = this.#test.clock.now();
    const well = this.#pick([domains[0], domains[2]]);
    if (this.#chance() < bulk) {
      const isIll = this.#chance() < 0.2;
      const most = isIll ? Math.min(200, size) : size;
      return this.#bulk(isIll ? domains[1] : well, 1 + Math.floor(this.#chance() * most));
    }
    const domain = this.#chance() < ill ? domains[1] : well;
    if (this.#chance() < complaints) return this.#report('complained');
    if (this.#chance() < dead / 4) return this.#report('bounced');
    if (this.#chance() < noise) return this.#noise(domain);
    const isDead = this.#chance() < dead;
    const id = await this.#deliver(domain, isDead ? 'dead' : 'ok');
    if (!isDead) this.#delivered.push({ id, domain });
    this.model.count(now, domain, { attempted: 1, bounced: isDead ? 1 : 0 });
  }

  async #deliver(domain: DomainName, word: string, at = 'example.net'): Promise<string> {
    const to = `${word}-${this.#sent++}@${at}`;
    const [message] = await this.#outcomes.deliver(this.#test.caller, [to], `news@${domain}`);
    if (!message) throw new Error('nothing was accepted');
    return message.id;
  }

  /** Counts this much good mail in one step. */
  async #bulk(fromDomain: DomainName, attempted: number): Promise<void> {
    const { app, caller, clock } = this.#test;
    const { organizationId } = caller;
    const observation = { organizationId, sender: null, fromDomain, counts: { attempted } };
    await app.store.write((trx) => countHealth(app, trx, [observation]));
    this.model.count(clock.now(), fromDomain, { attempted });
  }

  /** Reports on delivered mail; a second report on it changes nothing. */
  async #report(kind: 'complained' | 'bounced'): Promise<void> {
    const message = this.#delivered.pop();
    if (!message) return;
    const outcome = kind === 'complained' ? complaint : lateBounce;
    expect(await late(this.#test.app, message.id, outcome)).toBe(true);
    expect(await late(this.#test.app, message.id, outcome)).toBe(false);
    this.model.count(this.#test.clock.now(), message.domain, { [kind]: 1 });
  }

  async #noise(domain: DomainName): Promise<void> {
    const dice = this.#chance();
    // Our own faults and the simulator do not count; soft refusals are attempts without a bounce.
    if (dice < 0.2) return void (await this.#deliver(domain, 'ours'));
    if (dice < 0.5) {
      const word = this.#pick(['bounced', 'complained', 'delivered']);
      const to = `${word}+${this.#sent++}@simulator.test`;
      await this.#outcomes.deliver(this.#test.caller, [to], `news@${domain}`);
      return;
    }
    await this.#deliver(domain, this.#pick(softWords));
    this.model.count(this.#test.clock.now(), domain, { attempted: 1 });
  }

  async #compare(step: number): Promise<void> {
    const { pausedFor, held: expected, events } = this.model;
    const { app, caller, operator } = this.#test;
    expect({ step, events: await workspaceEvents(app) }).toEqual({ step, events });
    // Every change has an event; the rest is read after events, and at times.
    if (events.length === this.#compared && step % 10 > 0) return;
    this.#compared = events.length;
    const { sendingStatus, pauseReason } = await getOrganization(app, caller.organizationId);
    const { items } = await listDomains(app, operator, { page: 1, limit: 20 });
    const held = items.flatMap((one) =>
      one.sendingStatus === 'held' ? [[one.domain, one.holdReason]] : [],
    );
    expect({ step, sendingStatus, pauseReason, held: new Map(held as [string, string][]) }).toEqual(
      {
        step,
        sendingStatus: pausedFor === null ? 'enabled' : 'paused',
        pauseReason: pausedFor,
        held: expected,
      },
    );
  }

  /** Checks the effect of a pause or hold, then resumes. */
  async #review(): Promise<void> {
    const { app, caller, operator } = this.#test;
    if (this.model.pausedFor !== null) {
      this.reached.add(`pause: ${reasonKind(this.model.pausedFor)}`);
      await expect(send(app, caller, 'ada@example.net')).rejects.toMatchObject({
        _tag: 'ForbiddenError',
        message: `Sending is paused: ${this.model.pausedFor}`,
      });
      await resumeSending(app, caller.organizationId);
      this.model.resume();
    }
    for (const [domain, reason] of this.model.held) {
      this.reached.add(`hold: ${reasonKind(reason)}`);
      const now = this.#test.clock.now();
      const id = await this.#deliver(domain, 'ok');
      await resumeDomain(app, operator, this.#ids.get(domain) ?? '', {});
      this.model.resumeDomain(domain);
      await this.#outcomes.idle();
      this.#delivered.push({ id, domain });
      this.model.count(now, domain, { attempted: 1 });
    }
  }
}

describe.each(stores)('a stream of outcomes on %s', (store) => {
  let test: TestApp;
  let outcomes: Outcomes;
  afterEach(async () => {
    await outcomes.close();
    await test.close();
  });

  it(`warns, holds and pauses exactly at the limits (seed ${seed})`, async () => {
    test = await testApp({ store });
    outcomes = await startOutcomes(test.app);
    const ids = new Map<DomainName, string>();
    for (const domain of domains) {
      const { id } = await addDomain(test.app, test.operator, { domain, dkim: 'ed25519' });
      await verifyDomain(test.app, test.operator, id, { force: true });
      ids.set(domain, id);
    }
    const stream = new Stream(test, outcomes, seededRandom(seed), ids);
    await stream.run(stretches.length * stretchSteps);
    // Another seed may miss one of the changes.
    if (seed !== usualSeed) return;
    expect([...stream.reached].sort()).toEqual([
      'hold: bounces',
      'hold: complaints',
      'pause: bounces',
      'pause: complaints',
    ]);
  });
});
