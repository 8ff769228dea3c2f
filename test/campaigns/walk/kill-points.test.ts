// A daemon dies while it starts, walks, pauses, resumes and cancels a run to 2,000 contacts;
// another one continues. Each contact has one row in the ledger and one message or reason, and the
// counts add up to the audience. Each seed is one death, before, within or after one of the
// transactions. KILL_POINTS=500 is a soak; KILL_SEED=<the seed in the name of a failed test>
// repeats one.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { updateOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Run } from '../../../src/campaigns/setup/run-schema.ts';
import { cancelRun, pauseRun, resumeRun } from '../../../src/campaigns/setup/runs.ts';
import { type CampaignLoop, campaignLoop } from '../../../src/campaigns/walk/loop.ts';
import type { App } from '../../../src/core/app.ts';
import { ConflictError } from '../../../src/platform/errors.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { inLong, stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { type KillPoint, moments, mortal } from '../../support/mortal.ts';
import type { TestApp } from '../../support/test-app.ts';
import { ledgerOf, makeCampaign, makeContacts, makeRun, messagesOf, readRun } from './fixtures.ts';

const givenSeed = process.env.KILL_SEED;
const firstSeed = Number(givenSeed ?? Math.floor(Math.random() * 1_000_000));
const points = (most: number) => (givenSeed ? 1 : Number(process.env.KILL_POINTS ?? most));
const seedsOn = { sqlite: points(inLong(4, 1)), postgres: points(1) };

const audience = 2_000;
/** Fewer contacts in a sample, as each death takes the time of a lease. */
const audienceOfThree = process.env.KILL_POINTS ? audience : 800;
/** Time after which the lease of a dead daemon is over. */
const leaseOverMs = 31_000;
/** Transactions of a run whose plan has no rate limit, with those of a person. */
const mostTransactions = 12;

/** Decisions of a person, in order. */
const stories = [
  [],
  ['pause', 'resume'],
  ['pause', 'resume', 'pause', 'resume'],
  ['cancel'],
  ['pause', 'cancel'],
] as const;
type Decision = 'pause' | 'resume' | 'cancel';

const decisions = { pause: pauseRun, resume: resumeRun, cancel: cancelRun };

/** Tells whether a run is on its way to so many messages. */
function isGoing({ status, dispatchedCount }: Run, threshold: number): boolean {
  return ['scheduled', 'running'].includes(status) && dispatchedCount < threshold;
}

/** Returns an App on the same store that can die alone. */
function mortalCopy(app: App): App {
  return { ...app, store: { ...app.store } };
}

/** Decides, or finds that an unanswered request has decided, or that the run has ended. */
async function decide(app: App, { operator }: TestApp, run: Run, decision: Decision) {
  const place = { campaignId: run.campaignId, runId: run.id };
  try {
    await decisions[decision](app, operator, place, { note: 'for the test' });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
}

/** Expects each contact once, and counters that add up. */
async function expectWhole(
  { app, operator }: TestApp,
  run: Run,
  told: string,
  { isEnd = true, contacts = audience } = {},
) {
  const now = await readRun(app, operator, run);
  const ledger = await ledgerOf(app, run.id);
  const dispatched = ledger.filter(({ outcome }) => outcome === 'dispatched');
  const { dispatchedCount, failedCount, skippedCount, totalRecipients } = now;
  expect(dispatchedCount, told).toBe(dispatched.length);
  expect(dispatchedCount + failedCount + skippedCount, told).toBe(ledger.length);
  expect(new Set(dispatched.map(({ message_id }) => message_id)).size, told).toBe(
    dispatched.length,
  );
  expect(await messagesOf(app, run.id), told).toBe(dispatched.length);
  const addresses = sql<{ n: number }>`select count(distinct email) as n from deliveries
    where campaign_run_id = ${run.id}`;
  const [row] = (await addresses.execute(app.store.db)).rows;
  expect(Number(row?.n), told).toBe(dispatched.length);
  if (now.status === 'completed') {
    expect([ledger.length, totalRecipients], told).toEqual([contacts, contacts]);
  }
  if (now.status === 'cancelled' && isEnd) {
    const queued = sql<{ n: number }>`select count(*) as n from deliveries
      where campaign_run_id = ${run.id} and due_at is not null`;
    const [left] = (await queued.execute(app.store.db)).rows;
    expect(Number(left?.n), told).toBe(0);
  }
}

describe.each(stores)('a daemon that dies while it walks a run, on %s', (store) => {
  const test = eachApp({ store });
  const seeds = Array.from({ length: seedsOn[store] }, (_, index) => firstSeed + index);

  const read = (run: Run) => readRun(test.app, test.operator, run);

  async function live(loop: CampaignLoop, until: (now: Run) => boolean, run: Run) {
    for (let turn = 0; turn < 200; turn++) {
      await loop.idle();
      const now = await read(run);
      if (until(now)) return now;
      await test.clock.advance(1_000);
    }
    throw new Error(`the run did not get there: ${JSON.stringify(await read(run))}`);
  }

  /**
   * Walks and decides on a daemon that dies at this point, if it gets there. Returns the open
   * decisions.
   */
  async function dieAt(
    point: KillPoint,
    run: Run,
    story: readonly Decision[],
    pick: (most: number) => number,
  ) {
    const victim = mortalCopy(test.app);
    const died = mortal(victim, point);
    const loop = campaignLoop(victim);
    const open = [...story];
    let isOver = false;
    const walked = (async () => {
      await loop.start();
      for (const decision of story) {
        const threshold = 1 + pick(audience);
        // Time passes: the loop rests between the commits that wake it.
        while (!isOver && isGoing(await read(run), threshold)) await test.clock.advance(1);
        await decide(victim, test, run, decision);
        open.shift();
      }
      await loop.idle();
      await loop.stop();
    })();
    await Promise.race([walked, died]);
    isOver = true;
    return open;
  }

  it.each(seeds)('leaves nobody out and asks nobody twice (KILL_SEED=%i)', async (seed) => {
    const random = seededRandom(seed);
    const pick = (most: number) => Math.floor(random.float() * most);
    const moment = moments[seed % moments.length] ?? 'after';
    const point: KillPoint = { moment, nth: 1 + pick(mostTransactions) };
    const story = stories[pick(stories.length)] ?? [];
    const told = JSON.stringify({ seed, ...point, story });
    await makeContacts(test.app, test.operator, audience);
    const run = await makeRun(test.app, test.operator, await makeCampaign(test.app, test.operator));
    const open = await dieAt(point, run, story, pick);
    await expectWhole(test, run, told, { isEnd: false });
    for (const decision of open) await decide(test.app, test, run, decision);
    const survivor = campaignLoop(test.app);
    await survivor.start();
    try {
      await test.clock.advance(leaseOverMs);
      const ended = ['completed', 'cancelled'];
      const end = await live(survivor, ({ status }) => ended.includes(status), run);
      if (end.status === 'cancelled') await survivor.idle();
      await expectWhole(test, run, told);
    } finally {
      await survivor.stop();
    }
  });
});

describe('three daemons on postgres, one of which dies each second', () => {
  const rate = { ratePerSecond: 200, dailyEmails: null, trialCaps: false };
  const test = eachApp({ store: 'postgres', config: { plans: { fast: rate } } });
  const mostSeconds = 600;

  it(`leave nobody out and ask nobody twice (KILL_SEED=${firstSeed})`, async () => {
    const random = seededRandom(firstSeed);
    const pick = (most: number) => Math.floor(random.float() * most);
    await updateOrganization(test.app, 'default', { plan: 'fast' });
    await makeContacts(test.app, test.operator, audienceOfThree);
    const run = await makeRun(test.app, test.operator, await makeCampaign(test.app, test.operator));
    const machines = [test.app, await test.another(), await test.another()];
    const born = async (machine: App) => {
      const app = mortalCopy(machine);
      const loop = campaignLoop(app);
      await loop.start();
      return { app, loop };
    };
    const daemons = await Promise.all(machines.map(born));
    let deaths = 0;
    let second = 0;
    for (; (await readRun(test.app, test.operator, run)).status !== 'completed'; second++) {
      expect(second, `seed ${firstSeed}`).toBeLessThan(mostSeconds);
      await Promise.all(daemons.map(({ loop }) => loop.idle()));
      const place = pick(daemons.length);
      const [victim, machine] = [daemons[place], machines[place]];
      if (!victim || !machine) throw new Error('there is no such daemon');
      const died = mortal(victim.app, { moment: moments[pick(3)] ?? 'after', nth: 1 });
      const counted = died.then(() => deaths++);
      await test.clock.advance(1_000);
      await Promise.race([victim.loop.idle(), counted]);
      // A daemon without the run has nothing to write, so it dies of its last write.
      void victim.loop.stop();
      daemons[place] = await born(machine);
    }
    await Promise.all(daemons.map(({ loop }) => loop.stop()));
    expect(deaths, `seed ${firstSeed}`).toBeGreaterThan(1);
    const told = `seed ${firstSeed}, ${deaths} deaths in ${second} s`;
    await expectWhole(test, run, told, { contacts: audienceOfThree });
  });
});
