// A daemon dies while templates are staged, saved, pushed, restored and published; a request
// without an answer is repeated. Each change is stored completely or not at all, once for any
// number of requests, and a repeat gets the same answer. Each seed is one death, before, within or
// after one of the transactions. KILL_POINTS=300 is a soak; KILL_SEED=<the seed in the name of a
// failed test> repeats one.
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareCommit } from '../../../src/content/git/commit.ts';
import { historyOf, mainRef } from '../../../src/content/git/repository.ts';
import type { TemplateFiles } from '../../../src/content/rendering/compiled.ts';
import { publishTemplate } from '../../../src/content/templates/publish.ts';
import { headFiles } from '../../../src/content/templates/workspace/begin.ts';
import {
  bundleType,
  importStream,
  receivePush,
} from '../../../src/content/templates/workspace/incoming.ts';
import {
  restoreCommit,
  saveWorkspace,
  stageFiles,
} from '../../../src/content/templates/workspace/workspace.ts';
import type { App } from '../../../src/core/app.ts';
import type { Store } from '../../../src/platform/store/db.ts';
import { inLong, stores } from '../../support/command.ts';
import { type KillPoint, moments, mortal } from '../../support/mortal.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { packOfObjects } from '../git/packs.ts';
import { standingOf } from './standing.ts';
import { filesOf, guardOf, makeTemplate } from './workspace/fixtures.ts';

const givenSeed = process.env.KILL_SEED;
const firstSeed = Number(givenSeed ?? Math.floor(Math.random() * 1_000_000));
const points = givenSeed ? 1 : Number(process.env.KILL_POINTS ?? inLong(6, 2));
const seeds = Array.from({ length: points }, (_, index) => firstSeed + index);

/** A request that any daemon may process, with its answer. */
type Request = (app: App) => Promise<unknown>;

/** Makes a request of one kind from the present rows. */
type Way = (test: TestApp, id: string, word: string) => Promise<Request>;

const stage: Way = async ({ app, caller }, id, word) => {
  const input = { ...(await guardOf(app, caller, id)), files: filesOf(word) };
  return (daemon) => stageFiles(daemon, caller, id, input);
};

const save: Way = async ({ app, caller }, id, message) => {
  const input = { ...(await guardOf(app, caller, id)), message };
  return (daemon) => saveWorkspace(daemon, caller, id, input);
};

/** Restores the first commit. */
const restore: Way = async ({ app, caller }, id) => {
  const [first] = await historyOf(app.store.db, id, 2, 1);
  const input = { ...(await guardOf(app, caller, id)), commit: first?.oid ?? '' };
  return (daemon) => restoreCommit(daemon, caller, id, input);
};

const publish: Way = async ({ caller }, id) => {
  return (daemon) => publishTemplate(daemon, caller, id);
};

/** Makes two commits on the head, as a git client does. */
async function commitsOn({ app }: TestApp, id: string, word: string) {
  const { commit: from, files } = await headFiles(app.store.db, id);
  const make = (parent: string, more: TemplateFiles, message: string) =>
    prepareCommit(null, id, {
      files: { ...files, ...more },
      parents: [parent],
      author: { name: 'Ada', email: 'ada@example.com' },
      message,
      at: app.clock.now(),
    });
  const first = await make(from, { 'partials/a.html': word }, `${word} 1`);
  const second = await make(first.oid, { 'partials/b.html': word }, `${word} 2`);
  const objects = new Map([...first.objects, ...second.objects].map((one) => [one.oid, one]));
  return { from, to: second.oid, pack: packOfObjects([...objects.values()]) };
}

const push: Way = async (test, id, word) => {
  const pushed = await commitsOn(test, id, word);
  return (daemon) => receivePush(daemon, test.caller, id, pushed);
};

/** Uploads a bundle that extends main. */
const bundle: Way = async (test, id, word) => {
  const { to, pack } = await commitsOn(test, id, word);
  const head = `# v2 git bundle\n${to} ${mainRef}\n\n`;
  async function* chunks() {
    yield Buffer.from(head);
    yield pack;
  }
  return (daemon) => importStream(daemon, test.caller, id, { type: bundleType, chunks: chunks() });
};

/** Requests of each step, with the words in them; those of one step run concurrently. */
const steps: readonly (readonly (readonly [way: Way, word: string, times?: number])[])[] = [
  [[stage, 'second']],
  [[save, 'second', 2]],
  [[publish, '', 2]],
  [[push, 'pushed', 2]],
  [[stage, 'third']],
  [
    [save, 'third'],
    [publish, ''],
  ],
  [[restore, '', 2]],
  [[save, 'restored']],
  [[bundle, 'bundled']],
  [[publish, '']],
];

/** Deaths: the step, and its transaction. */
const deaths = steps.flatMap((step, at) => step.map((_, index) => ({ at, nth: index + 1 })));

/** Chooses every step, transaction and moment in turn. */
function deathOf(seed: number): KillPoint & { at: number } {
  const death = deaths[Math.floor(seed / moments.length) % deaths.length] as (typeof deaths)[0];
  return { ...death, moment: moments[seed % moments.length] ?? 'after' };
}

const keyed: readonly Way[] = [stage, save, restore];
const history = 'Create the template,second,pushed 1,pushed 2,third,restored,bundled 1,bundled 2';
/**
 * Commits of the versions: a publication beside a save takes the commit before or after it; a
 * repeat, both.
 */
const possibleVersions = ['2,4,8', '2,5,8', '2,4,5,8'];

describe.each(stores)('a daemon that dies while a template changes, on %s', (store) => {
  let test: TestApp;
  /**
   * Dies in each test; its other requests find it alive, as a start of its compile worker takes
   * long.
   */
  let victim: App;
  let write: Store['write'];
  /** The store of the running request: that of a dead daemon stays dead. */
  const lives = new AsyncLocalStorage<Store>();
  beforeAll(async () => {
    test = await testApp({ store });
    victim = await test.another();
    write = victim.store.write;
    const writeOfLife: Store['write'] = (work, durability) =>
      (lives.getStore()?.write ?? write)(work, durability);
    Object.assign(victim.store, { write: writeOfLife });
  });
  afterAll(() => test.close());

  /** Runs the requests on the victim, which dies meanwhile. */
  async function die(death: KillPoint, requests: readonly Request[]): Promise<void> {
    const dying = { ...victim, store: { ...victim.store, write } };
    const died = mortal(dying, death).then(() => 'died');
    const all = lives.run(dying.store, () =>
      Promise.all(requests.map((request) => request(victim))),
    );
    expect(await Promise.race([all, died])).toBe('died');
  }

  it.each(seeds)('stores each change completely and once (KILL_SEED=%i)', async (seed) => {
    const death = deathOf(seed);
    const told = JSON.stringify({ seed, ...death });
    const id = await makeTemplate(test.app, test.caller);
    const answered: { request: Request; answer: unknown }[] = [];
    for (const [index, step] of steps.entries()) {
      const asked: { way: Way; request: Request }[] = [];
      for (const [way, word, times = 1] of step) {
        const request = await way(test, id, word);
        for (let time = 0; time < times; time++) asked.push({ way, request });
      }
      if (index === death.at) {
        await die(
          death,
          asked.map(({ request }) => request),
        );
        await standingOf(test.app, id);
      }
      const answers = await Promise.all(asked.map(({ request }) => request(test.app)));
      await standingOf(test.app, id);
      for (const [place, { way, request }] of asked.entries()) {
        if (keyed.includes(way)) answered.push({ request, answer: answers[place] });
      }
    }
    const end = await standingOf(test.app, id);
    expect(end.commits.join(), told).toBe(history);
    expect(end, told).toMatchObject({ overlay: {}, revision: 9 });
    expect(possibleVersions, told).toContain(end.versions.join());
    for (const { request, answer } of answered) {
      expect(await request(test.app), told).toEqual(answer);
    }
    expect(await standingOf(test.app, id), told).toEqual(end);
  });
});
