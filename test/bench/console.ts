// `npx node test/bench/console.ts [messages]`: each page of the console over a store with a million
// messages and 50,000 contacts on SQLite. Prints the p50 and p95 of 30 visits in the daemon's
// process (target: 60 ms), of searches (target: 100 ms), and the bytes of a first visit with all
// assets, compressed (target: 60 KB). Never asserted.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { routes } from '../../daemon/http/routes.ts';
import { createHttpServer } from '../../daemon/http/server.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { createKey } from '../../src/access/keys/keys.ts';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { findOrganizationByName } from '../../src/access/organizations/queries.ts';
import { makeLink } from '../../src/access/sessions/sessions.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { firstStart } from '../../src/service/first-start.ts';
import { openService } from '../../src/service/service.ts';
import { fillPages, findPaths, type Post } from '../console/fixture.ts';
import type { Made } from '../console/world.ts';
import { makeTemplate, seedMessages } from './lists.ts';
import { say, sayLoad, showProgress } from './progress.ts';

/** Texts of the searches: subjects, addresses, names, and words without a hit. */
const searched = [
  'One of a million',
  'one',
  'inbox@sandbox.test',
  'person777@shop.example',
  'person77',
  'Anna',
  'Anna Berg 4711',
  'refund',
  'nothing at all',
];
const contacts = 50_000;

const rows = Number(process.argv[2]) || 1_000_000;
const visits = 30;
const monthMs = 30 * 86_400_000;

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-console-'));
const { config } = loadConfig({ env: {}, cwd: dataDir, overrides: { dataDir } });
const app = await openService(config, await createLogger({ level: 'silent', pretty: false }));
const authenticator = createAuthenticator(app);
const server = createHttpServer(app, {
  routes,
  authenticate: (key) => authenticator.authenticate(key),
  sessions: authenticator,
  isQueueRunning: () => true,
});

/** Signs in as the operator of an organization; returns the cookie. */
async function signIn(organizationId: string): Promise<string> {
  const url = `/console/open/${await makeLink(app, organizationId)}`;
  const form = await server.inject({ method: 'GET', url });
  const [, token = ''] = /name="_form" value="([^"]*)"/.exec(form.body) ?? [];
  const [own = ''] = String(form.headers['set-cookie'] ?? '').split(';');
  const headers = { cookie: own, 'content-type': 'application/x-www-form-urlencoded' };
  const payload = new URLSearchParams({ _form: token }).toString();
  const answer = await server.inject({ method: 'POST', url, headers, payload });
  return String(answer.headers['set-cookie'] ?? '').split(';')[0] ?? '';
}

/** Imports contacts with frequent and rare names, 10,000 at once. */
async function importContacts(key: string): Promise<void> {
  const firstNames = ['Anna', 'Ben', 'Cem', 'Dilan', 'Eva', 'Finn', 'Gül', 'Hugo'];
  for (let at = 0; at < contacts; at += 10_000) {
    const lines = Array.from({ length: 10_000 }, (_, index) => {
      const number = at + index;
      return `person${number}@shop.example,${firstNames[number % 8]} Berg ${number}`;
    });
    const answer = await server.inject({
      method: 'POST',
      url: '/v1/contacts/import',
      headers: { 'x-api-key': key, 'content-type': 'text/csv' },
      payload: `email,name\n${lines.join('\n')}\n`,
    });
    if (answer.statusCode !== 200) throw new Error(`import: ${answer.body}`);
  }
}

try {
  await firstStart(app);
  const { id = '' } = (await findOrganizationByName(app.store.db, 'default')) ?? {};
  const operator = operatorOf(id);
  const stop = showProgress(`writing ${rows} messages`);
  const end = app.clock.now();
  await seedMessages(app, await makeTemplate(app, operator), rows, {
    from: end - monthMs,
    to: end,
  });
  stop();
  const { key: owner = '' } = await createKey(app, operator, {
    name: 'bench',
    role: 'owner',
    owner: 'person',
  });
  const ask = async (method: 'GET' | 'POST', url: string, body?: object, key = owner ?? '') => {
    const headers = { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) };
    const payload = body && JSON.stringify(body);
    const answer = await server.inject({ method, url, headers, ...(payload && { payload }) });
    if (answer.statusCode >= 400) throw new Error(`${url}: ${answer.body}`);
    return answer.json() as Made;
  };
  await importContacts(owner ?? '');
  const post: Post = (path, body, key) => ask('POST', path, body, key);
  const { items = [] } = await ask('GET', '/v1/mailboxes');
  await fillPages(post, items[0]?.id ?? '');
  const cookie = await signIn(id);
  const get = async (url: string) => {
    const answer = await server.inject({ method: 'GET', url, headers: { cookie } });
    if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode}`);
    return answer;
  };
  const paths = await findPaths(async (path) => (await get(path)).body);
  sayLoad();
  const figures = [];
  const hits = searched.map((q) => `/console/find/hits?q=${encodeURIComponent(q)}`);
  const asked = [...paths, ...hits.map((url, at) => [`search: ${searched[at]}`, url] as const)];
  for (const [page, url] of asked) {
    const times: number[] = [];
    for (let visit = 0; visit < 5; visit++) await get(url);
    for (let visit = 0; visit < visits; visit++) {
      const began = performance.now();
      await get(url);
      times.push(performance.now() - began);
    }
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number) => Number((sorted[Math.ceil(visits * share) - 1] ?? 0).toFixed(1));
    figures.push({ page, p50: at(0.5), p95: at(0.95) });
  }
  console.table(figures.toSorted((a, b) => b.p95 - a.p95));
  const first = await get('/console');
  const assets = [...first.body.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(
    ([, one = '']) => one,
  );
  const files = await Promise.all(assets.map((one) => get(one)));
  const bytes = [first, ...files].reduce(
    (all, { rawPayload }) => all + gzipSync(rawPayload).length,
    0,
  );
  say(`A first visit: ${bytes} bytes compressed, in ${1 + files.length} answers.`);
} finally {
  await server.close(0);
  await app.close();
  rmSync(dataDir, { recursive: true });
}
