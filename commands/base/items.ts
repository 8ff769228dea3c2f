// Reads all pages of a list of the API, for commands that search for a resource.
import type { Doorway } from '../../src/core/api/route.ts';
import type { Session } from './asking.ts';

const perPage = 100;

/** A page of a list, by page number or by cursor. */
export interface Page<Item> {
  items: readonly Item[];
  nextCursor?: string | null;
  pagination?: { page: number; totalPages: number };
}

/** Yields the items of at most `mostPages` pages. `read` gets the query of the next page. */
export async function* itemsOfPages<Item>(
  read: (place: { limit: string; cursor?: string; page?: string }) => Promise<Page<Item>>,
  mostPages = Number.POSITIVE_INFINITY,
): AsyncGenerator<Item> {
  let place: { cursor?: string; page?: string } = {};
  for (let number = 1; number <= mostPages; number++) {
    const { items, nextCursor, pagination } = await read({ limit: String(perPage), ...place });
    yield* items;
    if (nextCursor) place = { cursor: nextCursor };
    else if (pagination && pagination.page < pagination.totalPages) {
      place = { page: String(pagination.page + 1) };
    } else return;
  }
}

/** Yields the items of all pages of a list. */
export function itemsOf<Item>(
  { ask }: Session,
  list: Doorway<Page<Item>>,
  { params = {}, query = {} }: { params?: object; query?: object } = {},
): AsyncGenerator<Item> {
  return itemsOfPages((place) => ask(list, { params, query: { ...query, ...place } }));
}

/** Returns the first item that fits; undefined if no item fits. */
export async function findItem<Item>(
  items: AsyncIterable<Item>,
  fits: (item: Item) => boolean,
): Promise<Item | undefined> {
  for await (const item of items) if (fits(item)) return item;
  return undefined;
}

/**
 * Finds a resource whose parent is unknown: calls `read` for each possible parent, and returns the
 * first answer that is not 404. Returns undefined if every answer is 404.
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
