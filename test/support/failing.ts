import { expect, it } from 'vitest';

it('fails, so that exit-code.test.ts sees how a failure is told', () => {
  expect('a failed test').toBe('told by the exit code');
});
