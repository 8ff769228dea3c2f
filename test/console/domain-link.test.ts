// The link of a domain for a colleague: what it shows and to whom, its end, and its limits.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, consoleWorld, type World } from './world.ts';

const dayMs = 86_400_000;

describe('the link of a domain', () => {
  let world: World;
  let person: Browser;
  let id = '';
  beforeAll(async () => {
    world = await consoleWorld();
    person = await world.operator();
    ({ id } = await world.api('POST', '/v1/email/domains', { domain: 'news.example' }));
  });
  afterAll(() => world.close());

  /** Makes a link on the page of the domain, and returns its path. */
  async function make(): Promise<string> {
    const { headers } = await person.post(`/console/domains/${id}`, { _action: 'makeLink' });
    const { body } = await person.get(String(headers.location));
    return /\/domains\/[\w-]{43}/.exec(body)?.[0] ?? '';
  }
  const visit = (path: string, remoteAddress = '198.51.100.7') =>
    world.http.inject({ method: 'GET', url: path, remoteAddress });
  const entries = async () => {
    const { rows } = await sql<{ action: string }>`select action from audit_entries
      where action like 'domain.%' order by id`.execute(world.test.app.store.db);
    return rows.map(({ action }) => action);
  };

  it('shows the domain and its records to a visitor without a session', async () => {
    const path = await make();
    expect(path).toMatch(/^\/domains\/[\w-]{43}$/);
    const before = await entries();
    const { statusCode, body, headers } = await visit(path);
    expect(statusCode).toBe(200);
    expect(body).toContain('DNS records of news.example');
    expect(body).toContain('._domainkey');
    for (const other of [id, 'default', 'org_', 'dom_']) expect(body).not.toContain(other);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-robots-tag': expect.stringContaining('noindex'),
      'referrer-policy': 'no-referrer',
    });
    expect(headers['set-cookie']).toBeUndefined();
    expect(await entries()).toEqual(before);
    expect(before.at(-1)).toBe('domain.link-made');
  });

  it('is stored as a hash', async () => {
    const token = (await make()).slice('/domains/'.length);
    const { rows } = await sql<{ hash: string }>`select hash from domain_links`.execute(
      world.test.app.store.db,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.hash).not.toContain(token);
  });

  it('answers an unknown, a replaced, an ended and an old link alike', async () => {
    const replaced = await make();
    const ended = await make();
    await person.post(`/console/domains/${id}`, { _action: 'endLink' });
    expect((await entries()).at(-1)).toBe('domain.link-ended');
    const texts = [await visit(replaced), await visit(ended), await visit('/domains/unknown')];
    const old = await make();
    expect((await visit(old)).statusCode).toBe(200);
    await world.test.clock.advance(7 * dayMs);
    texts.push(await visit(old));
    expect(texts.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404, 404]);
    expect(new Set(texts.map(({ body }) => body)).size).toBe(1);
  });

  it('is bounded to 60 visits a minute of a network', async () => {
    const answers = [];
    for (let at = 0; at < 61; at++) answers.push(await visit('/domains/guess', '203.0.113.9'));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([...Array(60).fill(404), 429]);
    expect((await visit('/domains/guess', '192.0.2.1')).statusCode).toBe(404);
  });
});
