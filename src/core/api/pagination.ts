// Schemas of lists (specification 2.3, 8.3): page-based lists with `page` from 1, and lists by
// cursor (cursor.ts). `limit` is 20 by default and at most 100; a value out of range is refused,
// never clamped.
import { z } from 'zod';
import type { TimeRange } from '../../platform/store/rows/time-range.ts';

const defaultLimit = 20;
const maxLimit = 100;

/** Schema of a whole number within bounds, as text of a query string. */
export function wholeNumber(min: number, max: number) {
  return z
    .union([z.number(), z.string().regex(/^\d{1,9}$/, 'must be a whole number')])
    .transform(Number)
    .pipe(z.int().min(min).max(max));
}

/** Schemas of `page` and `limit`, which are strings in a query. */
export const pageQuery = {
  page: wholeNumber(1, 1_000_000).default(1).meta({ description: 'Page number, from 1' }),
  limit: wholeNumber(1, maxLimit)
    .default(defaultLimit)
    .meta({ description: `Items per page, at most ${maxLimit}` }),
};

/** Requested page of a list, with the bounds of the creation times of items. */
export interface PageRequest extends TimeRange {
  page: number;
  limit: number;
}

export interface Page<T> {
  items: T[];
  pagination: {
    page: number;
    limit: number;
    total: number;
    totalPages: number;
    totalCapped?: true;
  };
}

const pagination = z
  .object({
    page: z.number().describe('Number of this page, from 1'),
    limit: z.number().describe('Most items of a page'),
    total: z.number().describe('Number of items on all pages'),
    totalPages: z.number().describe('Number of pages'),
    totalCapped: z
      .literal(true)
      .optional()
      .describe('There are at least `total` items: counting all takes too long'),
  })
  .describe('Place of this page in the list');

/** Returns the schema of a page of `item` with the total. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item).describe('Items of this page'),
    pagination,
  });
}

/**
 * Wraps the rows of a page. If the total is null (not counted), the response has the known lower
 * bound.
 */
export function toPage<T>(items: T[], total: number | null, { page, limit }: PageRequest): Page<T> {
  if (total !== null) {
    return { items, pagination: { page, limit, total, totalPages: Math.ceil(total / limit) } };
  }
  const known = (page - 1) * limit + items.length + Number(items.length === limit);
  const totalPages = Math.ceil(known / limit);
  return { items, pagination: { page, limit, total: known, totalPages, totalCapped: true } };
}

const longestCursor = 200;

/** Schemas of `limit` and `cursor` of a list. */
export const cursorQuery = {
  limit: pageQuery.limit,
  cursor: z
    .string()
    .max(longestCursor)
    .optional()
    .meta({ description: '`nextCursor` of the page before, with the same filters' }),
};

/** Returns the schema of a page of `item` in a cursor list. */
export function cursorPageOf<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item).describe('Items of this page'),
    nextCursor: z
      .string()
      .nullable()
      .describe('Value of `cursor` for the next page; null on the last page'),
  });
}
