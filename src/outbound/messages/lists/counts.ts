// Message counts of an organization, which give the total of a list. queries.ts records each change
// of a status, and the transaction writes the counts at its end. If a date lies within a slot of
// ten seconds, the messages of that slot are counted singly.

import type { Db } from '../../../platform/store/db.ts';
import { shardOfEight } from '../../../platform/store/shards.ts';
import type { MessageStatus } from '../../deliveries/status.ts';
import {
  type DayCountRow,
  dayCounts,
  slotCounts,
  sumDayCounts,
  sumSlotCounts,
} from './count-queries.ts';
import { countMessages, type MessageFilter } from './list-queries.ts';
import { isSearch } from './term-queries.ts';

export const dayMs = 86_400_000;
const slotMs = 10_000;

/** The columns of a message that decide the counts. */
export interface Counted {
  organization_id: string;
  direction: 'outbound' | 'inbound';
  status: MessageStatus;
  created_at: number;
}

/** Returns the last multiple of `step` at or before `at`. */
function floorTo(step: number, at: number): number {
  return at - (at % step);
}

/** Returns the first multiple of `step` at or after `at`. */
function ceilTo(step: number, at: number): number {
  return floorTo(step, at + step - 1);
}

/** Adds `count` messages to the counts of a day. */
function addToDay(
  trx: Db,
  { organization_id, direction, status, day }: DayCountRow,
  count: number,
) {
  const inShard = { organization_id, direction, status, day, shard: shardOfEight(trx) };
  dayCounts.add(trx, inShard, { count });
}

/**
 * Groups consecutive messages with the same counter. Most batches form a single group, so few keys
 * are built.
 */
function runsOf(messages: readonly Counted[], step: number): { first: Counted; count: number }[] {
  const runs: { first: Counted; count: number }[] = [];
  for (const message of messages) {
    const run = runs.at(-1);
    if (run && isAlike(run.first, message, step)) run.count++;
    else runs.push({ first: message, count: 1 });
  }
  return runs;
}

function isAlike(one: Counted, other: Counted, step: number): boolean {
  return (
    one.organization_id === other.organization_id &&
    one.status === other.status &&
    one.direction === other.direction &&
    floorTo(step, one.created_at) === floorTo(step, other.created_at)
  );
}

function daysOf(messages: readonly Counted[]): DayCountRow[] {
  return runsOf(messages, dayMs).map(({ first, count }) => {
    const { organization_id, direction, status, created_at } = first;
    return { organization_id, direction, status, day: floorTo(dayMs, created_at), count };
  });
}

/** Adds stored messages to the counts (`by` 1), or subtracts deleted messages (-1). */
export function recordMessages(trx: Db, messages: readonly Counted[], by: 1 | -1): void {
  for (const row of daysOf(messages)) addToDay(trx, row, by * row.count);
  for (const { first, count } of runsOf(messages, slotMs)) {
    const { organization_id, direction, created_at } = first;
    const slot = floorTo(slotMs, created_at);
    slotCounts.add(trx, { organization_id, direction, slot }, { count: by * count });
  }
}

/** Moves these messages in the counts from their previous status to `to`. */
export function recordStatus(trx: Db, messages: readonly Counted[], to: MessageStatus): void {
  recordMoves(trx, daysOf(messages), to);
}

/** Moves `count` messages of each row in the counts from the row's status to `to`. */
export function recordMoves(trx: Db, from: readonly DayCountRow[], to: MessageStatus): void {
  for (const row of from) {
    addToDay(trx, row, -row.count);
    addToDay(trx, { ...row, status: to }, row.count);
  }
}

/** Tells whether the filter needs a count of single messages, as no counter covers it. */
function isCountedOneByOne(filter: MessageFilter): boolean {
  return filter.conversationId !== undefined || filter.contactId !== undefined || isSearch(filter);
}

/**
 * Tells whether a page or the total gets slower as the store grows. With a status and dates, the
 * messages of the first and the last day are counted singly.
 */
export function growsWithStore(filter: MessageFilter): boolean {
  const { status, createdFrom, createdTo } = filter;
  const isCut = createdFrom !== undefined || createdTo !== undefined;
  return isCountedOneByOne(filter) || (status !== undefined && isCut);
}

/**
 * Counts the matching messages, mostly by counters. Counts single messages for a conversation, a
 * contact or a search; with a status, within the first and last day of a date range; with dates
 * alone, within the first and last ten seconds of the range.
 */
export async function totalOf(db: Db, filter: MessageFilter): Promise<number> {
  if (isCountedOneByOne(filter)) return countMessages(db, filter);
  const { createdFrom, createdTo, ...scope } = filter;
  if (createdFrom === undefined && createdTo === undefined) return sumDayCounts(db, scope);
  const first = Math.max(0, createdFrom ?? 0);
  const end = createdTo === undefined ? undefined : Math.max(0, createdTo + 1);
  const firstDay = ceilTo(dayMs, first);
  if (end === undefined) {
    const later = await sumDayCounts(db, { ...scope, from: firstDay });
    return later + (await countWithinDay(db, filter, first, firstDay));
  }
  const endDay = floorTo(dayMs, end);
  if (endDay < firstDay) return countWithinDay(db, filter, first, end);
  return (
    (await countWithinDay(db, filter, first, firstDay)) +
    (await sumDayCounts(db, { ...scope, from: firstDay, to: endDay })) +
    (await countWithinDay(db, filter, endDay, end))
  );
}

/** Counts from `from` to before `to`, both within the same day. */
async function countWithinDay(
  db: Db,
  filter: MessageFilter,
  from: number,
  to: number,
): Promise<number> {
  if (from >= to) return 0;
  const oneByOne = (first: number, end: number) =>
    first < end ? countMessages(db, { ...filter, createdFrom: first, createdTo: end - 1 }) : 0;
  if (filter.status !== undefined) return oneByOne(from, to);
  const firstSlot = ceilTo(slotMs, from);
  const endSlot = floorTo(slotMs, to);
  if (endSlot < firstSlot) return oneByOne(from, to);
  const { organizationId, direction } = filter;
  return (
    (await oneByOne(from, firstSlot)) +
    (await sumSlotCounts(db, { organizationId, direction, from: firstSlot, to: endSlot })) +
    (await oneByOne(endSlot, to))
  );
}
