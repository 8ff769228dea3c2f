// `npm run test:long`: seeds, sieges, and windows of minutes.
import { testsOf } from '../../vitest.config.ts';

export default testsOf('long');
