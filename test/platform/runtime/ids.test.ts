// The order of ids when the clock is set.
import { expect, it } from 'vitest';
import { idSource, timeOfId } from '../../../src/platform/runtime/ids.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const minute = 60_000;

function source() {
  const clock = virtualClock();
  return { clock, newId: idSource(clock, seededRandom(1)) };
}

it('grow over a clock that is set back by a minute', () => {
  const { clock, newId } = source();
  const ids = [newId('event')];
  clock.set(clock.now() - minute);
  for (let count = 0; count < 40_000; count++) ids.push(newId('event'));
  expect(ids.toSorted()).toEqual(ids);
});

it('go by a clock that is set back by more', () => {
  const { clock, newId } = source();
  newId('event');
  clock.set(clock.now() - minute - 1);
  expect(timeOfId(newId('event'))).toBe(clock.now());
});

it('follow a time that is a minute ahead, and no later one', () => {
  const { clock, newId } = source();
  newId.follow(clock.now() + minute);
  expect(timeOfId(newId('event'))).toBe(clock.now() + minute);
  newId.follow(clock.now() + 2 * minute);
  expect(timeOfId(newId('event'))).toBe(clock.now());
});
