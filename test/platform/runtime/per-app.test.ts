import { expect, it } from 'vitest';
import { perApp } from '../../../src/platform/runtime/per-app.ts';

it('a value per app is made once, at its first use, for that app alone', () => {
  const made: string[] = [];
  const notesOf = perApp((app: { name: string }) => {
    made.push(app.name);
    return [`notes of ${app.name}`];
  });
  const [one, two] = [{ name: 'one' }, { name: 'two' }];
  expect(made).toEqual([]);
  notesOf(one).push('more');
  expect(notesOf(two)).toEqual(['notes of two']);
  expect(notesOf(one)).toEqual(['notes of one', 'more']);
  expect(made).toEqual(['one', 'two']);
});

it('a value per app is made again after a failure', () => {
  let tries = 0;
  const triesOf = perApp(() => {
    tries += 1;
    if (tries === 1) throw new Error('not yet');
    return tries;
  });
  const app = {};
  expect(() => triesOf(app)).toThrow('not yet');
  expect([triesOf(app), triesOf(app)]).toEqual([2, 2]);
});
