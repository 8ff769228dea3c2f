// The cache itself; its use for keys and plans over several processes is tested in
// test/access/keys/authenticator.test.ts and test/access/admission/rate-limit.test.ts.
import { beforeEach, expect, it } from 'vitest';
import { KnownRows } from '../../../src/platform/store/changes/changes.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

let clock: VirtualClock;
let changes: number;
/** Count of the reads of the counter. */
let looks: number;
let isAway: boolean;
let known: KnownRows<{ name: string }>;

beforeEach(() => {
  clock = virtualClock();
  changes = 7;
  looks = 0;
  isAway = false;
  known = new KnownRows(clock, 2, async () => {
    looks += 1;
    if (isAway) throw new Error('the store is away');
    return changes;
  });
});

const row = (name: string) => async () => ({ name });

/** Reads as a request does: the cached value, or `name` from the store. */
async function ask(key: string, name = `${key} read`): Promise<string> {
  if (known.isStale()) await known.refresh();
  return (known.get(key) ?? (await known.load(key, row(name)))).name;
}

it('a cached value stays while the counter stands, which is read every half second', async () => {
  expect(await ask('a', 'first')).toBe('first');
  await clock.advance(499);
  expect(await ask('a', 'second')).toBe('first');
  expect(looks).toBe(1);
  await clock.advance(1);
  expect(await ask('a', 'second')).toBe('first');
  expect(looks).toBe(2);
  expect(known.isStale()).toBe(false);
});

it('concurrent callers read the counter once', async () => {
  await Promise.all([ask('a'), ask('b'), ask('a')]);
  expect(looks).toBe(1);
});

it('a moved counter drops all values, as does this process at once', async () => {
  await ask('a', 'first');
  changes = 6;
  await clock.advance(500);
  expect(await ask('a', 'second')).toBe('second');
  known.forget();
  expect(known.peek('a')).toBeUndefined();
  expect(await ask('a', 'third')).toBe('third');
});

it('a clock that was set back causes a read of the counter', async () => {
  await ask('a', 'first');
  changes += 1;
  clock.set(clock.now() - 3_600_000);
  expect(await ask('a', 'second')).toBe('second');
});

it('a value read before a change is returned but not cached', async () => {
  const reading = Promise.withResolvers<{ name: string }>();
  const answered = known.load('a', () => reading.promise);
  known.forget();
  reading.resolve({ name: 'old' });
  expect(await answered).toEqual({ name: 'old' });
  expect(known.get('a')).toBeUndefined();
});

it('an absent value is not cached', async () => {
  expect(await known.load('a', async () => undefined)).toBeUndefined();
  expect(await ask('a', 'made meanwhile')).toBe('made meanwhile');
});

it('an unreadable counter makes every read fail', async () => {
  await ask('a');
  isAway = true;
  await clock.advance(500);
  await expect(ask('a')).rejects.toThrow('the store is away');
  isAway = false;
  expect(await ask('a', 'again')).toBe('a read');
});

it('a full cache keeps the values loaded last, without regard to peeks', async () => {
  const kept = () => ['a', 'b', 'c'].filter((key) => known.peek(key) !== undefined);
  await ask('a');
  await ask('b');
  known.peek('a');
  await ask('c');
  expect(kept()).toEqual(['b', 'c']);
  await ask('b');
  await ask('a');
  expect(kept()).toEqual(['a', 'b']);
});
