// Configuration of `npm run test:long`: many seeds, sieges, and windows of minutes.
import { testsOf } from '../../vitest.config.ts';

export default testsOf('long');
