// Configuration of `npm run test:postgres`: the blocks of `describe.each(stores)`, on PostgreSQL.
import { testsOf } from '../../vitest.config.ts';

const config = testsOf('postgres');

export default { ...config, test: { ...config.test, testNamePattern: /postgres/ } };
