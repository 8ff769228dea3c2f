// The pages of the console: who sees which page and button, strangers' text on each of them, and
// the same for every action. A browser is at work in browser.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { html, isKnownLink } from '../../daemon/console/html.ts';
import { pages } from '../../daemon/console/pages/pages.ts';
import { everyPermission } from '../../src/core/api/permission.ts';
import { plainly } from '../../src/platform/runtime/signs.ts';
import { fillPages, findPaths, type Post, turned } from './fixture.ts';
import {
  type Answer,
  type Browser,
  consoleWorld,
  elementsOf,
  liveAttributesOf,
  type World,
} from './world.ts';

let world: World;
let operator: Browser;
/** A path of each page, with ids that exist. */
let paths: ReadonlyMap<string, string>;

beforeAll(async () => {
  world = await consoleWorld();
  operator = await world.operator();
  const post: Post = (path, body, key) => world.api('POST', path, body, key);
  await fillPages(post, await world.firstMailbox());
  paths = await findPaths(async (path) => (await operator.get(path)).body);
});
afterAll(() => world.close());

const shown = () => [...paths].map(([path, url]) => [path, url] as const);

/** Asks for a page. */
type Get = (url: string) => Promise<Answer>;

/** Returns a function that asks for each page once. */
function onceBy(browser: Browser): Get {
  const answers = new Map<string, Promise<Answer>>();
  return (url) => {
    const answer = answers.get(url) ?? browser.get(url);
    answers.set(url, answer);
    return answer;
  };
}

/** Returns the paths that the areas and the tabs of their first pages list. */
async function listedTo(get: Get): Promise<Set<string>> {
  const listed = new Set<string>();
  const linksIn = async (path: string, place: RegExp) => {
    const [part = ''] = place.exec((await get(`/console${path}`)).body) ?? [];
    return [...part.matchAll(/href="\/console([^"]*)"/g)].map(([, found = '']) => found);
  };
  for (const path of await linksIn('', /<nav class="side".*?<\/nav>/s)) {
    listed.add(path);
    for (const tab of await linksIn(path, /<nav class="tabs".*?<\/nav>/s)) listed.add(tab);
  }
  return listed;
}

describe('every page', () => {
  it('is answered to the operator', async () => {
    for (const [path, url] of shown()) {
      expect([path, (await operator.get(url)).status]).toEqual([path, 200]);
    }
    const missing = pages.map(({ path }) => path).filter((path) => !paths.has(path));
    expect(missing).toEqual([]);
  });

  // Slow: 70 pages for a key of each of 60 permissions.
  it('is answered to a key with its permission, and to no other; areas and their tabs list exactly those', {
    timeout: 300_000,
  }, async () => {
    const places = await listedTo(onceBy(operator));
    expect(places.size).toBeGreaterThan(18);
    for (const permission of everyPermission()) {
      const { key } = await world.keyWith(permission);
      const get = onceBy(await world.signIn(key));
      const listed = await listedTo(get);
      for (const { path, needs } of pages) {
        const may = needs === null || needs === permission;
        if (places.has(path))
          expect([permission, path, listed.has(path)]).toEqual([permission, path, may]);
        const url = paths.get(path);
        if (!url) continue;
        const { status } = await get(url);
        expect([permission, path, status]).toEqual([permission, path, may ? 200 : 403]);
      }
    }
  });

  it('refuses each action to a key that lacks its permission, and shows no button for it', async () => {
    let refused = 0;
    for (const { path, needs, actions = {} } of pages) {
      const url = paths.get(path);
      if (!url || needs === null || needs === 'operator' || needs === 'any') continue;
      const { key } = await world.keyWith(needs);
      const browser = await world.signIn(key);
      const { body } = await browser.get(url);
      for (const [name, action] of Object.entries(actions)) {
        if (action.needs === needs) continue;
        expect(body).not.toContain(`value="${name}"`);
        expect([path, name, (await browser.post(url, { _action: name })).status]).toEqual([
          path,
          name,
          403,
        ]);
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(10);
  });

  it.each([
    ['of no name', {}],
    ['of an inherited name', { _action: 'constructor' }],
    ['of another page', { _action: 'revoke' }],
  ])('refuses an action %s', async (_name, fields) => {
    expect((await operator.post('/console/domains', fields)).status).toBe(400);
  });

  it('offers filters that the API takes', async () => {
    let tried = 0;
    for (const [path, url] of shown()) {
      const { body } = await operator.get(url);
      for (const [, name, options = ''] of body.matchAll(
        /<select name="(\w+)">(.*?)<\/select>/gs,
      )) {
        for (const [, value] of options.matchAll(/value="([^"]+)"/g)) {
          const filtered = `${url}?${name}=${value}`;
          expect([path, filtered, (await operator.get(filtered)).status]).toEqual([
            path,
            filtered,
            200,
          ]);
          tried += 1;
        }
      }
    }
    expect(tried).toBeGreaterThan(20);
  });

  it('does not exist under another name', async () => {
    for (const path of ['/console/x', '/console/messages/a/b/c', '/console/assets/../x']) {
      expect([path, (await operator.get(path)).status]).toEqual([path, 404]);
    }
  });
});

describe('strangers’ text', () => {
  it('is shown as text on every page: no script, no handler, no link of another kind', async () => {
    let probes = 0;
    for (const [path, url] of shown()) {
      const { body, headers } = await operator.get(url);
      if (path.endsWith('/html')) {
        const policy = headers['content-security-policy'];
        expect([path, policy]).toEqual([
          path,
          expect.stringMatching(/^sandbox; default-src 'none'/),
        ]);
        continue;
      }
      // A download, which no browser draws.
      if (String(headers['content-type']).startsWith('message/rfc822')) continue;
      probes += body.split('&lt;script>alert(1)').length - 1;
      for (const { nodeName, attrs = [] } of elementsOf(body)) {
        const attributes = new Map(attrs.map(({ name, value }) => [name, value]));
        if (nodeName === 'script')
          expect(attributes.get('src')).toMatch(
            /^\/console\/assets\/(?:console|passkeys)-\w+\.js$/,
          );
      }
      const images = elementsOf(body).filter(({ nodeName }) => nodeName === 'img');
      expect([path, images.length, liveAttributesOf(body)]).toEqual([path, 0, []]);
      expect([path, body.includes('\u202E')]).toEqual([path, false]);
    }
    expect(probes).toBeGreaterThan(5);
  });

  it('has signs for controls and marks of direction, and keeps emoji', () => {
    expect(plainly(turned)).toBe('invoice⟨U+202E⟩fdp.exe');
    expect(plainly('a\u0000b\u200Bc\u{E0041}\ttab\nline')).toBe(
      'a⟨U+0000⟩b⟨U+200B⟩c⟨U+E0041⟩\ttab\nline',
    );
    expect(plainly('👩\u200D💻 ❤\uFE0F\u200D🔥')).toBe('👩\u200D💻 ❤\uFE0F\u200D🔥');
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    '//evil.test',
    '/evil',
    'vbscript:x',
    ' javascript:x',
    'https:',
    '',
  ])('makes no link to %j', (target) => {
    expect(isKnownLink(target)).toBe(false);
    const { props } = html`<a href=${target}>x</a>` as unknown as { props: object };
    expect(props).not.toHaveProperty('href');
  });

  it('can bring no handler and no raw HTML into a page', () => {
    const spread = { onclick: 'alert(1)' };
    expect(() => html`<a ...${spread}>x</a>`).toThrow(TypeError);
    expect(() => html`<p dangerouslySetInnerHTML=${{ __html: 'x' }} />`).toThrow(TypeError);
    expect(() => html`<iframe srcdoc="x" />`).toThrow(TypeError);
  });
});
