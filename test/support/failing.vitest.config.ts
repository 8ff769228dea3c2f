// The configuration for the test run that must fail: see exit-code.test.ts.
import { defineConfig } from 'vitest/config';
import config, { suite } from '../../vitest.config.ts';

const projects = [{ test: { ...suite, include: ['test/support/failing.ts'] } }];

export default defineConfig({ test: { ...config.test, projects, reporters: ['default'] } });
