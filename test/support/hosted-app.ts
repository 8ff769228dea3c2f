// The app of commands in the process of cli-host.ts: all of them share a few RSA keys, and the
// workers that compile, fill and parse. To start a worker takes ten times as long as most commands.
import { openApp as open } from '../../src/core/app.ts';
import { pooledDkimKey } from './dkim-pairs.ts';
import { keepForAll } from './kept-resources.ts';
import { pooledParser } from './parser-pool.ts';

export * from '../../src/core/app.ts';

export const openApp: typeof open = (config, log, hooks, overrides = {}) =>
  open(config, log, hooks, {
    createMimeParser: pooledParser,
    generateDkimKey: pooledDkimKey,
    keep: keepForAll,
    ...overrides,
  });
