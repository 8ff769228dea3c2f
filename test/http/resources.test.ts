// Common behaviour of all resources, over HTTP and at the command line, on both stores. A resource
// joins by its entry in permission-rows.ts; permissions.test.ts tests its callers in the same
// world.
// Slow: each resource by each route and command, on both engines.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../daemon/http/routes.ts';
import type { Page } from '../../src/core/api/pagination.ts';
import type { Method, Route } from '../../src/core/api/route.ts';
import type { AuditPage } from '../../src/history/audit/schema.ts';
import { type CliWorkspace, cliWorkspace } from '../support/cli.ts';
import { bothStores } from '../support/command.ts';
import { onePath, type Resource, type ResourceKind, resources, rows } from './permission-rows.ts';
import { callerNames, type PermissionWorld, permissionWorld } from './permission-world.ts';

type Item = { id: string } & Record<string, unknown>;
type Refusal = { _tag: string; resource?: string; id?: string; fields?: Record<string, unknown> };

const joined = Object.entries<Resource>(resources).flatMap(([kind, resource]) => {
  const { conforms, path, named = 'id' } = resource;
  const one = onePath(resource);
  // `/v1/messages/batch` differs from `/v1/messages/{id}`.
  const own = routes.filter((route) => route.path === path || route.path === one);
  return conforms ? [{ kind: kind as ResourceKind, path, one, named, own, ...conforms }] : [];
});

let serial = 0;

describe.each(bothStores)('resources on %s', (store) => {
  let world: PermissionWorld;
  let cli: CliWorkspace;
  beforeAll(async () => {
    world = await permissionWorld(store);
    const { dataDir, database } = world.test.app.config;
    cli = cliWorkspace({ SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: database.url });
  });
  afterAll(async () => {
    cli.close();
    await world.close();
  });

  describe.each(joined)('$path', ({ kind, path, one, named, own, ...conforms }) => {
    const { topic, remove = 'delete', audits = {}, answersOtherwise } = conforms;
    const { shownOnce = [], notListed = {}, stays } = conforms;
    const nameOf = (item: Item) => String(item[named]);
    const has = (method: Method) => own.some((route) => route.method === method);
    const bodyOf = (method: Method, at = path) => {
      serial++;
      return rows[`${method} ${at}`]?.body?.(world.own, serial) as object | undefined;
    };
    const ask = <Body>(method: Method, url: string, body?: unknown) =>
      world.own.api.request<Body>(method, url, body === undefined ? {} : { body });
    const list = async (query = '') => (await ask<Page<Item>>('GET', `${path}${query}`)).body;

    /** Reads a list by pages of two. */
    async function pages(): Promise<Page<Item>[]> {
      const read: Page<Item>[] = [];
      do read.push(await list(`?limit=2&page=${read.length + 1}`));
      while (read.length < (read[0]?.pagination.totalPages ?? 0));
      return read;
    }

    /** Runs the request of a row with an id. */
    const askOne = ({ method }: Route, id: string, body = bodyOf(method, one)) =>
      ask<Refusal>(method, `${path}/${id}`, body);

    it('shows the created object, first in its list', async () => {
      const made = await ask<Item>('POST', path, bodyOf('POST'));
      expect(made.status).toBe(201);
      const { body: shown } = await ask<Item>('GET', `${path}/${nameOf(made.body)}`);
      const later = Object.fromEntries(shownOnce.map((field) => [field, null]));
      for (const field of shownOnce) expect(made.body[field]).toEqual(expect.any(String));
      const [first] = (await list()).items;
      expect(first?.id).toBe(made.body.id);
      if (answersOtherwise) return;
      expect(shown).toEqual({ ...made.body, ...later });
      expect({ ...first, ...notListed }).toEqual({ ...shown, ...notListed });
    });

    it('pages its list, each object once, newest first', async () => {
      for (let i = 0; i < 3; i++) await world.own.fresh(kind);
      const read = await pages();
      const ids = read.flatMap(({ items }) => items.map(({ id }) => id));
      const { length: total } = ids;
      expect(total).toBeGreaterThan(3);
      expect(ids).toEqual([...new Set(ids)].sort().reverse());
      for (const [index, { items, pagination }] of read.entries()) {
        const totalPages = Math.ceil(total / 2);
        expect(pagination).toEqual({ page: index + 1, limit: 2, total, totalPages });
        expect(items.length).toBe(index + 1 < totalPages ? 2 : total - 2 * index);
      }
      const beyond = await list('?limit=2&page=1000');
      expect(beyond).toMatchObject({ items: [], pagination: { page: 1_000, total } });
      expect((await list()).pagination.limit).toBe(20);
      expect((await list('?limit=100')).items.map(({ id }) => id)).toEqual(ids);
    });

    it.each([
      'limit=0',
      'limit=101',
      'limit=x',
      'page=0',
      'page=1.5',
      'page=1000001',
      'nonsense=1',
    ])('rejects ?%s with 422 that names it', async (query) => {
      const { status, body } = await ask<Refusal>('GET', `${path}?${query}`);
      const [field = ''] = query.split('=');
      expect([status, Object.keys(body.fields ?? {})]).toEqual([422, [field]]);
    });

    it('rejects unknown fields, and names each', async () => {
      const id = await world.own.fresh(kind);
      const before = await list('?limit=100');
      for (const { method, path: at } of own) {
        const url = at.replace(/\{\w+\}/, id);
        const body = bodyOf(method, at);
        const asked = body && { ...body, nonsense: 1, other: 2 };
        const { status, body: refusal } = await ask<Refusal>(method, `${url}?odd=1`, asked);
        const fields = ['odd', ...(asked ? ['nonsense', 'other'] : [])];
        expect([method, status, Object.keys(refusal.fields ?? {})]).toEqual([method, 422, fields]);
      }
      expect(await list('?limit=100')).toEqual(before);
    });

    it("answers for another organization's object like for a missing one", async () => {
      const { shared } = world.foreign;
      const foreign = shared[kind];
      const unknown = world.unknownId(kind);
      for (const route of own.filter(({ path: at }) => at !== path)) {
        const { status, body } = await askOne(route, foreign);
        expect([status, body._tag, body.id]).toEqual([404, 'ResourceNotFoundError', foreign]);
        const nowhere = await askOne(route, unknown);
        expect([nowhere.status, nowhere.body]).toEqual([404, { ...body, id: unknown }]);
      }
      expect(JSON.stringify(await list('?limit=100'))).not.toContain(foreign);
      const theirs = await world.foreign.api.get<Item>(`${path}/${foreign}`);
      expect([theirs.status, nameOf(theirs.body)]).toEqual([200, foreign]);
    });

    it('refuses callers without permission, and changes nothing', async () => {
      const id = await world.own.fresh(kind);
      const before = await list('?limit=100');
      for (const { method, path: at } of own) {
        const may = rows[`${method} ${at}`]?.may ?? [];
        const caller = callerNames.find((name) => !may.includes(name));
        if (caller === undefined) throw new Error(`every caller may ${method} ${at}`);
        const body = bodyOf(method, at);
        const url = at.replace(/\{\w+\}/, id);
        const { status } = await world.as(caller).request(method, url, body ? { body } : {});
        expect([method, caller, status]).toEqual([method, caller, 403]);
      }
      expect(await list('?limit=100')).toEqual(before);
    });

    it('is gone once deleted', async () => {
      if (!has('DELETE')) return;
      const id = await world.own.fresh(kind);
      const gone = await ask<Refusal>('DELETE', `${path}/${id}`);
      expect([gone.status, gone.body]).toEqual([
        200,
        { success: true, message: expect.stringContaining(id) },
      ]);
      const expected = stays ? 200 : 404;
      expect((await ask('GET', `${path}/${id}`)).status).toBe(expected);
      expect((await ask('DELETE', `${path}/${id}`)).status).toBe(expected);
    });

    it('leaves an audit entry for each change, and none otherwise', async () => {
      const { body: made } = await ask<Item>('POST', path, bodyOf('POST'));
      await ask('POST', path, { ...bodyOf('POST'), nonsense: 1 });
      const done: Method[] = ['POST'];
      for (const method of ['PATCH', 'DELETE'] as const) {
        if (!has(method)) continue;
        await ask(method, `${path}/${nameOf(made)}`, bodyOf(method, one));
        await ask(method, `${path}/${world.foreign.shared[kind]}`, bodyOf(method, one));
        done.push(method);
      }
      const { body } = await ask<AuditPage>('GET', `/v1/audit?resource=${made.id}`);
      const entries = body.items.reverse().map(({ action, actor }) => [action, actor.role]);
      const actions = done.flatMap((method) => audits[method] ?? []);
      expect(entries).toEqual(actions.map((action) => [action, 'owner']));
      const theirs = await world.foreign.api.get<Item>(`${path}/${world.foreign.shared[kind]}`);
      const other = await ask<AuditPage>('GET', `/v1/audit?resource=${theirs.body.id}`);
      expect(other.body.items).toEqual([]);
    });

    it('is the same object at the command line', async () => {
      const id = await world.own.fresh(kind);
      expect(await cli.json([topic, 'list', '--limit', '3'])).toEqual(await list('?limit=3'));
      const { body: shown } = await ask('GET', `${path}/${id}`);
      expect(await cli.json([topic, 'show', id])).toEqual(shown);
      const other = await world.own.fresh(kind);
      const { body: removed } = await ask('DELETE', `${path}/${other}`);
      const printed = await cli.json([topic, remove, id, '--yes']);
      expect(JSON.stringify(printed).replaceAll(id, other)).toBe(JSON.stringify(removed));
      expect((await ask('GET', `${path}/${id}`)).status).toBe(stays ? 200 : 404);
    });
  });
});
