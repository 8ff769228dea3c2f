import { describe, expect, it } from 'vitest';
import type { Page } from '../../../src/core/api/pagination.ts';
import { getBlockNamed } from '../../../src/people/blocks/blocks.ts';
import type { Block } from '../../../src/people/blocks/schema.ts';
import { bothStores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';

const path = '/v1/email/blocks';

describe.each(bothStores)('blocks on %s', (store) => {
  const { test, api } = eachApi({ store });

  const add = async (address: string, reason?: string) =>
    (await api.post<Block>(path, { address, reason })).body;

  async function addresses(query = ''): Promise<string[]> {
    const { status, body } = await api.get<Page<Block>>(`${path}${query}`);
    expect(status).toBe(200);
    return body.items.map(({ address }) => address);
  }

  it('have every field, with the address in its normal form', async () => {
    const made = await api.post<Block>(path, { address: 'Ada@BÜCHER.example' });
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^blk_[0-9a-hjkmnp-tv-z]{24}$/),
        address: 'Ada@xn--bcher-kva.example',
        reason: 'manual',
        unsubscribeGroupId: null,
        messageId: null,
        createdAt: '2026-01-05T12:00:00.000Z',
      },
    ]);
    const shown = await api.get<Block>(`${path}/${made.body.id}`);
    expect([shown.status, shown.body]).toEqual([200, made.body]);
  });

  it('exist once per address in any letter case: a second answers 409 that names the first', async () => {
    const { id } = await add('ada@example.com', 'complaint');
    const again = await api.post(path, { address: 'ADA@Example.COM' });
    expect([again.status, again.body]).toEqual([
      409,
      {
        _tag: 'ConflictError',
        resource: 'block',
        message: `ADA@example.com is blocked already by ${id} (complaint)`,
      },
    ]);
    expect(await addresses()).toEqual(['ada@example.com']);
  });

  it('become one when added concurrently for one address', async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => api.post(path, { address: 'ada@example.com' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it('are listed newest first, by page, reason and address', async () => {
    await add('ada@example.com', 'bounce');
    await add('bob@example.com', 'complaint');
    await add('Cy@example.com', 'bounce');
    expect(await addresses()).toEqual(['Cy@example.com', 'bob@example.com', 'ada@example.com']);
    expect(await addresses('?reason=bounce')).toEqual(['Cy@example.com', 'ada@example.com']);
    expect(await addresses('?address=CY@example.com')).toEqual(['Cy@example.com']);
    expect(await addresses('?address=cy@example.com&reason=manual')).toEqual([]);
    const { body } = await api.get<Page<Block>>(`${path}?reason=bounce&page=2&limit=1`);
    expect(body).toMatchObject({
      items: [{ address: 'ada@example.com' }],
      pagination: { page: 2, limit: 1, total: 2, totalPages: 2 },
    });
  });

  it('are deleted for good, and the address can be blocked again', async () => {
    const { id } = await add('ada@example.com');
    const removed = await api.delete(`${path}/${id}`);
    expect([removed.status, removed.body]).toEqual([
      200,
      { success: true, message: `Block ${id} is deleted` },
    ]);
    expect((await api.delete(`${path}/${id}`)).status).toBe(404);
    expect((await api.post(path, { address: 'ada@example.com' })).status).toBe(201);
  });

  it.each([
    [{}, 'address'],
    [{ address: 'nobody' }, 'address'],
    [{ address: 'a@example.com\r\nBcc: b@example.com' }, 'address'],
    [{ address: 'a@example.com', reason: 'dislike' }, 'reason'],
    [{ address: 'a@example.com', unsubscribeGroupId: 'usg_1' }, 'unsubscribeGroupId'],
  ])('are rejected with 422 from %j', async (input, field) => {
    const { status, body } = await api.post<{ fields: object }>(path, input);
    expect([status, Object.keys(body.fields)]).toEqual([422, [field]]);
    expect(await addresses()).toEqual([]);
  });

  it.each(['?reason=x', '?address=nobody'])('reject the list query %s with 422', async (query) => {
    expect((await api.get(`${path}${query}`)).status).toBe(422);
  });

  it('are found by id and by address in any letter case', async () => {
    const block = await add('Ada@example.com');
    for (const name of [block.id, 'Ada@example.com', 'ada@EXAMPLE.com']) {
      expect(await getBlockNamed(test.app, test.caller, name)).toEqual(block);
    }
    await expect(getBlockNamed(test.app, test.caller, 'bob@example.com')).rejects.toMatchObject({
      _tag: 'ResourceNotFoundError',
    });
    await expect(getBlockNamed(test.app, test.caller, 'ada')).rejects.toMatchObject({
      _tag: 'ValidationError',
    });
  });
});
