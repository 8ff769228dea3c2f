// Lists whose rows or count exceed the time of a request: a search is refused, a count is capped.
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Page } from '../../src/core/api/pagination.ts';
import { OverdueError } from '../../src/platform/store/aside.ts';
import { mailboxOf } from '../inbox/threads/mails.ts';
import { stores } from '../support/command.ts';
import { eachApi } from '../support/each-app.ts';

interface Refusal {
  _tag: string;
  fields: Record<string, string[]>;
}

describe.each(stores)('a list beyond its time, on %s', (store) => {
  const { test, api } = eachApi({ store });
  afterEach(() => vi.restoreAllMocks());

  /** Makes reads beside the event loop overdue: all, or only counts. */
  function slowDown(reads: 'all' | 'counts') {
    const { aside } = test.app.store;
    vi.spyOn(test.app.store, 'aside').mockImplementation(async (organizationId, read) => {
      if (reads === 'all') throw new OverdueError();
      return aside(organizationId, async (db) => {
        const result: unknown = await read(db);
        if (typeof result === 'number') throw new OverdueError();
        return result as Awaited<ReturnType<typeof read>>;
      });
    });
  }

  it.each([
    ['/v1/contacts?q=ada', 'q'],
    ['/v1/contacts?status=active', 'status'],
    ['/v1/contacts?updatedSince=2026-01-01T00:00:00.000Z', 'updatedSince'],
    ['/v1/messages?subject=hello', 'subject'],
    ['/v1/messages?recipient=a@example.com', 'recipient'],
    ['/v1/messages?contactId=contact_06dq2k0qz8h3v5m1r9t4w7xy', 'contactId'],
    ['/v1/messages?status=delivered&startDate=2026-01-01T00:00:00.000Z', 'status'],
    ['/v1/conversations?tag=vip', 'tag'],
  ])('%s is answered with 422 on %s', async (path, field) => {
    slowDown('all');
    const { status, body } = await api.get<Refusal>(path);
    expect([status, body._tag, Object.keys(body.fields)]).toEqual([
      422,
      'ValidationError',
      [field],
    ]);
  });

  it('a search for threads is answered with 422 on q', async () => {
    slowDown('all');
    const mailboxId = await mailboxOf(test.app);
    const { status, body } = await api.get<Refusal>(`/v1/mailboxes/${mailboxId}/threads?q=hello`);
    expect([status, Object.keys(body.fields)]).toEqual([422, ['q']]);
  });

  it.each(['/v1/contacts', '/v1/messages', '/v1/conversations'])(
    '%s without a filter is read on this thread',
    async (path) => {
      slowDown('all');
      expect((await api.get(path)).status).toBe(200);
    },
  );

  it('a count beyond its time is capped, and marked as such', async () => {
    for (const name of ['Ada', 'Bo', 'Cy']) {
      await api.post('/v1/contacts', { email: `${name}@example.com`, name });
    }
    slowDown('counts');
    const since = 'updatedSince=2026-01-01T00:00:00.000Z';
    const first = await api.get<Page<object>>(`/v1/contacts?${since}&limit=2`);
    expect(first.body.items).toHaveLength(2);
    expect(first.body.pagination).toEqual({
      ...{ page: 1, limit: 2, total: 3, totalPages: 2 },
      totalCapped: true,
    });
    const last = await api.get<Page<object>>(`/v1/contacts?${since}&limit=2&page=2`);
    expect(last.body.pagination).toMatchObject({ total: 3, totalPages: 2, totalCapped: true });
  });
});
