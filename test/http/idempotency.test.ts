// The header `Idempotency-Key` of every POST operation, from the service's own list of routes: two
// requests with one key have one effect and one answer.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { routes } from '../../daemon/http/routes.ts';
import { reviewOnboarding } from '../../src/access/organizations/onboarding.ts';
import { keyUseOf } from '../../src/core/api/idempotency.ts';
import type { Route } from '../../src/core/api/route.ts';
import type { Answer } from '../support/http-client.ts';
import { pathOf, type Row, rows } from './permission-rows.ts';
import { type PermissionWorld, permissionWorld } from './permission-world.ts';

const posts = routes
  .filter(({ method }) => method === 'POST')
  .map((route) => {
    const name = `POST ${route.path}`;
    const row = rows[name] as Row;
    const reapplying: Row = { ...row, gives: 200 };
    // `prepare` lets it reapply.
    return { name, route, row: name.endsWith('/reapply') ? reapplying : row };
  });
const isSuccess = ({ row }: (typeof posts)[number]) => row.gives < 300;
const changing = posts.filter(({ route }) => keyUseOf(route) !== 'refused');

/** Operations whose first answer has a secret. */
const secretOf: Readonly<Record<string, string>> = {
  'POST /v1/extension-installations': 'exti_',
  'POST /v1/extension-installations/{id}/rotate-credentials': 'exti_',
  'POST /v1/webhooks': 'wep_',
  'POST /v1/webhooks/{id}/rotate-secret': 'wep_',
  'POST /v1/api-keys': 'key_',
  'POST /v1/api-keys/{id}/rotate': 'key_',
};

/** Returns the names of the fields of a schema. */
function fieldsOf(schema: z.ZodType | undefined): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/** Tables that requests change whatever they do. */
const moving = ['idempotency_claims', 'rate_buckets', 'probe', 'workspace_answers'];

describe('the header Idempotency-Key', () => {
  let world: PermissionWorld;
  let serial = 70_000;
  beforeAll(async () => {
    world = await permissionWorld('sqlite');
  });
  afterAll(() => world.close());

  /** Counts the rows of every table. */
  async function rowsOfTables(): Promise<Record<string, number>> {
    const { db } = world.test.app.store;
    const names = await sql<{ name: string }>`
      select name from sqlite_schema where type = 'table' and sql is not null`.execute(db);
    const counts: Record<string, number> = {};
    for (const { name } of names.rows) {
      if (moving.includes(name) || name.startsWith('thread_search_words')) continue;
      const count = sql<{ n: number }>`select count(*) as n from ${sql.table(name)}`;
      counts[name] = (await count.execute(db)).rows[0]?.n ?? 0;
    }
    return counts;
  }

  /** Prepares a request that can be sent again unchanged. */
  async function prepare(route: Route, row: Row, key = `key ${++serial}`) {
    const { own } = world;
    const isReapply = route.path.endsWith('/onboarding/reapply');
    await reviewOnboarding(world.test.app, 'default', {
      verdict: isReapply ? 'rejected' : 'approved',
    }).catch(() => {});
    const isShared = row.params !== undefined && !row.spends;
    const id = row.on && (isShared ? own.shared[row.on] : await own.fresh(row.on));
    serial += 2;
    const given = row.body?.(own, serial);
    const { idempotencyKey: _, ...rest } = (given ?? {}) as { idempotencyKey?: string };
    const body = keyUseOf(route) === 'body' && given !== undefined ? rest : given;
    const url = `${pathOf(route.path, row, own, id ?? null)}${row.query ?? ''}`;
    const send = (
      header: Record<string, string> = { 'idempotency-key': key },
      other = body,
      query: Record<string, string> = {},
    ) => {
      const headers = { ...row.headers?.(serial), ...header };
      const asked = new URL(url, 'http://localhost');
      for (const [name, value] of Object.entries(query)) asked.searchParams.set(name, value);
      return own.api.request<Record<string, unknown>>('POST', asked.pathname + asked.search, {
        ...(other !== undefined && { body: other }),
        headers,
      });
    };
    return { send, key, body };
  }

  const keysKept = async (key: string) => {
    const { db } = world.test.app.store;
    const found = await sql`
      select 1 from idempotency_claims where claim_key = ${key}`.execute(db);
    return found.rows.length;
  };

  it('belongs to more than eighty operations, of which two change nothing', () => {
    expect(posts.length).toBeGreaterThan(80);
    const unchanging = posts.filter(({ route }) => keyUseOf(route) === 'refused');
    expect(unchanging.map(({ name }) => name)).toEqual([
      'POST /v1/templates/{id}/render',
      'POST /v1/campaigns/{id}/render',
    ]);
  });

  const repeatable = changing.filter((one) => isSuccess(one) && !secretOf[one.name]);
  it.each(repeatable)('$name has one effect and one answer', async ({ route, row }) => {
    const { send } = await prepare(route, row);
    const first = await send();
    expect([first.status, first.body]).toEqual([row.gives, first.body]);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    const before = await rowsOfTables();
    const second = await send();
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(await rowsOfTables()).toEqual(before);
  });

  const withSecret = changing.filter(({ name }) => secretOf[name]);
  it.each(withSecret)('$name shows its secret once', async ({ name, route, row }) => {
    const { send, key } = await prepare(route, row);
    const first = await send();
    expect(first.status).toBe(row.gives);
    const before = await rowsOfTables();
    const second = await send();
    const { id } = first.body;
    expect(id).toContain(secretOf[name]);
    expect([second.status, second.body]).toEqual([
      409,
      {
        _tag: 'ConflictError',
        resource: 'idempotency-key',
        message: `This Idempotency-Key made ${id}; its secret was shown once: rotate it`,
      },
    ]);
    expect(await rowsOfTables()).toEqual(before);
    const { db } = world.test.app.store;
    const kept = await sql<{ response: string }>`
      select response from idempotency_claims where claim_key = ${key}`.execute(db);
    expect(kept.rows).toEqual([{ response: '{"lacks":"secret"}' }]);
  });

  it('knows each operation whose answer has a secret', () => {
    const names = posts.filter(({ route }) => route.shownOnce).map(({ name }) => name);
    expect(new Set(names)).toEqual(new Set(Object.keys(secretOf)));
  });

  const refusedRows = changing.filter((one) => !isSuccess(one));
  it.each(refusedRows)('$name keeps no key of a refused request', async ({ route, row }) => {
    const { send, key } = await prepare(route, row);
    const first = await send();
    expect(first.status).toBe(row.gives);
    expect(await keysKept(key)).toBe(0);
    const second = await send();
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    expect(second.headers['idempotency-replayed']).toBeUndefined();
  });

  const unchanging = posts.filter(({ route }) => keyUseOf(route) === 'refused');
  it.each(unchanging)('$name refuses it, as it changes nothing', async ({ route, row }) => {
    const { send } = await prepare(route, row);
    const before = await rowsOfTables();
    expect((await send({})).status).toBe(row.gives);
    expect(await rowsOfTables()).toEqual(before);
    const refused = await send();
    expect([refused.status, refused.body.fields]).toEqual([
      422,
      { 'Idempotency-Key': ['this operation changes nothing: leave it out'] },
    ]);
  });

  it.each(changing)('$name refuses a key of 256 characters', async ({ route, row }) => {
    const { send } = await prepare(route, row);
    const { status, body } = await send({ 'idempotency-key': 'x'.repeat(256) });
    expect([status, body.fields]).toEqual([
      422,
      { 'idempotency-key': ['must have at most 255 characters'] },
    ]);
  });

  const dryRuns = changing.flatMap(({ name, route, row }) =>
    (['body', 'query'] as const)
      .filter((part) => fieldsOf(route[part]).includes('dryRun'))
      .map((part) => ({ name, route, row, part })),
  );
  it('belongs to three operations with a dry run', () => {
    expect(dryRuns.map(({ name, part }) => [name, part])).toEqual([
      ['POST /v1/messages', 'body'],
      ['POST /v1/contacts/import', 'query'],
      ['POST /v1/extension-installations/{id}/upgrade', 'body'],
    ]);
  });

  it.each(dryRuns)('$name keeps no key of a dry run', async ({ route, row, part }) => {
    const { send, key, body } = await prepare(route, row);
    const dry = () =>
      part === 'query'
        ? send(undefined, body, { dryRun: 'true' })
        : send(undefined, { ...(body as object), dryRun: true });
    for (const { status, headers } of [await dry(), await dry()]) {
      expect([status, headers['idempotency-replayed']]).toEqual([200, undefined]);
    }
    expect(await keysKept(key)).toBe(0);
    const real = await send();
    expect([real.status, real.headers['idempotency-replayed']]).toEqual([row.gives, undefined]);
    expect((await dry()).headers['idempotency-replayed']).toBeUndefined();
  });

  const inBody = changing.filter(({ route }) => keyUseOf(route) === 'body');
  it.each(inBody)('$name takes one key from header and body', async ({ name, route, row }) => {
    const { send, body } = await prepare(route, row);
    const inTheBody = `in the body of ${name}`;
    const own = body as Record<string, unknown> | undefined;
    const keyed = { ...own, idempotencyKey: inTheBody };
    const differs = await send({ 'idempotency-key': 'in the header' }, keyed);
    expect([differs.status, differs.body.fields]).toEqual([
      422,
      { idempotencyKey: ['differs from the header Idempotency-Key'] },
    ]);
    const answers: Answer[] = [];
    for (const given of [{}, { 'idempotency-key': inTheBody }]) {
      answers.push(await send(given, keyed));
    }
    expect(answers[0]?.status).toBe(row.gives);
    expect(answers[1]?.body).toEqual(answers[0]?.body);
    if (row.gives < 300) expect(answers[1]?.headers['idempotency-replayed']).toBe('true');
  });
});
