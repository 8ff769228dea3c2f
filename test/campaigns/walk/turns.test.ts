// Turns of due runs: organizations first, then the runs of each.
import { expect, it } from 'vitest';
import { RunTurns } from '../../../src/campaigns/walk/turns.ts';

it('alternates between organizations, and between the runs of each', () => {
  const turns = new RunTurns();
  const due = ['a1', 'a2', 'a3', 'b1', 'b2'].map((id) => ({ id, organization_id: id.charAt(0) }));
  const taken = Array.from({ length: 8 }, () => turns.next(due)?.id);
  expect(taken).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b1', 'a1', 'b2']);
});

it('has no turn without a due run', () => {
  expect(new RunTurns().next([])).toBeUndefined();
});
