// A store in trouble: each page and form answers with a page that says so, never with JSON.
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pages } from '../../daemon/console/pages/pages.ts';
import { type Answer, type Browser, consoleWorld, problemOf, type World } from './world.ts';

const paths = pages.map(({ path }) => `/console${path.replaceAll(/:\w+/g, 'x')}`);
const type = 'text/html; charset=utf-8';
/** Tables of the look-up of a session. */
const ofSession = /\b(?:console_sessions|api_keys|organizations)\b/;

describe('while the store cannot be used', () => {
  let world: World;
  let browser: Browser;
  let restore: () => void;
  beforeEach(async () => {
    world = await consoleWorld();
    browser = await world.signIn(world.test.apiKey);
  });
  afterEach(async () => {
    restore();
    await world.close();
  });

  /** Lets statements fail, but those that name one of these tables. */
  function fail(except: RegExp | null): void {
    const statement = Object.getPrototypeOf(new Database(':memory:').prepare('select 1'));
    const kept = { all: statement.all, get: statement.get, run: statement.run };
    restore = () => Object.assign(statement, kept);
    for (const name of ['all', 'get', 'run'] as const) {
      statement[name] = function (this: { source: string }, ...values: unknown[]) {
        if (except?.test(this.source)) return kept[name].apply(this, values);
        throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR');
      };
    }
  }

  const isTrouble = ({ status, headers, body }: Answer) => {
    expect([status, headers['content-type']]).toEqual([503, type]);
    expect(headers['retry-after']).toBeDefined();
    expect(problemOf(body)).toMatch(/The store cannot be (?:used|read) now/);
  };

  it('every page says so', async () => {
    fail(null);
    for (const path of [...paths, '/console/invitation/x', '/console/link/x']) {
      isTrouble(await browser.get(path));
    }
  });

  it('every page that asks routes says so, with a session that was found', async () => {
    fail(ofSession);
    let refused = 0;
    for (const path of paths) {
      const answer = await browser.get(path);
      expect([path, answer.headers['content-type']]).toEqual([path, type]);
      expect(answer.status).not.toBe(500);
      if (answer.status !== 503) continue;
      refused += 1;
      expect(answer.body).toMatch(/The store cannot be (?:used|read) now/);
    }
    // Pages of an id that nobody has are refused before they ask the store.
    expect(refused).toBeGreaterThan(15);
  });

  it('a form says what became of it', async () => {
    const [, _form = ''] =
      /name="_form" value="([^"]*)"/.exec((await browser.get('/console')).body) ?? [];
    fail(null);
    const headers = { cookie: browser.cookie, 'content-type': 'application/x-www-form-urlencoded' };
    const payload = new URLSearchParams({
      _form,
      _action: 'make',
      address: 'a@b.example',
    }).toString();
    const answer = await world.http.inject({
      method: 'POST',
      url: '/console/contacts',
      headers,
      payload,
    });
    expect([answer.statusCode, answer.body]).toEqual([503, expect.stringContaining('go back')]);
  });
});
