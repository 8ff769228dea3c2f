// The configuration of the tests, for the one test that fails: see exit-code.test.ts.
import { defineConfig } from 'vitest/config';
import config from '../../vitest.config.ts';

export default defineConfig({
  test: { ...config.test, include: ['test/support/failing.ts'], reporters: ['default'] },
});
