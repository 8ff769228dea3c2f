import { expect, it } from 'vitest';

it('fails, so that exit-code.test.ts sees the report of a failure', () => {
  expect('a failed test').toBe('told by the exit code');
});
