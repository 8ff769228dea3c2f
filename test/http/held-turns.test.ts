// Finds the work that holds the event loop: every route, page of the console, tool of MCP and job
// over a large store, and bodies of 5 MB. No turn may work for over 100 ms. By hand, with every
// field of every body: `HELD_ROWS=1000000 RUN_TIMEOUT=3600 npx vitest run
// test/http/held-turns.test.ts`.
// Slow: bodies of 5 MB for every route, and a store of 100,000 rows.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ZodObject } from 'zod';
import { plainPaths } from '../../daemon/http/openapi/plain-routes.ts';
import { routes } from '../../daemon/http/routes.ts';
import { allTools } from '../../daemon/mcp/tools.ts';
import { serviceJobs } from '../../daemon/scheduler/service-jobs.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { updateOrganization } from '../../src/access/organizations/organizations.ts';
import type { Route } from '../../src/core/api/route.ts';
import { createSearchFiller } from '../../src/outbound/messages/lists/search.ts';
import { createSealer } from '../../src/receipts/sealer.ts';
import { fillPages, findPaths, type Post } from '../console/fixture.ts';
import { type Browser, consoleOver, type World } from '../console/world.ts';
import { recordTurns } from '../support/work-time.ts';
import { largeBodies, unknownFields } from './large-bodies.ts';
import { fillStore } from './large-store.ts';
import { inThread, pathOf, type Resource, type Row, resources, rows } from './permission-rows.ts';
import { type PermissionWorld, permissionWorld } from './permission-world.ts';

const byHand = process.env['HELD_ROWS'];
const count = Number(byHand ?? 100_000);
/** Requests that arrive together, and sends with 2 MB of attachments. */
const [listsAtOnce, sendsAtOnce] = byHand ? [300, 100] : [100, 12];
const longestJobMs = byHand ? 60_000 : 1_000;
const mostHeldMs = 100;
/** Bytes and values of the arguments of a call, below the bounds of its body. */
const mostOfCall = [4_900_000, 19_000] as const;
const yearsMs = 400 * 24 * 3_600_000;

let world: PermissionWorld;
let face: World;
let operator: Browser;
let paths: ReadonlyMap<string, string>;
let serial = 0;

beforeAll(async () => {
  world = await permissionWorld('sqlite');
  face = consoleOver(world.test);
  operator = await face.operator();
  const post: Post = (path, body, key) => face.api('POST', path, body, key);
  await fillPages(post, await face.firstMailbox());
  paths = await findPaths(async (path) => (await operator.get(path)).body);
  const { app } = world.test;
  // A key without an index needs a further filter.
  await updateOrganization(app, world.own.organizationId, { metadataKeys: ['orderId'] });
  await createSearchFiller(app, { isPressing: () => false, isWorking: () => false }).fill();
  await fillStore(app, world.own, count);
}, 600_000);
afterAll(async () => {
  await face.http.close(0);
  await world.close();
});

/** A piece of work with its name. */
type Work = [name: string, run: () => Promise<unknown>];

/** Makes works that are done in order. */
type Works = () => AsyncIterable<Work>;

/**
 * Does works one after the other; returns the milliseconds of the works that held a turn for too
 * long, and the errors of works that failed.
 */
async function heldOnce(works: AsyncIterable<Work>): Promise<Record<string, number | string>> {
  const record = recordTurns();
  const failed: Record<string, string> = {};
  for await (const [name, run] of works) {
    const work = () =>
      run().catch((error: Error) => {
        failed[name] = error.message;
      });
    await record.during(name, work);
  }
  const longest = [...(await record.end())].sort(([, a], [, b]) => b - a);
  if (byHand) process.stdout.write(`${JSON.stringify(longest.slice(0, 10), null, 1)}\n`);
  const held = longest.filter(([, ms]) => ms > mostHeldMs);
  return { ...failed, ...Object.fromEntries(held.map(([name, ms]) => [name, Math.round(ms)])) };
}

/** Does works as `heldOnce`, up to `tries` times while they hold a turn for too long. */
async function heldBy(works: Works, tries: number): Promise<Record<string, number | string>> {
  let held = await heldOnce(works());
  for (let tried = 1; tried < tries && Object.keys(held).length > 0; tried += 1) {
    held = await heldOnce(only(works(), new Set(Object.keys(held))));
  }
  return held;
}

async function* only(works: AsyncIterable<Work>, names: ReadonlySet<string>) {
  for await (const work of works) if (names.has(work[0])) yield work;
}

interface Answered {
  status: number;
  bytes: number;
}

/** Sends a request as the owner, and reads the whole answer without keeping it. */
async function send(
  method: Route['method'],
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answered> {
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const type = payload === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await face.http.inject({
    ...{ method, url, payloadAsStream: true },
    headers: { 'x-api-key': world.test.apiKey, ...type, ...headers },
    ...(payload !== undefined && { payload }),
  });
  let bytes = 0;
  for await (const chunk of answer.stream()) bytes += (chunk as Buffer).length;
  return { status: answer.statusCode, bytes };
}

/** @throws Error if the work was refused: a refusal is quick, and proves nothing */
async function expectStatus(status: number, answered: Promise<Answered>): Promise<Answered> {
  const answer = await answered;
  if (answer.status !== status) throw new Error(`answered ${answer.status}, not ${status}`);
  return answer;
}

/** Returns the parts of a request that a route accepts, on a resource that it may use up. */
async function acceptedBy({ method, path }: Route) {
  const row: Row | undefined = rows[`${method} ${path}`];
  if (!row) throw new Error(`${method} ${path} has no row in permission-rows.ts`);
  serial += 1;
  const ofKind = row.on && (row.spends ? await world.own.fresh(row.on) : world.own.shared[row.on]);
  const id = ofKind ?? null;
  return {
    url: pathOf(path, row, world.own, id),
    params: { ...(id !== null && { id, slug: id, familyId: id }), ...row.params?.(world.own, id) },
    query: row.query ?? '',
    body: row.body?.(world.own, serial),
    headers: row.headers?.(serial) ?? {},
    status: row.gives,
  };
}

async function* everyRoute(): AsyncGenerator<Work> {
  for (const route of routes) {
    const { url, query, body, headers, status } = await acceptedBy(route);
    const name = `${route.method} ${route.path}`;
    yield [name, () => expectStatus(status, send(route.method, url + query, body, headers))];
  }
}

/** Reads each path that no route describes, except streams and repositories. */
async function* everyPlainPath(): AsyncGenerator<Work> {
  for (const { method, path } of plainPaths) {
    if (method !== 'GET' || path.includes('{id}') || path.endsWith('/stream')) continue;
    const url = path.replace('{area}', 'messages').replace('{token}', 'x');
    const status = path.endsWith('{token}') ? 404 : path === '/' ? 302 : 200;
    yield [`GET ${path}`, () => expectStatus(status, send('GET', url))];
  }
}

/** Returns true for a list by pages; false for a list by cursor. */
function isPaged(path: string): boolean {
  const list = routes.find((route) => route.method === 'GET' && route.path === path);
  return list?.query instanceof ZodObject && 'page' in list.query.shape;
}

async function* everyList(): AsyncGenerator<Work> {
  for (const { path, samples = {} } of Object.values<Resource>(resources)) {
    const filters = Object.entries(samples).map(([name, value]) => {
      const text = typeof value === 'string' ? value : value(world.own);
      return `${name}=${encodeURIComponent(text)}`;
    });
    const pages = isPaged(path) ? ['page=2', `page=${count / 100}`] : [];
    for (const filter of [...filters, ...pages]) {
      const url = `${path}?limit=100&${filter}`;
      yield [`GET ${url}`, () => expectStatus(200, send('GET', url))];
    }
  }
}

async function* everyBody(): AsyncGenerator<Work> {
  for (const route of routes.filter(({ body }) => body)) {
    const { url, body } = await acceptedBy(route);
    const bodies = largeBodies(route, body);
    if (byHand) bodies.set('unknown fields', unknownFields);
    for (const [part, make] of bodies) {
      if (!byHand && !['all fields', 'entries'].includes(part)) continue;
      const payload = make();
      yield [`${route.method} ${route.path}: ${part}`, () => send(route.method, url, payload)];
    }
  }
  const payload = unknownFields();
  yield ['POST /v1/contacts: unknown fields', () => send('POST', '/v1/contacts', payload)];
}

async function* everyPage(): AsyncGenerator<Work> {
  for (const [path, url] of paths) yield [path, () => operator.get(url)];
}

function callTool(name: string, args: string): Promise<Answered> {
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
  const accept = 'application/json, text/event-stream';
  return send('POST', '/mcp', call, { accept });
}

async function* everyTool(): AsyncGenerator<Work> {
  for (const { name, route, fields } of allTools()) {
    const { params, query, body } = await acceptedBy(route);
    const named: Record<string, string> = params;
    const args = JSON.stringify({
      ...Object.fromEntries(fields.path.map((field) => [field, named[field]])),
      ...Object.fromEntries(new URLSearchParams(query)),
      ...(fields.body === 'whole' ? { body } : (body as object)),
    });
    yield [name, () => expectStatus(200, callTool(name, args))];
  }
  const unknown = unknownFields(...mostOfCall);
  yield ['a call with 5 MB of unknown fields', () => callTool('contacts_create', unknown)];
}

const together = (times: number, run: () => Promise<Answered>) =>
  Promise.all(Array.from({ length: times }, run));

async function* crowds(): AsyncGenerator<Work> {
  for (const path of ['/v1/contacts', '/v1/messages', '/v1/events']) {
    yield [
      `lists of ${path}`,
      () => together(listsAtOnce, () => expectStatus(200, send('GET', `${path}?limit=100`))),
    ];
  }
  const attached = { filename: 'a.bin', contentType: 'application/octet-stream' };
  const content = Buffer.alloc(2_000_000, 'svc').toString('base64');
  const mail = JSON.stringify({
    ...{ channel: 'email', to: [{ email: 'delivered@simulator.test' }] },
    email: { subject: 'x', text: 'x', attachments: [{ ...attached, content }] },
  });
  yield [
    'sends with attachments',
    () => together(sendsAtOnce, () => expectStatus(201, send('POST', '/v1/messages', mail))),
  ];
}

/** Fewer bytes of an export than any contact has. */
const leastOfContact = 100;

async function exportAll(): Promise<void> {
  const { bytes } = await expectStatus(200, send('GET', '/v1/contacts/export?format=ndjson'));
  if (bytes < leastOfContact * count) throw new Error(`the export ended after ${bytes} bytes`);
}

async function* largeWork(): AsyncGenerator<Work> {
  yield ['the export of all contacts', exportAll];
  const { threadedMailbox, webhook } = world.own.shared;
  const { threadId } = inThread(world.own, threadedMailbox);
  const thread = `/v1/mailboxes/${threadedMailbox}/threads/${threadId}`;
  await send('DELETE', thread);
  yield ['the deletion of a thread for good', () => send('DELETE', thread)];
  const replay = `/v1/webhooks/${webhook}/replay`;
  yield ['a replay of all events', () => send('POST', replay, { events: ['*'] })];
}

async function* everyJob(): AsyncGenerator<Work> {
  const { app, clock } = world.test;
  clock.set(clock.now() + yearsMs);
  Object.assign(app.config.retention, { messagesDays: 30, contentDays: 30, auditDays: 30 });
  const surroundings = { isPressing: () => false, isWorking: () => false };
  const authenticator = createAuthenticator(app);
  const parts = { authenticator, sealer: createSealer(app), surroundings };
  for (const job of serviceJobs(app, parts)) {
    const run = async () => {
      const stopping = new AbortController();
      let isOver = false;
      const ended = job.run(stopping.signal).finally(() => {
        isOver = true;
      });
      const stopAt = performance.now() + longestJobMs;
      while (!isOver) {
        await clock.advance(1_000);
        if (performance.now() > stopAt) stopping.abort();
      }
      await ended;
    };
    yield [`job: ${job.name}`, run];
  }
}

/** Tries, as reading 5 MB takes half of the bound, and on a busy machine at times all of it. */
const triesOfBodies = 3;

describe('no turn of the event loop works for over 100 ms', () => {
  it.each([
    ['by any route', everyRoute],
    ['by any path without a route', everyPlainPath],
    ['by any list, filtered or far behind', everyList],
    ['by any page of the console', everyPage],
    ['by any tool of MCP', everyTool],
    ['by large bodies', everyBody, triesOfBodies],
    ['by requests that arrive together', crowds],
    ['by work over many rows', largeWork],
    ['by any job', everyJob],
  ] as [string, Works, number?][])(
    '%s',
    { timeout: 1_800_000 },
    async (_name, works, tries = 1) => {
      expect(await heldBy(works, tries)).toEqual({});
    },
  );
});
