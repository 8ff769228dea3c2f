// The number of deliveries that an endpoint may hold, by its last answers
// (src/webhooks/posting/answer-limits.ts).
import { describe, expect, it } from 'vitest';
import { AnswerLimits } from '../../src/webhooks/posting/answer-limits.ts';

function paceAfter(...durations: number[]): AnswerLimits {
  const pace = new AnswerLimits();
  const answer = { statusCode: 204, errorClass: null, response: null, retryAt: null };
  for (const durationMs of durations) pace.record({ isSuccess: true, durationMs, ...answer });
  return pace;
}

describe('the pace of an endpoint', () => {
  it('is slow after one answer of over 5 s', () => {
    expect(paceAfter(5_001)).toMatchObject({ isSlow: true, isQuick: false });
  });

  it('is not slow after two of its last five answers', () => {
    expect(paceAfter(14_000, 14_000, 10, 10, 10)).toMatchObject({ isSlow: false, isQuick: true });
  });

  it('is slow after three of its last five answers', () => {
    expect(paceAfter(10, 10, 14_000, 14_000, 14_000).isSlow).toBe(true);
  });

  it('is quick again after three immediate answers', () => {
    const slow = Array.from({ length: 20 }, () => 14_000);
    expect(paceAfter(...slow, 10, 10).isQuick).toBe(false);
    expect(paceAfter(...slow, 10, 10, 10).isQuick).toBe(true);
  });

  it('allows one post at a time while it is slow', () => {
    expect(paceAfter(14_000).mostPosts(5)).toBe(1);
  });

  it('allows one delivery while it is slow, as for a failing one', () => {
    expect(paceAfter(14_000).roomBeside(0, true, false)).toBe(1);
    expect(paceAfter(14_000).roomBeside(1, true, false)).toBe(0);
  });
});
