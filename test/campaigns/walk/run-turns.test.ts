// Turns of due runs: organizations first, then the runs of each.
import { expect, it } from 'vitest';
import { RunTurns } from '../../../src/campaigns/walk/run-turns.ts';

const due = ['a1', 'a2', 'a3', 'b1', 'b2'].map((id) => ({ id, organization_id: id.charAt(0) }));

/** Takes turns of the given time each. */
function take(count: number, msOf: (id: string) => number): string[] {
  const turns = new RunTurns();
  return Array.from({ length: count }, () => {
    const next = turns.next(due);
    if (!next) return '';
    turns.record(next, msOf(next.id));
    return next.id;
  });
}

it('alternates between organizations, and between the runs of each', () => {
  expect(take(8, () => 1)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b1', 'a1', 'b2']);
});

it('gives an organization with short turns more of them', () => {
  const taken = take(22, (id) => (id.startsWith('a') ? 500 : 50));
  expect(taken.filter((id) => id.startsWith('b'))).toHaveLength(20);
});

it('gives a run with short turns more of them', () => {
  const taken = take(24, (id) => (id === 'a1' ? 500 : 50)).filter((id) => id.startsWith('a'));
  expect(taken.filter((id) => id === 'a1').length).toBeLessThanOrEqual(2);
});

it('has no turn without a due run', () => {
  expect(new RunTurns().next([])).toBeUndefined();
});
