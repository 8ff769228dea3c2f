// Every page that the token of a link opens is a `linkPage`, and keeps the promises of all of them.
import diagnostics from 'node:diagnostics_channel';
import { globSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpServer } from '../../../daemon/http/server.ts';
import { linkPages } from '../../../daemon/tracking/serve.ts';
import { confirmToken } from '../../../src/consent/opt-in/tokens.ts';
import { linkPage } from '../../../src/core/link-pages/link-page.ts';
import { brokenLink, plainLook } from '../../../src/core/link-pages/recipient-page.ts';
import { startProof } from '../../../src/identity/senders/proof.ts';
import { senders } from '../../../src/identity/senders/queries.ts';
import { createSender } from '../../../src/identity/senders/senders.ts';
import { linkToken } from '../../../src/outbound/unsubscribe-links/tokens.ts';
import { hashOfToken } from '../../../src/platform/runtime/tokens.ts';
import type { Store } from '../../../src/platform/store/db.ts';
import { optInWorld } from '../../consent/opt-in/opt-in-world.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const form = 'application/x-www-form-urlencoded';

/** Mounted paths with a token that are no pages: their reasons. */
const others: Readonly<Record<string, string>> = {
  '/t/*': 'a pixel and a redirect',
  '/storage/:token': 'a file',
  '/docs/:area': 'a page of the reference',
  '/console/*': 'pages of a session; test/console holds them',
};

/** Returns the keyless paths with a variable part, as a server with `more` mounts them. */
async function pathsWithToken(
  test: TestApp,
  more: (server: FastifyInstance) => void = () => {},
): Promise<string[]> {
  const mounted = new Set<string>();
  const onStart = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onRoute', ({ url }) => void mounted.add(url));
    more(fastify);
  };
  diagnostics.subscribe('fastify.initialization', onStart);
  const options = { routes: [], authenticate: async () => null, isQueueRunning: () => true };
  await createHttpServer(test.app, options).close();
  diagnostics.unsubscribe('fastify.initialization', onStart);
  return [...mounted].filter((path) => /[:*]/.test(path) && !path.startsWith('/v1/'));
}

const strangersAmong = (paths: readonly string[]) => {
  const known = [...linkPages.map(({ path }) => `${path}*`), ...Object.keys(others)];
  return paths.filter((path) => !known.includes(path));
};

/** Counts the transactions of a store that write; `stop` returns their number. */
function countWrites(store: Store): { stop(): number } {
  const { write } = store;
  let count = 0;
  const counting: Store['write'] = (work, durability) => {
    count += 1;
    return write(work, durability);
  };
  Object.assign(store, { write: counting });
  return {
    stop() {
      Object.assign(store, { write });
      return count;
    },
  };
}

describe('pages of links', () => {
  let test: TestApp;
  beforeEach(async () => {
    test = await testApp();
  });
  afterEach(() => test.close());

  it('are all mounted paths with a token, but for the listed ones', async () => {
    const paths = await pathsWithToken(test);
    expect(paths).toEqual(expect.arrayContaining(linkPages.map(({ path }) => `${path}*`)));
    expect(strangersAmong(paths)).toEqual([]);
  });

  it('are missed by a fourth page that is mounted by hand', async () => {
    const paths = await pathsWithToken(test, (server) => {
      server.get('/domains/:token', (_request, reply) => reply.type('text/html').send('<h1>'));
    });
    expect(strangersAmong(paths)).toEqual(['/domains/:token']);
  });

  it('have one source of headers and one reader of forms', () => {
    const files = globSync(['src/**/*.ts', 'daemon/**/*.ts']);
    const using = (word: RegExp) => files.filter((file) => word.test(readFileSync(file, 'utf8')));
    expect(using(/\brecipientPageHeaders\b/).sort()).toEqual([
      'src/core/link-pages/link-page.ts',
      'src/core/link-pages/recipient-page.ts',
    ]);
    expect(using(/\.formData\(\)/)).toEqual(['src/core/link-pages/link-page.ts']);
  });
});

describe.each(stores)('each page of a link on %s', (store) => {
  const { test, group, contact, add, turn } = optInWorld({ store });

  const address = 'ada@example.com';
  /** Returns an open link and the form of its button, for each page. */
  const links: Readonly<Record<string, () => Promise<{ token: string; body: string }>>> = {
    async '/u/'() {
      const { organizationId } = test.caller;
      const [groupId, messageId] = [await group(), test.app.newId('message')];
      const token = linkToken(test.app, { organizationId, groupId, messageId, address });
      return { token, body: 'List-Unsubscribe=One-Click' };
    },
    async '/c/'() {
      const { organizationId } = test.caller;
      const [groupId, contactId] = [await group(), await contact(address)];
      await add(groupId, contactId);
      await turn();
      const mailedAt = test.app.clock.now();
      const asked = { organizationId, groupId, contactId, mailedAt, address };
      return { token: confirmToken(test.app, asked), body: 'action=confirm' };
    },
    async '/verify/'() {
      const { organizationId } = test.caller;
      const { id } = await createSender(test.app, test.caller, { email: 'ada@gmail.example' });
      const token = 'a'.repeat(43);
      await test.app.store.write(async (trx) => {
        const row = await senders.get(trx, organizationId, id);
        await startProof(test.app, trx, row, { messageId: test.app.newId('message'), times: [] });
        const verification_token_hash = hashOfToken(token);
        await senders.update(trx, organizationId, id, { verification_token_hash });
      });
      return { token, body: 'action=verify' };
    },
  };

  const pageAt = (path: string) => linkPages.find((page) => page.path === path) ?? linkPages[0];
  const ask = async (path: string, method: string, token: string, body?: string) => {
    const asked = { method, path: `${path}${token}`, remoteAddress: null };
    const headers = { 'content-type': form };
    const sent = body === undefined ? {} : { body: Buffer.from(body) };
    const answer = await pageAt(path)?.serve(test.app, { ...asked, headers, ...sent });
    return answer ?? { status: 0, headers: {}, body: Buffer.from('') };
  };

  it('has a sample here', () => {
    expect(new Set(Object.keys(links))).toEqual(new Set(linkPages.map(({ path }) => path)));
  });

  describe.each(Object.entries(links))('%s', (path, make) => {
    it('answers a foreign, cut or long token with the page of a broken link', async () => {
      const { token, body } = await make();
      const cut = token.slice(0, -1);
      for (const wrong of ['', 'x', cut, `${token}x`, `${token}/x`, 'a'.repeat(2_001)]) {
        for (const method of ['GET', 'HEAD', 'POST']) {
          expect(await ask(path, method, wrong, body), `${method} ${wrong}`).toBe(brokenLink);
        }
      }
      for (const method of ['PUT', 'DELETE', 'OPTIONS', 'get']) {
        expect(await ask(path, method, token, body), method).toBe(brokenLink);
      }
    });

    it('changes nothing by GET, HEAD or a form without a wish', async () => {
      const { token } = await make();
      const writes = countWrites(test.app.store);
      const [before, headless] = [await ask(path, 'GET', token), await ask(path, 'HEAD', token)];
      expect([before.status, headless.status, headless.body.length]).toEqual([200, 200, 0]);
      expect(headless.headers).toEqual(before.headers);
      for (const body of [undefined, '', 'action=', 'action=other', '\xff']) {
        const { status, body: page } = await ask(path, 'POST', token, body);
        expect([status, page.toString()]).toEqual([400, before.body.toString()]);
      }
      expect(await ask(path, 'GET', `${token}?utm=x#y`)).toEqual(before);
      expect(writes.stop()).toBe(0);
    });

    it('acts by POST with neither cookie nor redirect', async () => {
      const { token, body } = await make();
      const before = await ask(path, 'GET', token);
      const writes = countWrites(test.app.store);
      const { status, headers, body: page } = await ask(path, 'POST', token, body);
      expect([status, writes.stop() > 0]).toEqual([200, true]);
      expect(page.toString()).not.toBe(before.body.toString());
      expect(headers).toEqual(before.headers);
      expect(Object.keys(headers)).toEqual([
        'cache-control',
        'content-security-policy',
        'content-type',
        'referrer-policy',
        'x-content-type-options',
        'x-robots-tag',
      ]);
    });
  });

  it('refuses a target without an organization on the tracking host of one', async () => {
    const page = linkPage({
      path: '/x/',
      find: () => ({ organizationId: null }),
      draw: async () => ({ status: 200, look: plainLook, html: '' }),
      act: async () => null,
    });
    const asked = { method: 'GET', path: '/x/y', headers: {}, remoteAddress: null };
    expect((await page.serve(test.app, asked))?.status).toBe(200);
    const { organizationId } = test.caller;
    expect(await page.serve(test.app, { ...asked, organizationId })).toBe(brokenLink);
  });
});
