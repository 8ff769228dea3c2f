// Hostile text in each field of each answer of the API: a page has the same elements as with
// harmless text. `TEXTS=all` tries each text in each field; without it, every tenth from a random
// one on.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryOf } from '../../daemon/console/api.ts';
import { drawPage } from '../../daemon/console/layout.ts';
import { type Asked, matchPath } from '../../daemon/console/page.ts';
import { pages } from '../../daemon/console/pages/pages.ts';
import type { AskRoute } from '../../daemon/http/faces.ts';
import type { Doorway } from '../../src/core/api/route.ts';
import { ValidationError } from '../../src/platform/errors.ts';
import { plainly } from '../../src/platform/runtime/signs.ts';
import { ask, type Input } from '../../src/service/door/door.ts';
import { fillPages, findPaths, type Post } from './fixture.ts';
import { hostileTexts } from './hostile-texts.ts';
import { consoleWorld, elementsOf, liveAttributesOf, type World } from './world.ts';

const assets = {
  style: '/console/assets/x.css',
  script: '/console/assets/x.js',
  passkeys: '/console/assets/passkeys.js',
  icon: '/console/assets/x.svg',
};
const instant = /^\d{4}-\d\d-\d\d(?:T|$)/;
/** Ids of resources: pages ask further routes by them. */
const id = /^[a-z]{2,20}_[0-9a-hjkmnp-tv-z]{16,26}$/;
/**
 * Parts that the service itself writes: addresses of files, a trait, and the version that a page
 * asks for next.
 */
const ours = new Set(['storageUrls', 'latestVersion', 'by']);

const step = process.env['TEXTS'] === 'all' ? 1 : 10;
const seed = Number(process.env['SEED'] ?? Date.now() % step);

let world: World;
let paths: ReadonlyMap<string, string>;
/** Answers of routes, by their names with the questions. */
const answers = new Map<string, Promise<unknown>>();

beforeAll(async () => {
  world = await consoleWorld();
  const operator = await world.operator();
  const post: Post = (path, body, key) => world.api('POST', path, body, key);
  await fillPages(post, await world.firstMailbox());
  paths = await findPaths(async (path) => (await operator.get(path)).body);
});
afterAll(() => world.close());

/** Returns the question that a page asks when it is filled with harmless texts. */
function harmlessly(query: object): object {
  const given = Object.entries(query);
  return Object.fromEntries(
    given.map(([name, value]) => [name, hostileTexts.includes(value) ? 'x0' : value]),
  );
}

/** Puts a text into every field that a stranger could fill. */
function filled(value: unknown, next: () => string): unknown {
  if (typeof value === 'string') return instant.test(value) || id.test(value) ? value : next();
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((one) => filled(one, next));
  if (typeof value !== 'object' || Buffer.isBuffer(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, ours.has(name) ? one : filled(one, next)]),
  );
}

async function answer(way: Doorway, input: Input = {}): Promise<unknown> {
  if (way.method !== 'GET' && !way.name.startsWith('render')) {
    throw new Error('a look changes nothing');
  }
  const { app, operator } = world.test;
  const question = JSON.stringify([way.name, input]);
  const known = answers.get(question) ?? ask({ app }, operator, way, input);
  answers.set(question, known);
  return known;
}

function askedFor(url: string, params: Record<string, string>, next: () => string): Asked {
  const { app, caller } = world.test;
  const { pathname, searchParams } = new URL(url, 'http://self');
  const askRoute: AskRoute = async (way, { query = {}, ...input } = {}) =>
    filled(
      await answer(way, { ...input, query: queryOf(query) }).catch((error: unknown) => {
        if (!(error instanceof ValidationError)) throw error;
        // A page asks by a text that was filled in, and that no store would hold.
        return answer(way, { ...input, query: queryOf(harmlessly(query)) });
      }),
      next,
    ) as never;
  const timezone = 'Europe/Berlin';
  return {
    ask: askRoute,
    app,
    session: {
      token: 'token',
      caller,
      organization: { name: 'First', timezone },
      proofs: {},
      strength: 'any',
      isStrongEnough: true,
      isAlone: false,
      hasToast: false,
      createdAt: 0,
    },
    visitor: { browser: 'Firefox on Windows', address: '127.0.0.1' },
    browserToken: null,
    authenticate: async () => null,
    newToken: () => 'token',
    drawn: async () => ({ title: '', body: null }),
    caller,
    config: app.config,
    now: app.clock.now(),
    timezone,
    path: pathname.slice('/console'.length),
    params,
    query: Object.fromEntries(searchParams),
    formToken: 'token',
    may: () => true,
  };
}

/** Draws a page with these texts in its answers; null for a file. */
async function draw(path: string, url: string, next: () => string): Promise<string | null> {
  const page = pages.find((one) => one.path === path);
  const params = page && matchPath(page, url.slice('/console'.length).split('?')[0] ?? '');
  if (!page || !params) throw new Error(`no page ${path}`);
  const asked = askedFor(url, params, next);
  const view = await page.show(asked);
  return 'bytes' in view ? null : drawPage(assets, pages, asked, view);
}

describe('hostile text', () => {
  it('has 200 kinds and more', () => {
    expect(new Set(hostileTexts).size).toBeGreaterThanOrEqual(200);
  });

  // A place to break a line follows each dot and @ of an address.
  const namesIn = (page: string) =>
    elementsOf(page).flatMap(({ nodeName }) => (nodeName === 'wbr' ? [] : nodeName));

  it(`adds no element, no handler and no link of another kind to any page (SEED=${seed})`, async () => {
    let drawn = 0;
    for (const [path, url] of paths) {
      let count = 0;
      const harmless = await draw(path, url, () => `x${count++}`);
      if (harmless === null) continue;
      const names = namesIn(harmless);
      for (let first = seed; first < hostileTexts.length; first += step) {
        let at = first;
        const next = () => hostileTexts[at++ % hostileTexts.length] ?? '';
        const page = (await draw(path, url, next)) ?? '';
        expect([path, first, namesIn(page)]).toEqual([path, first, names]);
        expect([path, first, liveAttributesOf(page)]).toEqual([path, first, []]);
        expect([path, plainly(page) === page]).toEqual([path, true]);
        drawn += 1;
      }
    }
    expect(drawn).toBeGreaterThan((20 * hostileTexts.length) / step);
  });
});
