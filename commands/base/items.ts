// Reads lists of routes to the end, for commands that look for a resource by a name.
import type { Doorway } from '../../src/core/api/route.ts';
import type { Session } from './asking.ts';

const perPage = 100;

/** A page of a list, by page number or by cursor. */
interface Page<Item> {
  items: readonly Item[];
  nextCursor?: string | null;
  pagination?: { page: number; totalPages: number };
}

/** Yields the items of all pages of a list. */
export async function* itemsOf<Item>(
  { ask }: Session,
  list: Doorway<Page<Item>>,
  { params = {}, query = {} }: { params?: object; query?: object } = {},
): AsyncGenerator<Item> {
  let at: object = {};
  for (;;) {
    const input = { params, query: { limit: String(perPage), ...query, ...at } };
    const { items, nextCursor, pagination } = await ask(list, input);
    yield* items;
    if (nextCursor) at = { cursor: nextCursor };
    else if (pagination && pagination.page < pagination.totalPages) {
      at = { page: String(pagination.page + 1) };
    } else return;
  }
}

/** Returns the first item that fits; undefined without any. */
export async function findItem<Item>(
  items: AsyncIterable<Item>,
  fits: (item: Item) => boolean,
): Promise<Item | undefined> {
  for await (const item of items) if (fits(item)) return item;
  return undefined;
}

/**
 * Returns the first answer that is not a 404, for a resource whose place in other resources is not
 * known; undefined without any.
 */
export async function firstFound<Item, Answer>(
  items: AsyncIterable<Item>,
  read: (item: Item) => Promise<Answer>,
): Promise<Answer | undefined> {
  const { ResourceNotFoundError } = await import('../../src/platform/errors.ts');
  for await (const item of items) {
    try {
      return await read(item);
    } catch (error) {
      if (!(error instanceof ResourceNotFoundError)) throw error;
    }
  }
  return undefined;
}
