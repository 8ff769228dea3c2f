// Every route by a member of each role, beside a key of that role marked person: the same status
// and the same answer, but for the differences of the table.
// Slow: each route for sixteen callers.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../daemon/http/routes.ts';
import { createHttpServer, type HttpServer } from '../../daemon/http/server.ts';
import { renameSelf } from '../../src/access/members/own-name.ts';
import type { Caller } from '../../src/core/api/route.ts';
import { type Role, roles } from '../../src/core/config/roles.ts';
import { join, keyCaller, personOf, present } from '../access/members/people.ts';
import { pathOf, rows } from './permission-rows.ts';
import { type PermissionWorld, permissionWorld } from './permission-world.ts';

/** Text in which an answer differs, and the reason. */
type Difference = readonly [text: RegExp, reason: string];

const decided: Difference = [/"decidedBy":\{"kind":"\w+"/, 'a member is `user`, a key is `key`'];
const started: Difference = [/"actorEmail":[^,]*/, 'a run has the address of a member alone'];

const differences: Readonly<Record<string, Difference>> = {
  'POST /v1/mailboxes/{id}/actions/{actionId}/approve': decided,
  'POST /v1/mailboxes/{id}/actions/{actionId}/reject': decided,
  'POST /v1/campaigns/{id}/runs': started,
  'POST /v1/campaigns/{id}/runs/{runId}/retry': started,
  'POST /v1/mailboxes/{id}/threads/{threadId}/labels': [
    /"labels":\[[^\]]*\]/,
    'the thread keeps the label of the call before',
  ],
};

/** Returns an answer without ids, times, secrets and numbers of tests. */
function masked(text: string): string {
  return text
    .replaceAll(/\b(?:mem|key)_[0-9a-z]{16,}\b/g, 'caller')
    .replaceAll(/\b([a-z]+)_[0-9a-z]{16,}\b/g, '$1')
    .replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"time"')
    .replaceAll(/svc_live_\w+|whsec_[\w+/=]+/g, 'secret')
    .replaceAll(/[\w+/=-]{43,}/g, 'long')
    .replaceAll(/The API key does not|Your role \w+ does not/g, 'The caller does not')
    .replaceAll(/\d+/g, '0');
}

describe('a member', () => {
  let world: PermissionWorld;
  let http: HttpServer;
  const callers = new Map<string, Caller>();
  beforeAll(async () => {
    world = await permissionWorld('sqlite');
    const { app, operator } = world.test;
    for (const role of roles) {
      const name = `The ${role}`;
      const joined = await join(app, operator, `${role}@people.example`, role);
      await renameSelf(app, joined, name);
      const { organizationId } = operator;
      callers.set(`member ${role}`, await present(app, personOf(joined), organizationId));
      const key = await keyCaller(app, operator, { name, role, owner: 'person' });
      callers.set(`key ${role}`, key);
    }
    const authenticate = async (text: string) => callers.get(text) ?? null;
    http = createHttpServer(app, { routes, authenticate, isQueueRunning: () => true });
  });
  afterAll(async () => {
    await http.close(0);
    await world.close();
  });

  let serial = 10_000;

  async function answerOf(name: string, role: Role, kind: string) {
    const route = routes.find(({ method, path }) => `${method} ${path}` === name);
    const row = rows[name];
    if (!route || !row) throw new Error(`${name} has no row`);
    serial += 1;
    const { own } = world;
    const isFresh = row.spends && row.on !== undefined;
    const id = isFresh ? await own.fresh(row.on ?? 'message') : own.shared[row.on ?? 'message'];
    const body = row.body?.(own, serial);
    const { statusCode, body: text } = await http.inject({
      method: route.method,
      url: `${pathOf(route.path, row, own, row.on === undefined ? null : id)}${row.query ?? ''}`,
      headers: {
        'x-api-key': `${kind} ${role}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...row.headers?.(serial),
      },
      ...(body !== undefined && {
        payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    });
    return `${statusCode} ${masked(text)}`;
  }

  const names = routes.map(({ method, path }) => `${method} ${path}`);

  it.each(names)('gets the answer of a key at %s', async (name) => {
    const [text = /$^/] = differences[name] ?? [];
    let isDifferent = false;
    for (const role of roles) {
      const key = await answerOf(name, role, 'key');
      const member = await answerOf(name, role, 'member');
      const equal = (answer: string) => [role, answer.replace(text, '')];
      expect(equal(member)).toEqual(equal(key));
      isDifferent ||= key !== member;
    }
    expect(isDifferent).toBe(name in differences);
  });
});
