// The configuration of the tests, for the one test that fails: see exit-code.test.ts.
import { defineConfig } from 'vitest/config';
import config, { suite } from '../../vitest.config.ts';

const projects = [{ test: { ...suite, include: ['test/support/failing.ts'] } }];

export default defineConfig({ test: { ...config.test, projects, reporters: ['default'] } });
